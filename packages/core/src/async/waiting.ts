import type { Timer } from "./timer.ts";

/**
 * The promise, or the rejection of an abort that comes first. What the promise stands for need not react to the signal,
 * and goes on.
 */
export async function untilAborted<T>(
  promise: T | PromiseLike<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (signal === undefined) {
    return promise;
  }
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Resolves after a while, or when the signal aborts. */
export function pause(delayMs: number, timer: Timer, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = timer(delayMs, finish);
    signal.addEventListener("abort", finish, { once: true });
    function finish(): void {
      stop();
      signal.removeEventListener("abort", finish);
      resolve();
    }
  });
}

/** Waits for all of them, also when some fail. @throws the error of the first that failed */
export async function settleAll(ends: readonly (Promise<unknown> | undefined)[]): Promise<void> {
  const failed = (await Promise.allSettled(ends)).find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") {
    throw failed.reason;
  }
}
