import type { Socket } from "node:net";
import { setTimeout } from "node:timers";
import { Arrivals } from "../port/callers/arrivals.ts";

/** How long answers may work in one turn of the event loop, in milliseconds; half of it those of one caller. */
const workInATurnMs = 10;

/** What is parsed in a millisecond where it is all fields of two bytes. */
const bytesInAMs = 6 * 1024;

/** What answers and handshakes take, and how long a caller rests after a very long piece of a handshake. */
export interface AnswerTurnsOptions {
  /** What an answer takes besides its bytes, in milliseconds. Default 0.5: the next notification is made and sent in the same turn. */
  readonly answerMs?: number;
  /** The rest is so many times as long as the piece. Default 9. */
  readonly restFactor?: number;
  /** The rest is at most so long, in milliseconds. Default 5,000: the connection itself rests, too, and has 10 s to be made. */
  readonly mostRestMs?: number;
}

/**
 * Reads what servers answer that callers name, such as their webhooks, in turns of these callers. Hundreds may answer at the same moment
 * with 64 KiB of header fields, which take 10 ms each; and a handshake of TLS with a long chain of costly certificates takes half a
 * second in one piece, because OpenSSL verifies all of it.
 */
export class AnswerTurns {
  readonly #arrivals: Arrivals;
  readonly #answerMs: number;

  constructor({ answerMs = 0.5, restFactor = 9, mostRestMs = 5_000 }: AnswerTurnsOptions = {}) {
    this.#answerMs = answerMs;
    this.#arrivals = new Arrivals(workInATurnMs, {
      // It keeps the process alive, which its connections do not, as long as they are not read.
      later: (task, tookMs) => setTimeout(task, Math.min(restFactor * tookMs, mostRestMs)),
    });
  }

  /**
   * From here on the connection is read in turns.
   *
   * @param begin goes on with it, now or when its caller has a turn
   */
  join(caller: string, socket: Socket, begin: () => void): void {
    this.#arrivals.join(caller, socket, begin);
    this.#arrivals.count(caller, this.#answerMs);
  }

  /** Bytes of an answer have been parsed. What else the process or the machine did meanwhile does not count. */
  countBytes(caller: string, bytes: number, tookMs: number): void {
    this.#arrivals.count(caller, this.#answerMs + Math.min(tookMs, bytes / bytesInAMs));
  }

  /** A piece of a handshake has taken so long. After a very long one its caller's connections wait: only now it is known. */
  countHandshake(caller: string, tookMs: number): void {
    this.#arrivals.count(caller, tookMs);
    this.#arrivals.attribute(caller, tookMs);
  }
}
