import { untilAborted } from "@a2a-connect/core/internal";
import type { AgentCard } from "@a2a-connect/proto";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Clock } from "../engine/clock.ts";
import type { LogRecord } from "../engine/engine-context.ts";
import type { SigningKeys } from "./signing-keys.ts";

/** How many cards are signed at a time: callers choose the hosts where a pattern allows many. */
const maxSignings = 4;

/** How many more may wait for that. */
const maxWaiting = 1_000;

/** How long signing one card may take, in milliseconds. */
const signTimeoutMs = 10_000;

/** How long signing is not tried after a failure, in milliseconds; twice as long after each further one. */
const firstPauseMs = 5_000;
const longestPauseMs = 60_000;

/** What a queue works with. */
export interface SigningQueueOptions {
  readonly clock: Pick<Clock, "ticks" | "schedule">;
  readonly log: (record: LogRecord) => void;
}

/** Signs cards with the same keys: a few at a time, none for ever, and after a failure not again for a while. */
export class SigningQueue {
  readonly keys: Pick<SigningKeys, "sign" | "keySetAt">;
  readonly #options: SigningQueueOptions;
  /** Begins those that wait, oldest first. */
  readonly #waiting: (() => void)[] = [];
  #signings = 0;
  /** The time after the last failure, in ticks of the clock, in which signing is not tried. Undefined when the last one succeeded. */
  #pause: { readonly since: number; readonly ms: number } | undefined;

  constructor(keys: Pick<SigningKeys, "sign" | "keySetAt">, options: SigningQueueOptions) {
    this.keys = keys;
    this.#options = options;
  }

  /**
   * The card, signed.
   *
   * @param failure what the log says when that fails
   * @throws ConnectError Unavailable (as a rejection) when it fails, or is not tried
   */
  async sign(card: AgentCard, baseUrl: string, failure: string): Promise<AgentCard> {
    this.#assertTried();
    if (this.#signings < maxSignings) {
      this.#signings += 1;
    } else if (this.#waiting.length < maxWaiting) {
      await new Promise<void>((begin) => this.#waiting.push(begin)); // the end of another hands its place on
    } else {
      throw this.#unavailable();
    }
    try {
      this.#assertTried(); // signing may have failed while this card waited
      return await this.#try(card, baseUrl, failure);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#signings -= 1;
      else next();
    }
  }

  /** The card, signed without waiting for others, as a trial. @throws Error (as a rejection) saying why not */
  signNow(card: AgentCard, baseUrl: string): Promise<AgentCard> {
    const late = new Error(`signing a card took longer than ${signTimeoutMs} ms`);
    return this.#within(signTimeoutMs, this.keys.sign(card, baseUrl), undefined, late);
  }

  /**
   * What a signing that is under way comes to. It goes on when the caller does not wait for it.
   *
   * @param signal aborts when the caller is gone
   * @param limitMs how long the caller waits; 0 or less: it has to be there already. Undefined: without end
   * @throws ConnectError Unavailable (as a rejection) when the caller waits no longer, or the signing fails
   */
  wait<T>(signing: Promise<T>, signal?: AbortSignal, limitMs?: number): Promise<T> {
    return this.#within(limitMs, signing, signal, this.#unavailable());
  }

  async #try(card: AgentCard, baseUrl: string, failure: string): Promise<AgentCard> {
    const { clock, log } = this.#options;
    const begun = clock.ticks();
    try {
      const signed = await this.signNow(card, baseUrl);
      this.#pause = undefined;
      return signed;
    } catch (error) {
      log({ level: "error", message: failure, error });
      // Those that were under way together fail together.
      if (this.#pause === undefined || begun > this.#pause.since) {
        const ms = this.#pause === undefined ? firstPauseMs : Math.min(2 * this.#pause.ms, longestPauseMs);
        this.#pause = { since: clock.ticks(), ms };
      }
      throw this.#unavailable();
    }
  }

  /** @param late what is thrown when it takes too long, or the caller is gone */
  async #within<T>(
    limitMs: number | undefined,
    work: Promise<T>,
    signal: AbortSignal | undefined,
    late: Error,
  ): Promise<T> {
    const over = new AbortController();
    const giveUp = () => over.abort(late);
    if (signal?.aborted === true || (limitMs !== undefined && limitMs <= 0)) giveUp();
    signal?.addEventListener("abort", giveUp, { once: true });
    const schedule = (ms: number) => this.#options.clock.schedule(ms, giveUp, { background: true });
    const cancel = limitMs === undefined ? undefined : schedule(limitMs);
    try {
      return await untilAborted(work, over.signal);
    } finally {
      cancel?.();
      signal?.removeEventListener("abort", giveUp);
    }
  }

  #assertTried(): void {
    if (this.#pause !== undefined && this.#options.clock.ticks() < this.#pause.since + this.#pause.ms) {
      throw this.#unavailable();
    }
  }

  /** What callers are told who wait in vain, and when to come back. */
  #unavailable(): ConnectError {
    const now = this.#options.clock.ticks();
    const { since, ms } = this.#pause ?? { since: now, ms: firstPauseMs };
    const seconds = Math.max(1, Math.ceil((since + ms - now) / 1_000));
    const message = "the agent card cannot be signed at the moment; try again later";
    return new ConnectError(message, Code.Unavailable, { "retry-after": String(seconds) });
  }
}
