import { setTimeout as delay } from "node:timers/promises";

/** Waits `ms` milliseconds, and no longer than until `signal` aborts: then it throws the signal's reason. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}
