import type { Clock } from "./clock.ts";

/** How long an executor may yield nothing, unless its agent says otherwise. */
export const defaultInactivityTimeoutMs = 1_800_000;

/**
 * Notices when an executor has not been heard of for too long. One timer: when it rings, it looks when that was.
 * It goes by ticks: a clock that somebody sets is no silence.
 */
export class SilenceWatch {
  readonly #clock: Clock;
  readonly #limitMs: number | false;
  readonly #onSilence: () => void;
  #heardAt: number;
  #cancelTimer: () => void = () => {};

  constructor(clock: Clock, limitMs: number | false | undefined, onSilence: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs ?? defaultInactivityTimeoutMs;
    this.#onSilence = onSilence;
    this.#heardAt = clock.ticks();
  }

  /** The executor has given a sign of life. */
  heard(): void {
    this.#heardAt = this.#clock.ticks();
  }

  /** Begins to watch; the time before does not count. */
  start(): void {
    this.heard();
    this.watch();
  }

  /** Watches on, counting from when the executor was last heard of. */
  watch(): void {
    this.stop();
    if (this.#limitMs === false) {
      return;
    }
    const leftMs = this.#heardAt + this.#limitMs - this.#clock.ticks();
    if (leftMs <= 0) {
      this.#onSilence();
    } else {
      this.#cancelTimer = this.#clock.schedule(leftMs, () => this.watch());
    }
  }

  stop(): void {
    this.#cancelTimer();
    this.#cancelTimer = () => {};
  }
}
