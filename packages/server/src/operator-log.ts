import type { ErrorContext } from "@a2a-connect/bindings/server";
import type { LogRecord } from "./engine/engine-context.ts";

/** Takes lines for the operator's log. */
export type OperatorLog = (record: LogRecord) => void;

/** A log that fails must not take a task with it. */
export function guardLog(log: OperatorLog = () => {}): OperatorLog {
  return (record) => {
    try {
      log(record);
    } catch {
      // There is nowhere left to say it.
    }
  };
}

/** What the operator is told of an error that the caller knows as an internal one. */
export function internalError(error: unknown, { wire, method }: ErrorContext): LogRecord {
  return { level: "error", message: `${method ?? "a call"} over ${wire} failed inside`, error };
}
