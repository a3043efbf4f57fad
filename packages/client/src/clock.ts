import { longestTimerMs } from "@a2a-connect/core/internal";

/** The clock of the client. Tests use one of their own. */
export interface ClientClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`, never for Infinity; rejects with the signal's reason when that aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** From 0 to below 1, for jitter. */
  random(): number;
}

/** The platform's clock. */
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
