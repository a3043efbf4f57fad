import { nextSlice } from "@a2a-connect/bindings/server";
import { chunksOf, readAtMost } from "@a2a-connect/core/internal";
import type { Clock } from "../engine/clock.ts";
import type { Notification } from "./notification.ts";
import type { PushFetch } from "./push-options.ts";

/** A webhook's response to a notification. */
export type PostOutcome =
  /** It answered 2xx. */
  | { readonly kind: "taken" }
  /** `problem` ends the sentence "a webhook …" and contains nothing private. */
  | { readonly kind: "failed"; readonly problem: string }
  /** `signal` aborted before it answered. */
  | { readonly kind: "stopped" };

/** How to send it, and for how long. */
export interface PostSettings {
  readonly fetch: PushFetch;
  /** The caller whose webhook it is. */
  readonly caller: string;
  readonly timeoutMs: number;
  readonly clock: Pick<Clock, "schedule">;
  readonly signal: AbortSignal;
}

/** Longer answers are cut off, with their connection. */
const maxAnswerBytes = 16_384;

/**
 * POSTs a notification once. It follows no redirects: they would avoid the test of the address, and receive the
 * credentials (requirement N-6).
 */
export async function postNotification(
  url: string,
  notification: Notification,
  { fetch, caller, timeoutMs, clock, signal }: PostSettings,
): Promise<PostOutcome> {
  const timeout = new AbortController();
  const cancelTimeout = clock.schedule(timeoutMs, () => timeout.abort());
  try {
    const init: RequestInit = {
      method: "POST",
      ...contentOf(notification, caller),
      redirect: "manual",
      signal: AbortSignal.any([signal, timeout.signal]),
    };
    const response = await fetch(url, init, caller);
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

/**
 * Bytes, or a stream of known length: a platform copies bytes before it sends them, and a socket that encrypts takes them
 * all at once. Either has a Content-Length and is not chunked (requirement N-8).
 */
function contentOf(
  { headers, body, bytes }: Notification,
  caller: string | undefined,
): RequestInit & { readonly duplex?: "half" } {
  const [only] = body;
  if (only !== undefined && body.length === 1) {
    return { headers, body: only as Uint8Array<ArrayBuffer> }; // we make no shared memory
  }
  headers.set("content-length", String(bytes));
  const pieces = body.values();
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await nextSlice(caller); // a socket that never blocks would block other calls
        const { done, value } = pieces.next();
        if (done) {
          controller.close();
        } else {
          controller.enqueue(value);
        }
      },
    },
    { highWaterMark: 0 },
  );
  return { headers, body: stream, duplex: "half" };
}

/** Reads the answer to its end, so that the connection can be used again. Only its status matters. */
async function discardAnswer(body: ReadableStream<Uint8Array> | null): Promise<void> {
  await readAtMost(chunksOf(body), maxAnswerBytes).catch(() => {}); // it broke off, or takes too long: the connection is lost either way
}

/** The platform's code, such as ECONNREFUSED. Messages of errors may contain the URL, and secrets in it. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : undefined;
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return typeof code === "string" && /^[A-Z][A-Z0-9_]*$/.test(code) ? ` (${code})` : "";
}
