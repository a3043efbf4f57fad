import { shownUrl } from "@a2a-connect/core";
import { type KeySet, readKeySet } from "./key-set.ts";

/** How a key set is asked for. */
export interface KeySetRequest {
  readonly url: URL;
  readonly fetch: typeof globalThis.fetch;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** A key set and for how long it says it holds, in milliseconds; undefined when it does not say. */
export interface FetchedKeySet {
  readonly keySet: KeySet;
  readonly lifetimeMs: number | undefined;
}

/** The key set could not be had. */
export class KeySetUnavailableError extends Error {
  override readonly name = "KeySetUnavailableError";
}

/**
 * Asks one URL for a key set, once. A redirect is not followed: it would let somebody else than the policy say which host
 * is asked.
 *
 * @throws KeySetUnavailableError with a sentence for people, without a full stop
 * @throws what the signal was aborted with
 */
export async function fetchKeySet(request: KeySetRequest): Promise<FetchedKeySet> {
  const { url, timeoutMs, signal } = request;
  signal.throwIfAborted();
  const stop = new AbortController();
  const onAbort = () => stop.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(
    () => stop.abort(unavailable(url, `did not answer within ${timeoutMs} ms`)),
    timeoutMs,
  );
  try {
    // Raced, because a `fetch` of somebody else need not look at its signal.
    return await Promise.race([ask(request, stop.signal), whenAborted(stop.signal)]);
  } catch (error) {
    stop.signal.throwIfAborted(); // whatever the fetch made of it
    throw error instanceof KeySetUnavailableError ? error : unavailable(url, "could not be reached", error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

async function ask({ url, fetch, maxBytes }: KeySetRequest, signal: AbortSignal): Promise<FetchedKeySet> {
  const response = await fetch(url, {
    headers: { accept: "application/jwk-set+json, application/json" },
    redirect: "manual",
    signal,
  });
  const problem = findProblem(response);
  if (signal.aborted || problem !== undefined) {
    response.body?.cancel().catch(() => {}); // nobody wants it
    signal.throwIfAborted();
    throw unavailable(url, problem ?? "was not read");
  }
  const bytes = await readBytes(response, maxBytes, signal);
  if (bytes === undefined) throw unavailable(url, `is larger than ${maxBytes} bytes`);
  const keySet = readKeySet(bytes);
  if (typeof keySet === "string") throw unavailable(url, keySet);
  return { keySet, lifetimeMs: statedLifetime(response.headers) };
}

function findProblem({ status, type, redirected }: Response): string | undefined {
  if (redirected || type === "opaqueredirect" || redirects.includes(status)) {
    return "redirects to somewhere else, and redirects of key sets are not followed";
  }
  return status === 200 ? undefined : `answered with HTTP status ${status}`;
}

const redirects: readonly number[] = [301, 302, 303, 307, 308];

/** The whole body, or undefined when it is longer than allowed; the rest is then left unread. */
async function readBytes(
  { body, headers }: Response,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => {}); // it is closed already
  signal.addEventListener("abort", cancel, { once: true });
  try {
    // Of a compressed body the header tells another length, which is then the smaller one.
    if (Number(headers.get("content-length")) > maxBytes) return undefined;
    const chunks: Uint8Array[] = [];
    let length = 0;
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      length += next.value.byteLength;
      if (length > maxBytes) return undefined;
      chunks.push(next.value);
    }
    return concatenate(chunks, length);
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}

function concatenate(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

/**
 * How long an answer holds by `max-age`, less what it has spent in caches (RFC 9111 §4.2). `no-store`, `no-cache` and a `max-age`
 * that is no number mean not at all.
 */
function statedLifetime(headers: Headers): number | undefined {
  const directives = (headers.get("cache-control") ?? "").toLowerCase().split(",");
  let lifetimeMs: number | undefined;
  for (const directive of directives) {
    const [name, argument = ""] = directive.split("=").map((part) => part.trim());
    if (name === "no-store" || name === "no-cache") return 0;
    if (name === "max-age") lifetimeMs ??= seconds(argument.replace(/^"(.*)"$/, "$1")) ?? 0;
  }
  return lifetimeMs === undefined
    ? undefined
    : Math.max(0, lifetimeMs - (seconds(headers.get("age") ?? "") ?? 0));
}

/** Whole seconds as milliseconds; undefined when the text is none. */
function seconds(text: string): number | undefined {
  return /^\d{1,10}$/.test(text) ? Number(text) * 1000 : undefined;
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function unavailable(url: URL, problem: string, cause?: unknown): KeySetUnavailableError {
  return new KeySetUnavailableError(`the key set ${shownUrl(url)} ${problem}`, { cause });
}
