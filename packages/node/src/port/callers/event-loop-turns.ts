import { setImmediate } from "node:timers";
import { afterMicrotasks } from "@a2a-connect/core/internal";
import { longTurnMs } from "./loop-turns.ts";

/** A connection, and who has it. */
interface Connection {
  readonly caller: object | string;
}

/**
 * Lets requests begin a few in a turn of the event loop: those of a port, and those of one HTTP/2 connection; also handshakes of TLS,
 * and the making of answers. Hundreds of connections may bring thousands of requests at the same moment, and one of them in one packet; with all begun at once no
 * other caller would have a turn. Callers take turns, and so do the connections of one caller.
 *
 * A connection of HTTP/2 has a bound of its own, because a request gets its body and listeners before the port's bound, which is
 * over all connections, lets it begin. The bound of HTTP/1.1 (`maxAtATime` of `Pipeline`) is another one, of those that run.
 */
export class EventLoopTurns {
  readonly #maxInATurn: number;
  readonly #now: () => number;
  readonly #mustRest: () => boolean;
  /** What waits, by caller and connection; whose turn is next comes first. */
  readonly #waiting = new Map<Connection["caller"], Map<Connection, (() => void)[]>>();
  #begun = 0;
  /** When the first request of this turn was begun. */
  #beganAt = 0;

  /**
   * @param mustRest whether what waits has to wait for a later turn
   * @param now milliseconds that never go back
   */
  constructor(
    maxInATurn: number,
    mustRest: () => boolean = () => false,
    now: () => number = () => performance.now(),
  ) {
    this.#maxInATurn = maxInATurn;
    this.#mustRest = mustRest;
    this.#now = now;
  }

  /** @returns undefined: the request may begin at once */
  turn(connection: Connection): Promise<void> | undefined {
    if (this.#waiting.size === 0 && this.#hasRoom()) {
      this.#count();
      return undefined;
    }
    return new Promise((resolve) => this.#wait(connection, resolve));
  }

  /** Requests begin until the turn is long; then the others wait for the next. */
  #hasRoom(): boolean {
    if (this.#begun === 0) return true;
    return this.#begun < this.#maxInATurn && this.#now() - this.#beganAt < longTurnMs;
  }

  #count(): void {
    if (this.#begun === 0) {
      this.#beganAt = this.#now();
      setImmediate(() => this.#beginTurn());
    }
    this.#begun += 1;
  }

  /** Another turn: what waits may begin. */
  #beginTurn(): void {
    if (this.#mustRest()) {
      setImmediate(() => this.#beginTurn());
      return;
    }
    this.#begun = 0;
    this.#beginNext();
  }

  #beginNext(): void {
    const begin = this.#hasRoom() ? this.#takeNext() : undefined;
    if (begin === undefined) return;
    this.#count();
    begin();
    afterMicrotasks(() => this.#beginNext());
  }

  #wait(connection: Connection, begin: () => void): void {
    const { caller } = connection;
    const connections = this.#waiting.get(caller) ?? new Map<Connection, (() => void)[]>();
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
