export { createConsoleLog, type LogLevel, type OperatorLog } from "./console-log.ts";
export { type InspectorPage, withInspector } from "./inspector-routes.ts";
export { comesFromThisMachine, createMount, type Mount, targetBelow } from "./mount/mount.ts";
export { parsePublicUrl } from "./reach/base-urls.ts";
export { folderOf } from "./router.ts";
export { createUnreadAnswers } from "./unread-answers.ts";
