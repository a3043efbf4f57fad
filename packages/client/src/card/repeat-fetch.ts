import type { ClientSettings } from "../connection.ts";
import { backoffMs } from "../follow/backoff.ts";
import { type CardAnswer, type CardRequest, fetchCard } from "./fetch-card.ts";

/** Any answer but that the server is out of order. */
export type LastingAnswer = Exclude<CardAnswer, { readonly kind: "failed" }>;

/**
 * `fetchCard`, again while the server is out of order: `retry.attempts` times in all, as long as the next attempt would begin
 * before `deadlineMs`. A `Retry-After` is heeded up to the longest wait.
 *
 * @throws CardNotFoundError of the last attempt; otherwise as `fetchCard`
 */
export async function fetchCardRepeatedly(
  request: CardRequest,
  deadlineMs: number,
  { clock, retry }: Pick<ClientSettings, "clock" | "retry">,
): Promise<LastingAnswer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await fetchCard(request);
    if (answer.kind !== "failed") {
      return answer;
    }
    const waitMs = Math.min(
      retry.maxDelayMs,
      Math.max(answer.retryAfterMs, backoffMs(attempt, retry, clock)),
    );
    if (attempt >= retry.attempts || clock.now() + waitMs >= deadlineMs) {
      throw answer.error;
    }
    await clock.sleep(waitMs, request.signal);
  }
}
