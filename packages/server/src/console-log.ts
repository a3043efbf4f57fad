import { escapeInvisible, visibleText } from "@a2a-connect/core/internal";
import type { LogRecord } from "./engine/engine-context.ts";

/** Takes records for the operator's log. */
export type OperatorLog = (record: LogRecord) => void;

/** The least important records that are written; `off`: none are. */
export type LogLevel = LogRecord["level"] | "off";

export interface ConsoleLogOptions {
  /** Default `info`: everything. */
  readonly level?: LogLevel | undefined;
  /** One JSON object a line, for programs. Default false: text for people. */
  readonly json?: boolean;
  /** Default `console.error`, which writes to stderr, without what a terminal would obey: errors may quote callers. */
  readonly write?: (line: string) => void;
  /** Milliseconds since 1970. Default: the machine's clock. */
  readonly now?: () => number;
}

const levels: readonly LogLevel[] = ["info", "warn", "error", "off"];

/** Callers can cause records, and a terminal or a pipe that is slow makes the server wait. */
const maxRecordsPerSecond = 200;

/** After so many characters in a second the errors of further records are shortened: callers can cause long ones, too. */
const longCharactersPerSecond = 256 * 1024;

/** Characters of an error, and of each of its causes, at most. */
const maxErrorLength = { usual: 16 * 1024, shortened: 256 };

/**
 * Writes records a line each; what exceeds 200 records in a second is counted, and the next record is preceded by the count. Errors are
 * shortened when 256 Ki characters were written in a second.
 */
export function createConsoleLog({
  level = "info",
  json = false,
  write,
  now = Date.now,
}: ConsoleLogOptions = {}): OperatorLog {
  const least = levels.indexOf(level);
  const makeHarmless = json ? escapeInvisible : toLines;
  let second = 0;
  let written = 0;
  let characters = 0;
  const writeRecord = (record: LogRecord, at: number): void => {
    const { usual, shortened } = maxErrorLength;
    const errors = causesOf(record.error).map((error) =>
      stackOf(error, characters < longCharactersPerSecond ? usual : shortened),
    );
    const line = json ? formatJson(record, errors, at) : formatRecord(record, errors);
    const shown = write === undefined ? makeHarmless(line) : line;
    characters += shown.length;
    (write ?? writeError)(shown);
  };
  return (record) => {
    if (levels.indexOf(record.level) < least) {
      return;
    }
    const at = now();
    if (Math.floor(at / 1_000) !== second) {
      const left = written - maxRecordsPerSecond;
      second = Math.floor(at / 1_000);
      written = 0;
      characters = 0;
      if (left > 0) {
        writeRecord(
          { level: "warn", message: `${left} more records came within a second and were left out` },
          at,
        );
      }
    }
    written += 1;
    if (written <= maxRecordsPerSecond) {
      writeRecord(record, at);
    }
  };
}

/** A record as text for people: one line, and below it the stack of its error and of what caused that. */
function formatRecord({ level, message, taskId }: LogRecord, errors: readonly string[]): string {
  const about = taskId === undefined ? "" : ` (task ${taskId})`;
  return [`${level}: ${message}${about}`, ...errors].join("\n");
}

function formatJson({ error: _, ...record }: LogRecord, errors: readonly string[], at: number): string {
  const error = errors.length === 0 ? {} : { error: errors.join("\ncaused by ") };
  return JSON.stringify({ time: new Date(at).toISOString(), ...record, ...error });
}

/** An error and its causes, at most five. */
function causesOf(error: unknown): readonly unknown[] {
  const causes: unknown[] = [];
  for (let each = error; each !== undefined && causes.length < 5; ) {
    causes.push(each);
    each = each instanceof Error ? each.cause : undefined;
  }
  return causes;
}

/** The beginning has the message, which may quote a caller's 16 MiB; the end has the stack. */
function stackOf(error: unknown, maxLength: number): string {
  const text = error instanceof Error ? (error.stack ?? String(error)) : toText(error);
  const left = text.length - maxLength;
  return left <= 0
    ? text
    : `${text.slice(0, maxLength / 2)} … (${left} characters left out) … ${text.slice(-maxLength / 2)}`;
}

/** Code may throw what a caller has sent: a list may have the same text thousands of times, and an object a `toString` that is none. */
function toText(thrown: unknown): string {
  if (Array.isArray(thrown)) return `a list of ${thrown.length} items`;
  try {
    return String(thrown);
  } catch {
    return Object.prototype.toString.call(thrown);
  }
}

/** Only the first line of a record is not indented, so that none can look like another record. */
function toLines(record: string): string {
  return visibleText(record).replaceAll("\n", "\n  ");
}

function writeError(line: string): void {
  // biome-ignore lint/suspicious/noConsole: it is what every runtime has for an operator's eyes
  console.error(line);
}
