import { ConnectError } from "@connectrpc/connect";
import type { ClientSettings } from "../connection.ts";
import { backoffMs } from "../follow/backoff.ts";
import { isTransient } from "../follow/verdict.ts";

/**
 * Makes a call that may be repeated, again while it fails for a reason that may pass: `retry.attempts` times in all. A
 * server's `Retry-After` is heeded up to the longest wait.
 *
 * @throws what the last attempt threw
 */
export async function repeatCall<T>(
  call: () => Promise<T>,
  { clock, retry }: Pick<ClientSettings, "clock" | "retry">,
  signal: AbortSignal,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      signal.throwIfAborted();
      if (attempt >= retry.attempts || !isTransient(error)) {
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
