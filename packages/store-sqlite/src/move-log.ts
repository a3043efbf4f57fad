import type { DatabaseSync, StatementSync } from "node:sqlite";
import { afterTurn, Wakes } from "@a2a-connect/core/internal";

/** Call it after a commit: once the write-ahead log has so many pages, it is moved into the file. */
export type MoveLog = (pages: number) => void;

/**
 * The moves of all stores of the process, one in a turn of the event loop: each takes about 10 ms, and the logs of many agents may be
 * full at the same moment.
 */
const turns = new Wakes({ nextTurn: () => new Promise<void>(afterTurn), ticks: () => performance.now() }, 1);

/** A log of so many pages, 16 MiB, waits no longer: in a line of many stores that write without a break, all logs would grow with it. */
const longestPages = 4_096;

const [major = 0, minor = 0] = (process.versions["sqlite"] ?? "").split(".").map(Number);

/** SQLite can since 3.51, and the one in Node 22.18 is older: it would move the log instead of telling how long it is. */
const tellsLength = major > 3 || (major === 3 && minor >= 51);

/**
 * Moves the log outside of commits, so that no commit waits for the logs of other stores. Where SQLite cannot tell how long the log is,
 * it moves the log within a commit.
 *
 * @param pages how many that takes until the first commit
 */
export function createMoveLog(database: DatabaseSync, pages: number): MoveLog {
  if (!tellsLength) return createMoveInCommits(database, pages);
  database.exec("pragma wal_autocheckpoint = 0");
  const look = database.prepare("pragma wal_checkpoint(noop)");
  const checkpoint = database.prepare("pragma wal_checkpoint(passive)");
  let waits = false;

  const move = (): void => void attempt(checkpoint);

  function moveInTurn(): void {
    waits = false;
    move();
  }

  return (most) => {
    const { log = 0 } = attempt(look) ?? {};
    if (Number(log) >= longestPages) move();
    else if (!waits && Number(log) >= most) {
      waits = true;
      afterTurn(() => turns.wake([moveInTurn])); // the callers whose writes were committed go on first
    }
  };
}

/** What was committed is safe in the log. On a full or broken disk the next commit tries again; a store that closes moves its log. */
function attempt(statement: StatementSync): ReturnType<StatementSync["get"]> {
  try {
    return statement.get();
  } catch {
    return undefined;
  }
}

function createMoveInCommits(database: DatabaseSync, pages: number): MoveLog {
  const setPages = (): void => database.exec(`pragma wal_autocheckpoint = ${pages}`);
  setPages();
  return (most) => {
    if (most === pages) return;
    pages = most;
    setPages();
  };
}
