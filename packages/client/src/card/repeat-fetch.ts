import { backoffMs } from "../calls/retry-delay.ts";
import type { ClientSettings } from "../settings.ts";
import { type CardAnswer, type CardRequest, fetchCard } from "./fetch-card.ts";

/** Any result other than a failed server. */
export type LastingAnswer = Exclude<CardAnswer, { readonly kind: "failed" }>;

/**
 * `fetchCard`, repeated while the server fails: at most `retry.attempts` times, as long as the next attempt would begin
 * before `deadlineMs`. It follows a `Retry-After` up to the longest wait.
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
