import type { BodyAccount } from "./body-budget.ts";

/** Requests that are begun in one turn of the event loop, of all connections. */
const maxInATurn = 64;

/** What the requests of a turn may take; when they took longer, half as many are begun in the next. */
const longTurnMs = 10;

/**
 * Lets the requests of a port begin a few in a turn of the event loop. Hundreds of connections may bring thousands of requests at the
 * same moment, and with all begun at once no other caller would have a turn. Callers take turns, and so do the connections
 * of one caller.
 */
export class Starts {
  readonly #now: () => number;
  /** What waits, by caller and connection; whose turn is next comes first. */
  readonly #waiting = new Map<object, Map<BodyAccount, (() => void)[]>>();
  #atMost = maxInATurn;
  #begun = 0;
  /** When the requests that had waited were begun in this turn. */
  #beganAt: number | undefined;

  /** @param now milliseconds that never go back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @returns undefined: the request may begin at once */
  turn(connection: BodyAccount): Promise<void> | undefined {
    if (this.#waiting.size === 0 && this.#begun < this.#atMost) {
      this.#count();
      return undefined;
    }
    return new Promise((resolve) => this.#wait(connection, resolve));
  }

  #count(): void {
    if (this.#begun === 0) {
      setImmediate(() => this.#nextTurn());
      setImmediate(() => this.#measure()); // right behind it, and behind all that it has set going
    }
    this.#begun += 1;
  }

  #nextTurn(): void {
    this.#begun = 0;
    if (this.#waiting.size === 0) {
      this.#grow();
      return;
    }
    this.#beganAt = this.#now();
    while (this.#begun < this.#atMost) {
      const begin = this.#takeNext();
      if (begin === undefined) return;
      this.#count();
      begin();
    }
  }

  #measure(): void {
    if (this.#beganAt === undefined) return;
    const isLong = this.#now() - this.#beganAt > longTurnMs;
    this.#beganAt = undefined;
    if (isLong) this.#atMost = Math.max(1, this.#atMost / 2);
    else this.#grow();
  }

  #grow(): void {
    this.#atMost = Math.min(maxInATurn, 2 * this.#atMost);
  }

  #wait(connection: BodyAccount, begin: () => void): void {
    const { caller } = connection;
    const connections = this.#waiting.get(caller) ?? new Map<BodyAccount, (() => void)[]>();
    this.#waiting.set(caller, connections);
    const begins = connections.get(connection);
    if (begins === undefined) connections.set(connection, [begin]);
    else begins.push(begin);
  }

  #takeNext(): (() => void) | undefined {
    for (const [caller, connections] of this.#waiting) {
      this.#waiting.delete(caller);
      for (const [connection, begins] of connections) {
        connections.delete(connection);
        const begin = begins.shift();
        if (begins.length > 0) connections.set(connection, begins); // behind the others
        if (connections.size > 0) this.#waiting.set(caller, connections);
        return begin;
      }
    }
    return undefined;
  }
}
