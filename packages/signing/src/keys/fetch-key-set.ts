import { chunksOf, readAtMost, withinTime } from "@a2a-connect/core/internal";
import { objectOf, readStrictJson } from "../canonical/json.ts";
import { decodeUtf8 } from "../jws/jws-text.ts";
import type { JkuPolicy } from "../trust/trust-policy.ts";

/** How long a key set may take, beside the caller's limit for the card. */
const timeoutMs = 5_000;

type KeySetRequest = Required<Pick<JkuPolicy, "fetch" | "maxBytes">> & {
  readonly url: URL;
  readonly signal: AbortSignal;
};

/** The list `keys` of a key set, and what the headers say, such as how long it holds. */
export interface FetchedKeySet {
  readonly entries: readonly unknown[];
  readonly headers: Headers;
}

/**
 * Asks one URL for a key set, once. A redirect is not followed: it would let another party than the policy say which host is
 * asked.
 *
 * @returns when it cannot be had, the rest of a sentence about the key set, without a full stop
 * @throws what the signal was aborted with
 */
export async function fetchKeySet(request: KeySetRequest): Promise<FetchedKeySet | string> {
  const late = new Error(`did not answer within ${timeoutMs} ms`);
  try {
    return await withinTime(timeoutMs, late, (stop) => ask(request, stop), { signal: request.signal });
  } catch (error) {
    request.signal.throwIfAborted();
    return error === late ? late.message : "could not be reached";
  }
}

async function ask(request: KeySetRequest, signal: AbortSignal): Promise<FetchedKeySet | string> {
  const { url, fetch, maxBytes } = request;
  const response = await fetch(url, {
    headers: { accept: "application/jwk-set+json, application/json" },
    redirect: "manual",
    signal,
  });
  const { status, type, redirected } = response;
  if (status !== 200 || redirected) {
    response.body?.cancel().catch(() => {}); // it is not wanted
    const isRedirect = redirected || type === "opaqueredirect" || (status >= 300 && status < 400);
    return isRedirect
      ? "redirects to somewhere else, and redirects of key sets are not followed"
      : `answered with HTTP status ${status}`;
  }
  const bytes = await readAtMost(chunksOf(response.body), maxBytes);
  if (bytes === undefined) return `is larger than ${maxBytes} bytes`;
  const entries = readEntries(bytes);
  return typeof entries === "string" ? entries : { entries, headers: response.headers };
}

/** The entries of a key set (RFC 7517 §5); when it is none, the rest of a sentence about it. */
function readEntries(bytes: Uint8Array): readonly unknown[] | string {
  const text = decodeUtf8(bytes)?.trim() ?? ""; // without a byte order mark, too
  const read = readStrictJson(text);
  if (read.fault === "not-json" && text.startsWith("<")) return "is a web page, not a key set";
  if (read.fault !== undefined) return read.problem;
  const keys = objectOf(read.json)["keys"];
  return Array.isArray(keys) ? keys : 'has no list "keys"';
}
