/** Shortest interval that common guidance allows. */
export const recommendedPollMs = 2_000;

const longestPollMs = 30_000;
const patience = 10;

/**
 * When to poll a task next: after the interval; after ten answers without a change, twice as late each time, up to 30
 * s. A change sets it back to the interval.
 */
export class PollSchedule {
  readonly #intervalMs: number;
  #unchanged = 0;

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  /** Something happened: the next waits are short again. */
  reset(): void {
    this.#unchanged = 0;
  }

  /** The wait after an answer. */
  next(changed: boolean): number {
    this.#unchanged = changed ? 0 : this.#unchanged + 1;
    const doublings = Math.max(0, this.#unchanged - patience);
    const longest = Math.max(longestPollMs, this.#intervalMs);
    return Math.min(longest, this.#intervalMs * 2 ** Math.min(doublings, 30));
  }
}

/** The interval: at least the recommended one, unless the caller insists. */
export function choosePollInterval(
  { pollIntervalMs = recommendedPollMs, allowFastPolling = false }: PollOptions,
  onWarning: (warning: string) => void,
): number {
  if (pollIntervalMs >= recommendedPollMs) {
    return pollIntervalMs;
  }
  onWarning(
    allowFastPolling
      ? `Polling every ${pollIntervalMs} ms, below the recommended ${recommendedPollMs} ms.`
      : `Polling every ${recommendedPollMs} ms: ${pollIntervalMs} ms is below it (allowFastPolling permits that).`,
  );
  return allowFastPolling ? pollIntervalMs : recommendedPollMs;
}

/** The caller's options for polling. */
export interface PollOptions {
  readonly pollIntervalMs?: number;
  readonly allowFastPolling?: boolean;
}
