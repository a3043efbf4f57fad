/** Time as the engine sees it, so that tests can hold it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs `callback` once after `delayMs`, unless the returned function is called before. Never keeps a process alive. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(delayMs, callback) {
    // A longer delay would overflow to 1 ms; whoever wakes early looks at the clock and sleeps again.
    const timer: unknown = setTimeout(callback, Math.min(delayMs, maxDelayMs));
    if (isUnrefable(timer)) {
      timer.unref();
    }
    return () => clearTimeout(timer as Parameters<typeof clearTimeout>[0]); // it came from setTimeout
  },
};

const maxDelayMs = 2 ** 31 - 1;

/** Node's timers hold the process; those of other runtimes are numbers. */
function isUnrefable(timer: unknown): timer is { unref(): void } {
  return typeof timer === "object" && timer !== null && "unref" in timer && typeof timer.unref === "function";
}
