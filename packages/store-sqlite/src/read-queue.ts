import { setImmediate } from "node:timers";
import { isAccepting } from "@a2a-connect/core/internal";

/** Runs a read when its turn has come. */
export type ReadQueue = <T>(query: () => T, bytesOf: (result: T) => number) => Promise<T>;

/**
 * Reads in the order of the calls. Once those of one turn of the event loop have read more than `maxTurnBytes` together, the
 * others wait for the next turns, in which also that is done which callers do with what they have read. However many read at the
 * same time, other calls wait for no more than one turn's part of it.
 *
 * @param read runs a query; what it throws, its caller is told
 */
export function createReadQueue(read: <T>(query: () => T) => T, maxTurnBytes: number): ReadQueue {
  const waiting: (() => number)[] = [];
  /** Bytes that were read in this turn; undefined: nothing was, as far as is known. */
  let turnBytes: number | undefined;

  function run(next: () => number): void {
    if (turnBytes === undefined) setImmediate(endTurn);
    turnBytes = (turnBytes ?? 0) + next();
  }

  function endTurn(): void {
    if (isAccepting()) {
      setImmediate(endTurn); // the stores of several agents would each read in a turn that is for new connections alone
      return;
    }
    turnBytes = undefined;
    while ((turnBytes ?? 0) <= maxTurnBytes) {
      const next = waiting.shift();
      if (next === undefined) return;
      run(next);
    }
  }

  return (query, bytesOf) =>
    new Promise((resolve, reject) => {
      const next = (): number => {
        try {
          const result = read(query);
          resolve(result);
          return bytesOf(result);
        } catch (error) {
          reject(error);
          return 0;
        }
      };
      if (waiting.length > 0 || (turnBytes ?? 0) > maxTurnBytes) waiting.push(next);
      else run(next);
    });
}
