export { createConsoleLog, type LogLevel, type OperatorLog } from "./console-log.ts";
export { type InspectorPage, withInspector } from "./inspector-routes.ts";
export { comesFromThisMachine, createMount, type Mount, targetBelow } from "./mount/mount.ts";
export { createUnreadAnswers } from "./mount/unread-answers.ts";
export { folderOf } from "./router.ts";
