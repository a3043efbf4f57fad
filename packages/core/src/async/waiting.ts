/** The longest delay of a timer, in milliseconds. A longer one would fire at once. */
export const longestTimerMs: number = 2 ** 31 - 1;

/** Calls `tick` once after `delayMs`, unless the returned function is called first. */
export type Timer = (delayMs: number, tick: () => void) => () => void;

/** The platform's timer. It does not keep a process alive. */
export const startTimer: Timer = (delayMs, tick) => {
  const handle = setTimeout(tick, delayMs);
  (handle as { readonly unref?: () => void }).unref?.(); // Node, Bun and Deno have it, and browsers need none
  return () => clearTimeout(handle);
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
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([aborted, promise]); // which hears of a failure that comes later
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/**
 * Runs a function for at most `ms`. When the time is over, or the caller's signal aborts, the function's signal aborts,
 * and the call waits for the function no longer.
 *
 * @param late what is thrown when the time is over
 * @param timer Default: the platform's, which keeps a process alive
 * @throws `late`, the reason of the caller's signal, or what the function throws before that
 */
export async function withinTime<T>(
  ms: number,
  late: Error,
  run: (signal: AbortSignal) => Promise<T>,
  {
    signal,
    timer = platformTimer,
  }: { readonly signal?: AbortSignal | undefined; readonly timer?: Timer } = {},
): Promise<T> {
  signal?.throwIfAborted();
  const limit = new AbortController();
  const stopTimer = timer(ms, () => limit.abort(late));
  const stop = signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]);
  try {
    return await untilAborted(run(stop), stop);
  } catch (error) {
    stop.throwIfAborted(); // the function may have thrown something else because of it
    throw error;
  } finally {
    stopTimer();
  }
}

const platformTimer: Timer = (delayMs, tick) => {
  const handle = setTimeout(tick, delayMs);
  return () => clearTimeout(handle);
};

/** Resolves after a while, or when the signal aborts; at once, when it has aborted before. */
export function pause(delayMs: number, timer: Timer, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
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

const { process } = globalThis as {
  readonly process?: { readonly nextTick?: (task: () => void) => void };
};

/**
 * Runs a task when code that has just been resumed has done what it does at once: after all microtasks, but in the same turn of the event
 * loop. Runtimes without Node's `nextTick` run it with the microtasks.
 */
export function afterMicrotasks(task: () => void): void {
  const nextTick = process?.nextTick;
  queueMicrotask(nextTick === undefined ? task : () => nextTick(task));
}

/** Node, Bun and Deno have it, which is not a web standard; elsewhere a timer of at least a millisecond comes nearest. */
const { setImmediate = (task: () => void) => setTimeout(task, 0) } = globalThis as {
  readonly setImmediate?: (task: () => void) => unknown;
};

/** Runs a task at the end of this turn of the event loop. A test that replaces `setImmediate` does not change this. */
export function afterTurn(task: () => void): void {
  setImmediate(task);
}

const watches = new Set<object>();

/**
 * Tells whether the next turns of the event loop are for new connections alone. Node accepts one in a turn, so where hundreds wait,
 * one behind them waits for as many turns: these must be short, and long work rests in them. They end soon.
 *
 * @param watch what has decided it
 */
export function setAccepting(watch: object, isAccepting: boolean): void {
  if (isAccepting) watches.add(watch);
  else watches.delete(watch);
}

/** Whether this turn is for new connections alone. */
export function isAccepting(): boolean {
  return watches.size > 0;
}
