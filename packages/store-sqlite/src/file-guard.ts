import {
  closeSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  rmSync,
  type StatsBase,
  statSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import type { ConnectError } from "@connectrpc/connect";
import { dataLoss } from "./store-failure.ts";

/**
 * How often the guard looks for the files at their paths while they are written, in milliseconds. It costs two system
 * calls each time.
 */
const lookEveryMs = 1_000;

/** What an operator can do about a file that is not whole. */
export const whatToDo =
  'restore a backup, take another file, or save what can be read with "sqlite3 FILE .recover"';

/**
 * Notices when the file of a database, or its write-ahead log, was removed or replaced. Before the file is opened, it
 * looks for a marker (`FILE-open`), which exists from the opening of the file to its closing. While the file is open,
 * it looks for the files at their paths. A link counts as the file that it leads to: the log and the marker are beside
 * that file.
 */
export interface FileGuard {
  /** Call it when the database and its log are open: it creates the marker, once the log is not empty. */
  opened(): void;
  /**
   * Call it before a transaction. @throws ConnectError `DataLoss` when the file or its log was removed or replaced,
   * from then on
   */
  assertInPlace(): void;
  /** Call it when everything is in the file, and the log is no longer needed. */
  closing(): void;
}

/**
 * Looks at the files before the store opens them.
 *
 * @param now milliseconds that never go back
 * @throws ConnectError `DataLoss` when a server that did not close its database left files that are now missing or
 *   empty
 */
export function guardFile(file: string, now: () => number): FileGuard {
  const target = followLinks(file);
  const mark = `${target}-open`;
  const log = `${target}-wal`;
  if (find(mark) !== undefined) {
    assertWhole(target, log, mark);
  }
  let places: readonly [path: string, StatsBase<bigint>][] = [];
  let lookAt = 0;
  let lost: ConnectError | undefined;
  let isMarked = false;

  /** Where a full disk takes neither the marker nor the first transaction, the marker comes later. */
  function setMark(): void {
    if ((find(log)?.size ?? 0n) === 0n) return;
    try {
      closeSync(openSync(mark, "a", 0o600));
      isMarked = true;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
    }
  }

  return {
    opened() {
      places = [file, log].flatMap((path) => {
        const found = find(path);
        return found === undefined ? [] : [[path, found] as const];
      });
      setMark();
      lookAt = now() + lookEveryMs;
    },

    assertInPlace() {
      if (lost === undefined && now() >= lookAt) {
        lookAt = now() + lookEveryMs;
        if (!isMarked) setMark();
        const missing = places.find(([path, before]) => !isSame(before, find(path)));
        if (missing !== undefined) {
          lost = dataLoss(
            "the file of the task store was removed or replaced while it was open; nothing was stored",
            new Error(
              `${missing[0]} is not the file that was opened: what was stored since then is lost; ${whatToDo}`,
            ),
          );
        }
      }
      if (lost !== undefined) throw lost;
    },

    closing() {
      if (lost === undefined) rmSync(mark, { force: true });
    },
  };
}

function assertWhole(file: string, log: string, mark: string): void {
  for (const [path, what] of [
    [file, "everything in it"],
    [log, "what was stored since it was last moved into the file, up to 8 MiB,"],
  ] as const) {
    const found = find(path);
    // A server that stops removes its marker before its log. When the marker is gone now, a server has just stopped.
    if ((found === undefined || found.size === 0n) && find(mark) !== undefined) {
      throw dataLoss(
        `the server before was not stopped in order, and ${path} ${found === undefined ? "is gone" : "is empty"}: ${what} is lost; ` +
          `${whatToDo}, or remove ${mark} to go on with what is there`,
      );
    }
  }
}

/**
 * The path that a file's links lead to, as SQLite follows them. The file need not exist. @throws Error when the links
 * lead in a circle
 */
function followLinks(file: string): string {
  find(file); // throws for a circle
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return file;
  return followLinks(resolve(realpathSync(dirname(file)), readlinkSync(file)));
}

function isSame(before: StatsBase<bigint>, now: StatsBase<bigint> | undefined): boolean {
  return now !== undefined && before.ino === now.ino && before.dev === now.dev;
}

function find(path: string): StatsBase<bigint> | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}
