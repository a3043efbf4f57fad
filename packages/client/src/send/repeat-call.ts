import type { ClientSettings } from "../connection.ts";
import { retryDelayMs } from "../follow/retry-delay.ts";
import { isTransient } from "../follow/verdict.ts";

/**
 * Makes a call that may be repeated, again while it fails for a reason that may pass. A time to come again
 * that the server names is heeded up to the longest wait.
 *
 * @param until `attempts`: `retry.attempts` times in all; `time`: for as long as a followed task may be out of reach
 * @throws what the last attempt threw
 */
export async function repeatCall<T>(
  call: (attempt: number) => Promise<T>,
  { clock, retry }: Pick<ClientSettings, "clock" | "retry">,
  signal: AbortSignal,
  until: "attempts" | "time" = "attempts",
): Promise<T> {
  const began = clock.now();
  const isEnough = (attempt: number) =>
    until === "attempts" ? attempt >= retry.attempts : clock.now() - began >= retry.giveUpAfterMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await call(attempt);
    } catch (error) {
      signal.throwIfAborted();
      if (isEnough(attempt) || !isTransient(error)) {
        throw error;
      }
      await clock.sleep(retryDelayMs(attempt, error, retry, clock), signal);
    }
  }
}
