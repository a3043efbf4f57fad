import { Code, ConnectError } from "@connectrpc/connect";

/**
 * Primary result codes of SQLite (sqlite.org/rescode.html) that mean that one statement is wrong, and not the file or
 * the disk.
 */
const statementFaults: ReadonlySet<number> = new Set([
  18, // TOOBIG
  19, // CONSTRAINT
  20, // MISMATCH
  25, // RANGE
]);

/** Primary result codes that mean that the file does not contain what was written. */
const damages: ReadonlySet<number> = new Set([
  11, // CORRUPT
  26, // NOTADB
]);

/** Primary result code for a disk that is full, or a file that has its largest size. */
const full = 13;

/** The result code of an error that SQLite raised, without its extension; undefined for every other error. */
export function findResultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number")
    return undefined;
  return error.errcode & 0xff;
}

/** Whether the file, the disk or the connection failed, so that other statements would fail as well. */
export function isStoreFailure(error: unknown): boolean {
  if (error instanceof ConnectError) return true; // the connection found its file gone
  const code = findResultCode(error);
  return code !== undefined && !statementFaults.has(code);
}

/**
 * The error that a caller gets for an error of the database: `DataLoss` when the file is damaged, `Unavailable` when
 * the store itself failed otherwise, `Internal` when one statement did. The sentences are fixed. SQLite's own words may
 * contain paths and values, so they stay in the cause. Other errors are returned as they are.
 */
export function toStoreError(cause: unknown): unknown {
  if (cause instanceof ConnectError) return cause;
  if (isDamage(cause)) {
    return dataLoss("the task store is damaged, and what was asked for cannot be read or written", cause);
  }
  if (isStoreFailure(cause)) {
    return new ConnectError(
      "the task store is unavailable; nothing was stored",
      Code.Unavailable,
      undefined,
      undefined,
      cause,
    );
  }
  if (findResultCode(cause) === undefined) return cause;
  return new ConnectError(
    "the task store refused a value; nothing was stored",
    Code.Internal,
    undefined,
    undefined,
    cause,
  );
}

/** Whether SQLite has found that the file is damaged. */
export function isDamage(error: unknown): boolean {
  const code = findResultCode(error);
  return code !== undefined && damages.has(code);
}

/** Writes something that a store can do without, so that it can be opened and read on a full disk. */
export function unlessFull(write: () => void): void {
  try {
    write();
  } catch (error) {
    if (findResultCode(error) !== full) throw error;
  }
}

/** The error for a stored value that is lost. To try again does not help. */
export function dataLoss(sentence: string, cause?: unknown): ConnectError {
  return new ConnectError(sentence, Code.DataLoss, undefined, undefined, cause);
}

/** The error of every call after `close`. */
export function storeClosed(): ConnectError {
  return new ConnectError("the task store is closed", Code.Unavailable);
}
