import type { ClientSettings } from "../settings.ts";
import { isTransient } from "./failures.ts";
import { retryDelayMs } from "./retry-delay.ts";

/**
 * Makes a call that may be repeated, again while it fails for a temporary reason. When the server names a time to try
 * again, the call waits for it, up to the longest wait.
 *
 * @param until `attempts`: at most `retry.attempts` times; `time`: as long as a followed task may be unreachable
 * @throws the error of the last attempt
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
