import type { DatabaseSync } from "node:sqlite";
import type { CutInSteps, TaskCommit } from "@a2a-connect/server/store";
import { prepareQuery } from "./schema.ts";
import { dataLoss, unlessFull } from "./store-failure.ts";

/** A value whose bytes are in pieces and not in its row: the run of its pieces. */
export interface Run {
  readonly run: number;
  readonly bytes: number;
}

/** The values of a commit that were written before it, for the task with this number. */
export interface WrittenValues {
  readonly task: number;
  readonly runs: ReadonlyMap<Uint8Array, Run>;
}

/** A place in what a query gives, whose value is still to be read. */
export interface Gap {
  readonly task: number;
  readonly run: Run;
  /** Memory for the value, which is in the place meanwhile. */
  readonly value: Uint8Array;
  /** Makes what belongs into the place once the value is whole; undefined: the value itself. */
  readonly cut: CutInSteps | undefined;
  /** Puts that there. */
  readonly put: (value: Uint8Array) => void;
}

/** What a query has read. */
export interface Reading {
  /** Bytes of the values that were in rows, also of what a view leaves out of them, and some for each entry. */
  bytes: number;
  /** The values in pieces, which are still to be read. */
  readonly gaps: Gap[];
}

/** A piece of a run. */
export interface Piece {
  /** Pieces of a run have rising numbers. */
  readonly number: number;
  readonly payload: Uint8Array;
}

/**
 * Values in pieces. A transaction blocks the event loop for as long as it takes to copy what it writes. So the large
 * values of a commit are written before it: as runs of pieces, each piece in a transaction of its own. The commit
 * itself names the runs. Methods that change pieces run inside a transaction.
 */
export interface LargeValues {
  /** Writes a piece of a run. @param run undefined begins a run @returns the run */
  append(task: number, run: number | undefined, piece: Uint8Array): number;
  /** Removes at most `limit` pieces: of a run that no row names, or of all runs of a task. @returns how many */
  remove(task: number, run: number | undefined, limit: number): number;
  /** The piece of a run after that of this number (0: the first); undefined when there is none. */
  next(task: number, run: Run, after: number): Piece | undefined;
}

/** Bytes of a piece. SQLite copies that much in less than a millisecond. */
export const pieceBytes: number = 512 * 1024;

/** Size of a commit above which its large values are written before it, in bytes. */
export const maxCommitBytes: number = 1024 * 1024;

/** Size of the smallest value that is worth rows of its own, in bytes. */
const minRunBytes = 32 * 1024;

/** Whether no row names the run of a piece. */
const isLost = `
  not exists (select 1 from segments where task = piece.task and run = piece.run)
  and not exists (
    select 1 from snapshots where task = piece.task and (head_run = piece.run or artifacts_run = piece.run)
  )`;

/** Prepares the statements that read and write pieces. */
export function createLargeValues(database: DatabaseSync): LargeValues {
  const insert = database.prepare("insert into pieces (number, task, run, payload) values (?, ?, ?, ?)");
  const nextPiece = prepareQuery<Piece>(
    database,
    "select number, payload from pieces where task = ? and run = ? and number > ? order by number limit 1",
  );
  const removeOfRun = database.prepare(`
    delete from pieces where number in (
      select number from pieces as piece where task = ? and run = ? and ${isLost} limit ?
    )`);
  const removeOfTask = database.prepare(
    "delete from pieces where number in (select number from pieces where task = ? limit ?)",
  );
  const last = prepareQuery<{ readonly number: number | null }>(
    database,
    "select max(number) as number from pieces",
  );
  /**
   * This process never uses a run's number twice: while it removes an old run, a new one must not have the same number.
   */
  let lastNumber = last.get()?.number ?? 0;

  return {
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

    next: (task, { run }, after) => nextPiece.get(task, run, after),
  };
}

/**
 * Reads a value, a piece in each step, and then cuts it.
 *
 * @returns whether it is whole; pieces are missing when their row went meanwhile
 */
export function* fillGap(values: LargeValues, { task, run, value, cut, put }: Gap): Generator<void, boolean> {
  let end = 0;
  for (let last = 0; end < value.length; ) {
    const piece = values.next(task, run, last);
    if (piece === undefined || end + piece.payload.length > value.length) return false;
    value.set(piece.payload, end);
    end += piece.payload.length;
    last = piece.number;
    if (end < value.length) yield;
  }
  if (cut !== undefined) {
    yield;
    put(yield* cut(value));
  }
  return true;
}

/** A gap, whose memory costs nothing until it is filled; it is put into its place at once. */
export function createGap(task: number, run: Run, { cut, put }: Pick<Gap, "cut" | "put">): Gap {
  const value = new Uint8Array(Buffer.allocUnsafeSlow(run.bytes).buffer);
  put(value);
  return { task, run, value, cut, put };
}

/** What a caller hears of a value that lacks pieces, however often it is read. */
export function valueLost(): Error {
  return dataLoss("parts of a large value are missing in the task store");
}

/**
 * Removes pieces that no row names: of commits that were refused, or that the end of the process came before. On a full
 * disk they stay until the store is opened again.
 */
export function removeLostPieces(database: DatabaseSync): void {
  const remove = `delete from pieces where number in (select number from pieces as piece where ${isLost})`;
  unlessFull(() => database.exec(remove));
}

/** The values of a commit that are to be written before it, when it is larger than `maxCommitBytes`. */
export function chooseLarge({ entries, snapshot }: TaskCommit): readonly Uint8Array[] {
  const values = [...entries.map(({ payload }) => payload), snapshot?.head, snapshot?.artifacts];
  return [...new Set(values)]
    .filter((value) => value !== undefined)
    .filter(({ byteLength }) => byteLength >= minRunBytes);
}
