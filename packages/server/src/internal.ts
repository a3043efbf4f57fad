export { createConsoleLog, type LogLevel, type OperatorLog } from "./console-log.ts";
export { escapeHtml } from "./front-page.ts";
export { type InspectorPage, withInspector } from "./inspector-routes.ts";
export {
  comesFromThisMachine,
  createMount,
  handleOnceStarted,
  type Mount,
  targetBelow,
} from "./mount/mount.ts";
export { textResponse } from "./plain-routes.ts";
export { parsePublicUrl } from "./reach/base-urls.ts";
export { folderOf } from "./router.ts";
export { findUnreadAnswers } from "./unread-answers.ts";
