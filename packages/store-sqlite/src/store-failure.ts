import { Code, ConnectError } from "@connectrpc/connect";

/** Primary result codes of SQLite (sqlite.org/rescode.html) that blame one statement, and neither file nor disk. */
const statementFaults: ReadonlySet<number> = new Set([
  18, // TOOBIG
  19, // CONSTRAINT
  20, // MISMATCH
  25, // RANGE
]);

/** Primary result codes that mean that what is in the file is not what was written. */
const damages: ReadonlySet<number> = new Set([
  11, // CORRUPT
  26, // NOTADB
]);

/** The result code of an error that SQLite raised, without its extension; undefined for every other error. */
export function findResultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number")
    return undefined;
  return error.errcode & 0xff;
}

/** Whether the file, the disk or the connection failed, so that another statement would fail as well. */
export function isStoreFailure(error: unknown): boolean {
  if (error instanceof ConnectError) return true; // its file is gone
  const code = findResultCode(error);
  return code !== undefined && !statementFaults.has(code);
}

/**
 * What a caller gets for an error of the database: `DataLoss` when the file is damaged, `Unavailable` when the store itself
 * failed otherwise, `Internal` when one statement did. The sentences are fixed; SQLite's own words, which may hold paths and values, stay in the cause.
 * Errors that are not SQLite's are passed on as they are.
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

/** Something that was stored is gone, and no further try brings it back. */
export function dataLoss(sentence: string, cause?: unknown): ConnectError {
  return new ConnectError(sentence, Code.DataLoss, undefined, undefined, cause);
}

/** What every call after `close` gets. */
export function storeClosed(): ConnectError {
  return new ConnectError("the task store is closed", Code.Unavailable);
}
