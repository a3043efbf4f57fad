import { ReadTurns, type Timer, untilAborted, withinTime } from "@a2a-connect/core/internal";
import type { AgentCard } from "@a2a-connect/proto";
import { canonicalCard } from "@a2a-connect/signing";
import { Code, ConnectError } from "@connectrpc/connect";
import { MadeOnce } from "../documents/made-once.ts";
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

/** How many cards are kept for `signOnce`: those asked for last. */
const maxKept = 64;

/** What a queue works with. */
export interface SigningQueueOptions {
  readonly clock: Pick<Clock, "ticks" | "schedule">;
  readonly log: (record: LogRecord) => void;
}

/** Signs cards with the same keys: a few at a time, none for ever, and after a failure not again for a while. */
export class SigningQueue {
  readonly keys: SigningKeys;
  readonly #options: SigningQueueOptions;
  readonly #turns = new ReadTurns(maxSignings);
  readonly #kept = new MadeOnce<AgentCard>(maxKept);
  /** What tells a card from others, made once for each object. */
  readonly #ids = new WeakMap<AgentCard, string>();
  /** How many are being signed, or wait for that. */
  #open = 0;
  /** The time after the last failure, in ticks of the clock, in which signing is not tried. Undefined when the last one succeeded. */
  #pause: { readonly since: number; readonly ms: number } | undefined;

  constructor(keys: SigningKeys, options: SigningQueueOptions) {
    this.keys = keys;
    this.#options = options;
  }

  /** What the keys sign. @throws ConnectError Unavailable (as a rejection) when it fails, or is not tried */
  async sign<Card>(make: (keys: SigningKeys) => Promise<Card>): Promise<Card> {
    this.#assertTried();
    if (this.#open === maxSignings + maxWaiting) throw this.#unavailable();
    this.#open += 1;
    try {
      return await this.#turns.run({ share: undefined }, () => this.#try(make));
    } finally {
      this.#open -= 1;
    }
  }

  /**
   * The card, as `sign`; the same card gets the same signatures for as long as they are kept.
   *
   * @param card does not change, and is for this base URL alone
   */
  signOnce(card: AgentCard, baseUrl: string): Promise<AgentCard> {
    const id = this.#ids.get(card) ?? JSON.stringify([baseUrl, canonicalCard(card)]);
    this.#ids.set(card, id);
    return this.#kept.find(id, id, () => this.sign((keys) => keys.sign(card, baseUrl)));
  }

  /** What the keys sign, without waiting for others, as a trial. @throws Error (as a rejection) saying why not */
  signNow<Card>(make: (keys: SigningKeys) => Promise<Card>): Promise<Card> {
    return within(this.#options.clock, signTimeoutMs, make(this.keys));
  }

  /** What is being signed. @throws ConnectError Unavailable (as a rejection) when the caller is gone */
  async wait<T>(signing: Promise<T>, signal?: AbortSignal): Promise<T> {
    signing.catch(() => {}); // a caller that is gone does not hear of it
    try {
      return await untilAborted(signing, signal);
    } catch (error) {
      throw signal?.aborted === true ? this.#unavailable() : error;
    }
  }

  async #try<Card>(make: (keys: SigningKeys) => Promise<Card>): Promise<Card> {
    this.#assertTried(); // signing may have failed while this card waited
    const { clock, log } = this.#options;
    const begun = clock.ticks();
    try {
      const signed = await this.signNow(make);
      this.#pause = undefined;
      return signed;
    } catch (error) {
      log({
        level: "error",
        message: "an agent card could not be signed; one that was signed before stays",
        error,
      });
      // Those that were under way together fail together.
      if (this.#pause === undefined || begun > this.#pause.since) {
        const ms = this.#pause === undefined ? firstPauseMs : Math.min(2 * this.#pause.ms, longestPauseMs);
        this.#pause = { since: clock.ticks(), ms };
      }
      throw this.#unavailable();
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

/** What signing gives. @throws Error (as a rejection) when it takes longer than that; it goes on */
export function within<T>(clock: Pick<Clock, "schedule">, limitMs: number, signing: Promise<T>): Promise<T> {
  const late = new Error(`signing a card took longer than ${limitMs} ms`);
  const timer: Timer = (ms, tick) => clock.schedule(ms, tick, { background: true });
  return withinTime(limitMs, late, () => signing, { timer });
}
