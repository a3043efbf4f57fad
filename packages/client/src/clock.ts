/** Time, as the client needs it. Tests give their own. */
export interface ClientClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`, never for Infinity; rejects with the signal's reason when it is aborted before. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** From 0 to below 1, for jitter. */
  random(): number;
}

/** The platform's time. */
export const systemClock: ClientClock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    let left = ms;
    for (; left > longestTimerMs; left -= longestTimerMs) {
      await sleepOnce(longestTimerMs, signal);
    }
    await sleepOnce(left, signal);
  },
  random: () => Math.random(),
};

/** A timer that is set for longer goes off at once. */
const longestTimerMs = 2 ** 31 - 1;

function sleepOnce(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
