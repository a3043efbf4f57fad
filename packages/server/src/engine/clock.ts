/** Time as the engine sees it, so that tests can hold it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs `callback` once after `delayMs`, unless the returned function is called before. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** The machine's clock. A timer holds the process until it has rung or was taken back. */
export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(delayMs, callback) {
    // A longer delay would overflow to 1 ms; whoever wakes early looks at the clock and sleeps again.
    const timer = setTimeout(callback, Math.min(delayMs, maxDelayMs));
    return () => clearTimeout(timer);
  },
};

const maxDelayMs = 2 ** 31 - 1;
