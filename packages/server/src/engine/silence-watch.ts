import type { Clock } from "./clock.ts";

/** How long an executor may yield nothing by default. */
export const defaultInactivityTimeoutMs = 1_800_000;

/**
 * Detects an executor that was silent for too long. It has one timer. When that fires, it looks when the executor last
 * yielded. It uses a clock that is never set, so that setting the time of day does not look like silence.
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

  /** The executor has yielded. */
  heard(): void {
    this.#heardAt = this.#clock.ticks();
  }

  /** Begins to watch; earlier time does not count. */
  start(): void {
    this.heard();
    this.watch();
  }

  /** Watches on, counting from the executor's last event. */
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
