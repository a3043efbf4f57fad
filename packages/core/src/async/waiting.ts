/** The longest delay of a timer, in milliseconds. A longer one would fire at once. */
export const longestTimerMs: number = 2 ** 31 - 1;

/** Calls `tick` once after `delayMs`, unless the returned function is called first. */
export type Timer = (delayMs: number, tick: () => void) => () => void;

/** The platform's timer. It does not keep a process alive. */
export const startTimer: Timer = (delayMs, tick) => {
  const handle: unknown = setTimeout(tick, delayMs);
  // Node gives an object that can be unref'ed, browsers and workers a number.
  if (
    typeof handle === "object" &&
    handle !== null &&
    "unref" in handle &&
    typeof handle.unref === "function"
  ) {
    handle.unref();
  }
  return () => clearTimeout(handle as ReturnType<typeof setTimeout>); // what setTimeout gave us
};

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
