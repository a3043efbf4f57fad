import type { ErrorContext } from "@a2a-connect/bindings/server";
import type { LogRecord } from "./engine/engine-context.ts";

/** Takes records for the operator's log. */
export type OperatorLog = (record: LogRecord) => void;

/** A log function that throws must not end a task. */
export function guardLog(log: OperatorLog = () => {}): OperatorLog {
  return (record) => {
    try {
      log(record);
    } catch {
      // The failure cannot be logged.
    }
  };
}

/** The operator's record of an error that the caller sees as an internal one. */
export function internalError(error: unknown, { wire, method }: ErrorContext): LogRecord {
  return { level: "error", message: `${method ?? "a call"} over ${wire} failed inside`, error };
}
