import { chunksOf, parseForeignUrl, readAtMost, shownUrl } from "@a2a-connect/core/internal";
import { CardInvalidError, CardNotFoundError, UnreachableError } from "../errors.ts";
import { findNetworkFailure, isConnectionRefused } from "../interface/network-failure.ts";

/** How to fetch a card. */
export interface CardRequest {
  readonly url: URL;
  readonly fetch: typeof globalThis.fetch;
  /** The caller's; `Accept` and conditions are added. */
  readonly headers: Readonly<Record<string, string>>;
  /** The validators of an earlier response of this URL. */
  readonly validators?: CardValidators | undefined;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** `ETag` and `Last-Modified` of a response. */
export interface CardValidators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

/**
 * The result of a request. `absent`: the card is not there, and may be elsewhere; perhaps there is a web page in its
 * place. `failed`: the server failed, perhaps only for a moment.
 */
export type CardAnswer =
  | { readonly kind: "text"; readonly text: string; readonly url: URL; readonly headers: Headers }
  | { readonly kind: "unchanged"; readonly headers: Headers }
  | { readonly kind: "failed"; readonly retryAfterMs: number; readonly error: CardNotFoundError }
  | { readonly kind: "absent"; readonly webPage: boolean; readonly error: CardNotFoundError };

/** How many redirects are followed. */
const maxRedirects = 3;

/**
 * Fetches a card from one URL. It follows redirects on the same origin, and from http to https of the same host. With
 * others, another host would decide what the card is.
 *
 * @throws CardNotFoundError when there is no card, with the cause and what to do about it; UnreachableError when nothing
 *   listens there
 * @throws CardInvalidError when it is larger than `maxBytes`, or not UTF-8
 */
export async function fetchCard(request: CardRequest): Promise<CardAnswer> {
  let { url } = request;
  for (let redirects = 0; ; redirects++) {
    const response = await ask(request, url);
    if ("kind" in response) {
      return response;
    }
    const target = redirectTarget(response, url);
    if (target === undefined) {
      return await readAnswer(response, url, request);
    }
    discard(response);
    if (redirects === maxRedirects) {
      throw notFound(url, `redirects more than ${maxRedirects} times`, {
        hint: "Give the URL of the card itself.",
      });
    }
    url = target;
  }
}

async function ask(
  { fetch, headers, validators, signal }: CardRequest,
  url: URL,
): Promise<Response | FailedAnswer> {
  const sent = new Headers(headers);
  sent.set("accept", "application/json");
  if (validators?.etag != null) {
    sent.set("if-none-match", validators.etag);
  }
  if (validators?.lastModified != null) {
    sent.set("if-modified-since", validators.lastModified);
  }
  try {
    return await fetch(url, { headers: sent, redirect: "manual", signal });
  } catch (cause) {
    signal.throwIfAborted();
    return unreachable(url, cause);
  }
}

/** The target of a permitted redirect; undefined when the response is not one. */
function redirectTarget(response: Response, from: URL): URL | undefined {
  if (response.type === "opaqueredirect") {
    throw notFound(from, "redirects, and the browser does not say where", {
      hint: "Give the URL of the card itself.",
    });
  }
  const location = redirectLocation(response);
  if (location === undefined) {
    return undefined;
  }
  const to = parseForeignUrl(location, from);
  if (to === undefined) {
    throw notFound(from, "redirects to what is no URL", { hint: "Tell the operator of the server." });
  }
  const isUpgrade = from.protocol === "http:" && to.protocol === "https:" && from.hostname === to.hostname;
  if (to.origin !== from.origin && !isUpgrade) {
    throw notFound(from, `redirects to ${shownUrl(to)}, which is another origin`, {
      hint: "When you trust that one, give its URL instead.",
    });
  }
  return to;
}

async function readAnswer(response: Response, url: URL, request: CardRequest): Promise<CardAnswer> {
  const { status, headers } = response;
  if (status === 304 && request.validators !== undefined) {
    return { kind: "unchanged", headers };
  }
  if (status !== 200) {
    discard(response);
    const error = refused(url, status);
    if (outOfOrderStatuses.includes(status)) {
      return failed(error, headers.get("retry-after"));
    }
    if (absentStatuses.includes(status)) {
      return { kind: "absent", webPage: false, error };
    }
    throw error;
  }
  const saysHtml = /^\s*(?:text\/html|application\/xhtml)/i.test(headers.get("content-type") ?? "");
  const bytes = await readBytes(response, url, request);
  if (bytes !== undefined && "kind" in bytes) {
    return bytes;
  }
  if (bytes === undefined) {
    if (saysHtml) {
      return webPage(url);
    }
    throw tooLarge(url, request.maxBytes);
  }
  const text = decode(bytes, url);
  // The first characters tell more than the header: files are often served with a wrong type.
  return /^\s*</.test(text) || (saysHtml && !/^\s*\{/.test(text))
    ? webPage(url)
    : { kind: "text", text, url, headers };
}

/** Status codes of a proxy that does not reach the agent, or of an agent that is too busy. */
const outOfOrderStatuses: readonly number[] = [502, 503, 504];

/** Status codes for a missing or removed card, and for a URL that does not allow GET. */
const absentStatuses: readonly number[] = [404, 405, 410];

/** The whole body, or undefined when it is longer than allowed; then the rest is not read. */
async function readBytes(
  { body, headers }: Response,
  url: URL,
  { maxBytes, signal }: CardRequest,
): Promise<Uint8Array | FailedAnswer | undefined> {
  try {
    // For a compressed body the header has its compressed length, which is smaller.
    if (Number(headers.get("content-length")) > maxBytes) {
      body?.cancel().catch(() => {}); // it is not needed
      return undefined;
    }
    return await readAtMost(chunksOf(body), maxBytes);
  } catch (cause) {
    signal.throwIfAborted();
    const hint = "Try again; when it stays that way, tell the operator of the agent.";
    return failed(notFound(url, "ended in the middle of the card", { hint, cause }));
  }
}

function decode(bytes: Uint8Array, url: URL): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const problem = "is not valid UTF-8";
    throw new CardInvalidError(`The card at ${shownUrl(url)} ${problem}.`, [problem], {
      hint: "Tell the operator of the agent.",
    });
  }
}

