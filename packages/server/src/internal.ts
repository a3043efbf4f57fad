export { createConsoleLog, formatRecord, type LogLevel, type OperatorLog } from "./console-log.ts";
