import { untilAborted } from "@a2a-connect/core/internal";
import type { ClientClock } from "../clock.ts";

/** Thrown when the time is up. */
export class TimeIsUp extends Error {
  override readonly name = "TimeIsUp";
}

/**
 * Runs a function for at most `ms`. When the time is up or the caller's signal aborts, the function's signal aborts,
 * and the call does not wait for it any longer.
 *
 * @throws TimeIsUp, or the reason of the caller's signal
 */
export async function withinTime<T>(
  ms: number,
  clock: ClientClock,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const done = new AbortController();
  const limit = new AbortController();
  const stop = AbortSignal.any([signal, limit.signal]);
  clock.sleep(ms, done.signal).then(
    () => limit.abort(new TimeIsUp(`not done within ${ms} ms`)),
    () => {}, // it ended in time
  );
  try {
    return await untilAborted(run(stop), stop);
  } finally {
    done.abort();
  }
}