function discard({ body }: Response): void {
  body?.cancel().catch(() => {}); // the body is not needed
}

function refused(url: URL, status: number): CardNotFoundError {
  if (status === 401 || status === 403) {
    return notFound(url, `wants credentials for the card (HTTP ${status})`, {
      hint: "Send them as `headers`, such as an Authorization header.",
    });
  }
  if (absentStatuses.includes(status)) {
    return notFound(url, `has no card (HTTP ${status})`, {
      hint: "Check the address, or give the URL of the card itself.",
    });
  }
  return notFound(url, `answered with HTTP status ${status} instead of a card`, {
    hint:
      status === 429 || status >= 500
        ? "Try again later; when it stays that way, tell the operator of the agent."
        : "Check the address, or tell the operator of the agent.",
  });
}

function webPage(url: URL): CardAnswer {
  const error = notFound(url, "is a web page, not a card", {
    hint: "Check the address: the card of an agent is JSON, by default at /.well-known/agent-card.json.",
  });
  return { kind: "absent", webPage: true, error };
}

function tooLarge(url: URL, maxBytes: number): CardInvalidError {
  const problem = `is larger than the limit of ${maxBytes} bytes`;
  return new CardInvalidError(`The card at ${shownUrl(url)} ${problem}.`, [problem], {
    hint: "Raise `maxCardBytes` when it is meant to be that large.",
  });
}

/** @throws UnreachableError when nothing listens there, CardNotFoundError unless the failure may be temporary */
function unreachable(url: URL, cause: unknown): FailedAnswer {
  const { reason, hint, mayPass } = findNetworkFailure(cause) ?? {
    reason: "could not be reached",
    hint: "Check the address and the network.",
    mayPass: false,
  };
  if (isConnectionRefused(cause)) {
    throw new UnreachableError(`${shownUrl(url)} ${reason}.`, { hint, cause });
  }
  const error = notFound(url, reason, { hint, cause });
  if (mayPass) {
    return failed(error);
  }
  throw error;
}

type FailedAnswer = Extract<CardAnswer, { readonly kind: "failed" }>;

function failed(error: CardNotFoundError, retryAfter: string | null = null): FailedAnswer {
  const seconds = retryAfter !== null && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : 0;
  return { kind: "failed", retryAfterMs: seconds * 1_000, error };
}

function notFound(
  url: URL,
  problem: string,
  options: { readonly hint: string; readonly cause?: unknown },
): CardNotFoundError {
  return new CardNotFoundError(shownUrl(url), `${shownUrl(url)} ${problem}.`, options);
}

/** The target of a redirect; undefined when the response is not one that can be followed. */
export function redirectLocation({ status, headers }: Response): string | undefined {
  return [301, 302, 303, 307, 308].includes(status) ? (headers.get("location") ?? undefined) : undefined;
}
