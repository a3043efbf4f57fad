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

/** A time in which these keys are not asked, because signing with them has just failed. */
interface Pause {
  readonly keys: SigningKeys;
  readonly since: number;
  readonly ms: number;
}

/** How long a caller waits for a card. */
export interface Patience {
  /** Milliseconds; 0 or less: the card has to be there already. Undefined: without end. */
  readonly limitMs?: number | undefined;
  /** Aborts when the caller is gone. */
  readonly signal?: AbortSignal | undefined;
}

/** Signs cards: a few at a time, none for ever, and after a failure not again for a while. */
export class SigningQueue {
  readonly #clock: Pick<Clock, "ticks" | "schedule">;
  readonly #log: (record: LogRecord) => void;
  /** Begins those that wait, oldest first. */
  readonly #waiting: (() => void)[] = [];
  #signings = 0;
  #pause: Pause | undefined;

  constructor({
    clock,
    log,
  }: { clock: Pick<Clock, "ticks" | "schedule">; log: (record: LogRecord) => void }) {
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * The card, signed.
   *
   * @param failure what the log says when that fails
   * @throws ConnectError Unavailable (as a rejection) when it fails, or is not tried
   */
  async sign(keys: SigningKeys, card: AgentCard, baseUrl: string, failure: string): Promise<AgentCard> {
    this.#assertTried(keys);
    await this.#begin();
    try {
      this.#assertTried(keys); // signing may have failed while this card waited
      const begun = this.#clock.ticks();
      try {
        const signed = await this.signNow(keys, card, baseUrl);
        this.#pause = undefined;
        return signed;
      } catch (error) {
        this.#log({ level: "error", message: failure, error });
        this.#pauseAfter(keys, begun);
        throw this.#unavailable();
      }
    } finally {
      this.#end();
    }
  }

  /** The card, signed without waiting for others, as a trial. @throws Error (as a rejection) saying why not */
  signNow(keys: SigningKeys, card: AgentCard, baseUrl: string): Promise<AgentCard> {
    const late = () => new Error(`signing a card took longer than ${signTimeoutMs} ms`);
    return this.#within(keys.sign(card, baseUrl), { limitMs: signTimeoutMs }, late);
  }

  /**
   * What a signing that is under way comes to. It goes on when the caller does not wait for it.
   *
   * @throws ConnectError Unavailable (as a rejection) when the caller's patience is over, or the signing fails
   */
  wait<T>(signing: Promise<T>, patience: Patience): Promise<T> {
    return this.#within(signing, patience, () => this.#unavailable());
  }

  async #within<T>(work: Promise<T>, { limitMs, signal }: Patience, late: () => Error): Promise<T> {
    const over = Promise.withResolvers<never>();
    const giveUp = () => over.reject(late());
    if (signal?.aborted === true || (limitMs !== undefined && limitMs <= 0)) {
      giveUp();
    }
    const cancel =
      limitMs === undefined || limitMs <= 0
        ? undefined
        : this.#clock.schedule(limitMs, giveUp, { background: true });
    signal?.addEventListener("abort", giveUp, { once: true });
    try {
      return await Promise.race([work, over.promise]);
    } finally {
      cancel?.();
      signal?.removeEventListener("abort", giveUp);
    }
  }

  /** Waits for a place; the end of another signing hands its place on. */
  async #begin(): Promise<void> {
    if (this.#signings < maxSignings) {
      this.#signings += 1;
      return;
    }
    if (this.#waiting.length >= maxWaiting) {
      throw this.#unavailable();
    }
    await new Promise<void>((begin) => this.#waiting.push(begin));
  }

  #end(): void {
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#signings -= 1;
    } else {
      next();
    }
  }

  /** What callers are told who wait in vain, and when to come back. */
  #unavailable(): ConnectError {
    const { since, ms } = this.#pause ?? { since: this.#clock.ticks(), ms: firstPauseMs };
    const seconds = Math.max(1, Math.ceil((since + ms - this.#clock.ticks()) / 1_000));
    const message = "the agent card cannot be signed at the moment; try again later";
    return new ConnectError(message, Code.Unavailable, { "retry-after": String(seconds) });
  }

  #assertTried(keys: SigningKeys): void {
    const pause = this.#pause;
    if (pause?.keys === keys && this.#clock.ticks() < pause.since + pause.ms) {
      throw this.#unavailable();
    }
  }

  #pauseAfter(keys: SigningKeys, begun: number): void {
    const last = this.#pause?.keys === keys ? this.#pause : undefined;
    if (last !== undefined && begun <= last.since) {
      return; // those that were under way together fail together
    }
    const ms = last === undefined ? firstPauseMs : Math.min(2 * last.ms, longestPauseMs);
    this.#pause = { keys, since: this.#clock.ticks(), ms };
  }
}
