import type { Clock } from "../engine/clock.ts";
import type { Notification } from "./notification.ts";
import type { PushFetch } from "./push-options.ts";

/** What a webhook did with a notification. */
export type PostOutcome =
  /** It answered 2xx. */
  | { readonly kind: "taken" }
  /** `problem` ends the sentence "a webhook …" and has nothing private in it. */
  | { readonly kind: "failed"; readonly problem: string }
  /** `signal` aborted before it answered. */
  | { readonly kind: "stopped" };

/** With what, and how long, it is sent. */
export interface PostSettings {
  readonly fetch: PushFetch;
  readonly timeoutMs: number;
  readonly clock: Pick<Clock, "schedule">;
  readonly signal: AbortSignal;
}

/** Longer answers are cut off, and their connection with them. */
const maxAnswerBytes = 16_384;

/**
 * POSTs a notification once. Redirects are not followed: they would lead past the check of the address, and take the
 * credentials along (requirement N-6).
 */
export async function postNotification(
  url: string,
  { headers, body }: Notification,
  { fetch, timeoutMs, clock, signal }: PostSettings,
): Promise<PostOutcome> {
  const timeout = new AbortController();
  const cancelTimeout = clock.schedule(timeoutMs, () => timeout.abort());
  try {
    const response = await fetch(url, {
      method: "POST",
      headers,
      body,
      redirect: "manual",
      signal: AbortSignal.any([signal, timeout.signal]),
    });
    const { ok, status } = response;
    await discardAnswer(response.body);
    // A platform that hides redirects says 0.
    return ok ? { kind: "taken" } : { kind: "failed", problem: `answered ${status === 0 ? "3xx" : status}` };
  } catch (error) {
    if (signal.aborted) {
      return { kind: "stopped" };
    }
    const problem = timeout.signal.aborted
      ? `did not answer within ${timeoutMs} ms`
      : `could not be reached${causeOf(error)}`;
    return { kind: "failed", problem };
  } finally {
    cancelTimeout();
  }
}

/** Reads the answer to its end, so that the connection can be used again. Only its status counted. */
async function discardAnswer(body: ReadableStream<Uint8Array> | null): Promise<void> {
  const reader = body?.getReader();
  try {
    for (let bytes = 0; reader !== undefined && bytes <= maxAnswerBytes; ) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      bytes += value.length;
    }
    await reader?.cancel();
  } catch {
    // It has broken off, or takes too long: the connection is gone either way.
  }
}

/** The platform's word for it, such as ECONNREFUSED. Messages of errors may have the URL in them, and secrets in that. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : undefined;
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return typeof code === "string" && /^[A-Z][A-Z0-9_]*$/.test(code) ? ` (${code})` : "";
}
