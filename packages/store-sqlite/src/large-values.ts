import type { DatabaseSync } from "node:sqlite";
import type { TaskCommit } from "@a2a-connect/server";
import { prepareQuery } from "./query.ts";
import { dataLoss } from "./store-failure.ts";

/** A value that does not lie in its row: where it lies instead. */
export interface Run {
  readonly run: number;
  readonly bytes: number;
}

/** What of a commit was written before it, for the task of this number. */
export interface WrittenValues {
  readonly task: number;
  readonly runs: ReadonlyMap<Uint8Array, Run>;
}

/**
 * Values in pieces. A transaction blocks the event loop for as long as it takes to copy what it writes, so the large values of a
 * commit are written before it: as runs of pieces, each in a transaction of its own. The commit itself names the runs.
 * What changes pieces runs inside a transaction.
 */
export interface LargeValues {
  /** Which values of a commit are to be written before it. None of most commits. */
  choose(commit: TaskCommit): readonly Uint8Array[];
  /** Writes a piece of a run. @param run undefined begins one @returns the run */
  append(task: number, run: number | undefined, piece: Uint8Array): number;
  /** Removes pieces: of a run, or all of a task; at most `limit`. @returns how many */
  remove(task: number, run: number | undefined, limit: number): number;
  /** @throws ConnectError `DataLoss` when pieces are missing */
  read(task: number, run: Run): Uint8Array;
}

/** Bytes of a piece: what is copied in less than a millisecond. */
export const pieceBytes: number = 512 * 1024;

/** Bytes of a commit above which what it has of large values is written before it. */
const maxCommitBytes = 1024 * 1024;

/** Bytes of the smallest value that is worth rows of its own. */
const minRunBytes = 32 * 1024;

/** Prepares what reads and writes pieces. */
export function createLargeValues(database: DatabaseSync): LargeValues {
  const insert = database.prepare("insert into pieces (number, task, run, payload) values (?, ?, ?, ?)");
  const pieces = prepareQuery<{ readonly payload: Uint8Array }>(
    database,
    "select payload from pieces where task = ? and run = ? order by number",
  );
  const removeOfRun = database.prepare(
    "delete from pieces where number in (select number from pieces where task = ? and run = ? limit ?)",
  );
  const removeOfTask = database.prepare(
    "delete from pieces where number in (select number from pieces where task = ? limit ?)",
  );
  const last = prepareQuery<{ readonly number: number | null }>(
    database,
    "select max(number) as number from pieces",
  );
  /** Not given again by this process, whose removal of an old run must not meet a new one of the same number. */
  let lastNumber = last.get()?.number ?? 0;

  return {
    choose(commit) {
      const values = valuesOf(commit);
      const bytes = values.reduce((sum, value) => sum + value.byteLength, 0);
      return bytes > maxCommitBytes ? values.filter(({ byteLength }) => byteLength >= minRunBytes) : [];
    },

    append(task, run, piece) {
      lastNumber += 1;
      insert.run(lastNumber, task, run ?? lastNumber, piece);
      return run ?? lastNumber;
    },

    remove(task, run, limit) {
      const { changes } =
        run === undefined ? removeOfTask.run(task, limit) : removeOfRun.run(task, run, limit);
      return Number(changes);
    },

    read(task, { run, bytes }) {
      const value = new Uint8Array(bytes);
      let end = 0;
      for (const { payload } of pieces.iterate(task, run)) {
        if (end + payload.byteLength <= bytes) value.set(payload, end);
        end += payload.byteLength;
      }
      if (end !== bytes) throw dataLoss(`${bytes - end} of ${bytes} bytes of a value are missing`, undefined);
      return value;
    },
  };
}

/** Removes pieces that no row names: of commits that were refused, or that the end of the process came before. */
export function removeLostPieces(database: DatabaseSync): void {
  database.exec(`
    delete from pieces where number in (
      select number from pieces as piece
      where not exists (select 1 from entries where task = piece.task and run = piece.run)
        and not exists (
          select 1 from snapshots where task = piece.task and (head_run = piece.run or artifacts_run = piece.run)
        )
    )`);
}

function valuesOf({ entries, snapshot }: TaskCommit): Uint8Array[] {
  const values = entries.map(({ payload }) => payload);
  if (snapshot !== undefined) values.push(snapshot.head);
  if (snapshot?.artifacts !== undefined) values.push(snapshot.artifacts);
  return values;
}
