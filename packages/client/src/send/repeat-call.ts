import { ConnectError } from "@connectrpc/connect";
import type { ClientSettings } from "../connection.ts";
import { backoffMs } from "../follow/backoff.ts";
import { isTransient } from "../follow/verdict.ts";

/**
 * Makes a call that may be repeated, again while it fails for a reason that may pass. A server's `Retry-After` is heeded up
 * to the longest wait.
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
      const asked = retryAfterMs(error) ?? 0;
      await clock.sleep(
        Math.min(retry.maxDelayMs, Math.max(asked, backoffMs(attempt, retry, clock))),
        signal,
      );
    }
  }
}

function retryAfterMs(error: unknown): number | undefined {
  const value = error instanceof ConnectError ? error.metadata.get("retry-after") : null;
  return value !== null && /^\d{1,6}$/.test(value) ? Number(value) * 1_000 : undefined;
}
