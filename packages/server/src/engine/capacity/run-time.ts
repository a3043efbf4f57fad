/** The weight of the newest run: after ten runs of another length the average has mostly adapted. */
const weight = 0.2;

/** Assumed before any run has ended. */
const assumedMs = 1_000;

/** The longest that a caller is told to wait before it tries again. */
const maxRetrySeconds = 3_600;

/** How long recent runs took: a moving average. */
export class RunTime {
  #averageMs: number | undefined;

  /** A run has ended. If the clock was set back meanwhile, it counts as a short one. */
  note(elapsedMs: number): void {
    const ms = Math.max(0, elapsedMs);
    this.#averageMs = this.#averageMs === undefined ? ms : this.#averageMs + weight * (ms - this.#averageMs);
  }

  /**
   * An estimate of when work behind `waiting` others would begin, if `places` of them run at a time: in whole seconds,
   * from 1 to 3,600 (docs/extensions/lifecycle.md).
   */
  retryAfterSeconds(waiting: number, places: number): number {
    const ms = ((this.#averageMs ?? assumedMs) * (waiting + 1)) / places;
    return Math.min(maxRetrySeconds, Math.max(1, Math.ceil(ms / 1_000)));
  }
}
