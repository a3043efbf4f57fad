export { createConsoleLog, formatRecord, type LogLevel, type OperatorLog } from "./console-log.ts";
export { type InspectorPage, withInspector } from "./inspector-routes.ts";
