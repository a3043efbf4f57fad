import type { AgentCard } from "@a2a-connect/proto";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Clock } from "../engine/clock.ts";
import type { LogRecord } from "../engine/engine-context.ts";
import type { OpenSigning } from "./open-signing.ts";
import { waitAtMost } from "./wait-at-most.ts";
import { WorkLimit } from "./work-limit.ts";

/** What signing works with. */
export interface SigningContext {
  readonly clock: Pick<Clock, "ticks" | "schedule">;
  readonly log: (record: LogRecord) => void;
}

/** How many cards are being signed at a time: callers choose the hosts where a pattern allows many. */
const maxSignings = 4;

/** How many more may wait to be. */
const maxWaiting = 1_000;

/** How long signing one card may take, in milliseconds. */
const signTimeoutMs = 10_000;

/** How long signing is not tried after a failure, in milliseconds; twice as long after each further one. */
const firstPauseMs = 5_000;
const longestPauseMs = 60_000;

/** A time in which signing is not tried, because it has just failed. */
interface Pause {
  readonly of: OpenSigning;
  readonly since: number;
  readonly ms: number;
}

/** Signs cards: a few at a time, none for ever, and after a failure not again for a while. */
export class SigningAttempts {
  readonly #context: SigningContext;
  readonly #limit = new WorkLimit(maxSignings);
  #pause: Pause | undefined;

  constructor(context: SigningContext) {
    this.#context = context;
  }

  /**
   * The card, signed.
   *
   * @param failure what the log says when that fails
   * @throws ConnectError Unavailable (as a rejection) when it fails, or is not tried
   */
  async sign(signing: OpenSigning, card: AgentCard, baseUrl: string, failure: string): Promise<AgentCard> {
    this.#assertTried(signing);
    if (this.#limit.waiting >= maxWaiting) {
      throw this.unavailable();
    }
    return this.#limit.run(async () => {
      this.#assertTried(signing); // it may have failed meanwhile
      const begun = this.#context.clock.ticks();
      try {
        const signed = await this.signInTime(signing, card, baseUrl);
        this.#pause = undefined;
        return signed;
      } catch (error) {
        this.#context.log({ level: "error", message: failure, error });
        this.#pauseAfter(signing, begun);
        throw this.unavailable();
      }
    });
  }

  /** The card, signed at once, as a trial. @throws Error (as a rejection) saying why not */
  signInTime(signing: OpenSigning, card: AgentCard, baseUrl: string): Promise<AgentCard> {
    return waitAtMost(signing.sign(card, baseUrl), {
      clock: this.#context.clock,
      limitMs: signTimeoutMs,
      late: () => new Error(`signing a card took longer than ${signTimeoutMs} ms`),
    });
  }

  /** What callers are told who wait in vain, and when to come back. */
  unavailable(): ConnectError {
    const { since, ms } = this.#pause ?? { since: this.#context.clock.ticks(), ms: firstPauseMs };
    const seconds = Math.ceil((since + ms - this.#context.clock.ticks()) / 1_000);
    return new ConnectError(
      "the agent card cannot be signed at the moment; try again later",
      Code.Unavailable,
      { "retry-after": String(Math.max(1, seconds)) },
    );
  }

  #assertTried(signing: OpenSigning): void {
    const pause = this.#pause;
    if (pause?.of === signing && this.#context.clock.ticks() < pause.since + pause.ms) {
      throw this.unavailable();
    }
  }

  #pauseAfter(signing: OpenSigning, begun: number): void {
    const last = this.#pause?.of === signing ? this.#pause : undefined;
    if (last !== undefined && begun <= last.since) {
      return; // those that were under way together fail together
    }
    const ms = last === undefined ? firstPauseMs : Math.min(2 * last.ms, longestPauseMs);
    this.#pause = { of: signing, since: this.#context.clock.ticks(), ms };
  }
}
