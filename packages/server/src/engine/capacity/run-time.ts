/** How much the newest run counts: after ten runs of another length the average has followed most of the way. */
const weight = 0.2;

/** What is assumed before any run has ended. */
const assumedMs = 1_000;

/** The longest that a caller is told to wait before it tries again. */
const maxRetrySeconds = 3_600;

/** How long runs took lately: a moving average. */
export class RunTime {
  #averageMs: number | undefined;

  /** A run has ended. A clock that was put back meanwhile makes it a short one. */
  note(elapsedMs: number): void {
    const ms = Math.max(0, elapsedMs);
    this.#averageMs = this.#averageMs === undefined ? ms : this.#averageMs + weight * (ms - this.#averageMs);
  }

  /**
   * About when work that came behind `waiting` others would begin, where `places` run at a time: in whole seconds, from
   * 1 to 3,600 (docs/extensions/lifecycle.md).
   */
  retryAfterSeconds(waiting: number, places: number): number {
    const ms = ((this.#averageMs ?? assumedMs) * (waiting + 1)) / places;
    return Math.min(maxRetrySeconds, Math.max(1, Math.ceil(ms / 1_000)));
  }
}
