import type { Socket } from "node:net";
import { setImmediate, setTimeout } from "node:timers";
import { Arrivals } from "../port/callers/arrivals.ts";

/** How long answers may work in one turn of the event loop, in milliseconds; half of it those of one caller. */
const workInATurnMs = 10;

/** What is parsed in a millisecond where it is all fields of two bytes. */
const bytesInAMs = 6 * 1024;

/** What an answer takes besides, in milliseconds: the next notification is made and sent in the same turn. */
const answerMs = 0.5;

/** How long a caller rests after a very long handshake. */
export interface HandshakeRest {
  /** So many times as long as the handshake. */
  readonly factor: number;
  /** At most, in milliseconds. */
  readonly mostMs: number;
}

/**
 * Reads what servers answer that callers name, such as their webhooks, in turns of these callers. Hundreds may answer at the same moment
 * with 64 KiB of header fields, which take 10 ms each; and a handshake of TLS with a long chain of costly certificates takes half a
 * second in one piece, because OpenSSL verifies all of it.
 */
export class AnswerTurns {
  readonly #arrivals: Arrivals;
  #lastHandshake: number | undefined;

  constructor({ factor, mostMs }: HandshakeRest = { factor: 9, mostMs: Number.POSITIVE_INFINITY }) {
    this.#arrivals = new Arrivals(workInATurnMs, {
      later: (task, tookMs) => setTimeout(task, Math.min(factor * tookMs, mostMs)).unref(),
    });
  }

  /**
   * From here on the connection is read in turns.
   *
   * @param begin goes on with it, now or when its caller has a turn
   */
  join(caller: string, socket: Socket, begin: () => void): void {
    this.#arrivals.join(caller, socket, begin);
    this.#arrivals.count(caller, answerMs);
  }

  /** From here on the connection is not read in turns any more. */
  leave(caller: string, socket: Socket): void {
    this.#arrivals.leave(caller, socket);
  }

  /** Bytes of an answer have arrived, and are parsed now. */
  countBytes(caller: string, bytes: number): void {
    this.#arrivals.count(caller, answerMs + bytes / bytesInAMs);
  }

  /** A handshake has ended. After a very long one its caller's others wait: only now it is known. */
  countHandshake(caller: string): void {
    const now = performance.now();
    if (this.#lastHandshake === undefined) {
      setImmediate(() => {
        this.#lastHandshake = undefined;
      });
    }
    this.#arrivals.count(caller, now - (this.#lastHandshake ?? now));
    this.#lastHandshake = now;
    this.#arrivals.attributeTurn(caller);
  }
}
