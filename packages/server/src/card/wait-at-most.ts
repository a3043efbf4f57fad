import type { Clock } from "../engine/clock.ts";

/** How long to wait. */
export interface Patience {
  readonly clock: Pick<Clock, "schedule">;
  /** Milliseconds; 0 or less: only for what is there already. Undefined: until it comes. */
  readonly limitMs: number | undefined;
  /** Whoever waits is gone when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** Makes what is thrown when it is over. */
  readonly late: () => Error;
}

/** What `work` comes to, if it does in time. Otherwise it goes on, and nobody hears what becomes of it. */
export async function waitAtMost<T>(
  work: Promise<T>,
  { clock, limitMs, signal, late }: Patience,
): Promise<T> {
  const over = Promise.withResolvers<never>();
  const giveUp = () => over.reject(late());
  if (signal?.aborted === true || (limitMs !== undefined && limitMs <= 0)) {
    giveUp();
  }
  const cancel =
    limitMs === undefined || limitMs <= 0 ? undefined : clock.schedule(limitMs, giveUp, { background: true });
  signal?.addEventListener("abort", giveUp, { once: true });
  try {
    return await Promise.race([work, over.promise]);
  } finally {
    cancel?.();
    signal?.removeEventListener("abort", giveUp);
  }
}
