import { fillGap, type Gap, type LargeValues, pieceBytes, type Reading, valueLost } from "./large-values.ts";
import { createReadQueue, type ReadQueue } from "./read-queue.ts";

/**
 * Reads of what may be large: they wait for their turn, and read large values in pieces, which the query leaves as gaps. What is
 * read counts towards the limit of a turn, and not only what is answered.
 */
export interface Reads {
  /** Reads what has no large values. In one turn of the event loop as much is read as is copied in a millisecond. */
  readonly inTurn: ReadQueue;
  /** Reads a task or a part of its log. */
  log<T>(query: (reading: Reading) => T): Promise<T>;
  /**
   * The same for events, which have a queue of their own: thousands of readers may want the next ones, and other calls do not
   * wait behind them.
   */
  events<T>(query: (reading: Reading) => T): Promise<T>;
  /**
   * Reads a list, a step in each turn, because a list of few bytes takes long, too. Lists have a queue of their own: a caller
   * that reads one task does not wait behind them.
   */
  list<T>(query: (reading: Reading) => Generator<unknown, T>): Promise<T>;
}

/** Bytes after which the store reads no more large values in a turn of the event loop. */
const maxTurnBytes = 1024 * 1024;

/** What a read counts at least: also of few bytes one takes as long as to copy these, with what its caller does next. */
export const minReadBytes: number = 8 * 1024;

/** How often a task is read whose large values are replaced while they are read. */
const maxAttempts = 5;

/** @param read runs a query, which finds only whole transactions; what it throws, its caller is told */
export function createReads(read: <T>(query: () => T) => T, values: LargeValues): Reads {
  const inTurn = createReadQueue(read, maxTurnBytes);
  const eventsInTurn = createReadQueue(read, maxTurnBytes);
  const listInTurn = createReadQueue(read, 0);

  /** Runs a query, and then reads what it has left in pieces. */
  async function readWhole<T>(query: (reading: Reading) => Promise<T>): Promise<T> {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const reading: Reading = { bytes: 0, gaps: [] };
      const result = await query(reading);
      if (await fillAll(reading.gaps)) return result;
    }
    throw valueLost();
  }

  function readLog<T>(queue: ReadQueue, query: (reading: Reading) => T): Promise<T> {
    return readWhole((reading) =>
      queue(
        () => query(reading),
        () => Math.max(minReadBytes, reading.bytes),
      ),
    );
  }

  /** @returns false when a value has gone meanwhile: then its row has gone, or names another one */
  async function fillAll(gaps: readonly Gap[]): Promise<boolean> {
    for (const gap of gaps) {
      if (!(await runInTurns(inTurn, fillGap(values, gap)))) return false;
    }
    return true;
  }

  return {
    inTurn,
    log: (query) => readLog(inTurn, query),
    events: (query) => readLog(eventsInTurn, query),
    list: (query) => readWhole((reading) => runInTurns(listInTurn, query(reading))),
  };
}

/** Runs each step in a turn of the queue; it counts as much as a piece of a large value. */
async function runInTurns<Result>(queue: ReadQueue, steps: Generator<unknown, Result>): Promise<Result> {
  for (;;) {
    const step = await queue(
      () => steps.next(),
      () => pieceBytes,
    );
    if (step.done === true) return step.value;
  }
}
