export { isShowable, shownText, shownUrl } from "@a2a-connect/core";
