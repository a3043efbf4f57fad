import type { WireResponse } from "@a2a-connect/bindings/client";
import { parseForeignUrl } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";

/** A `fetch`, or the part of one that a wire needs. */
type AnyFetch<Answer extends WireResponse> = (
  input: RequestInfo | URL,
  init?: RequestInit,
) => Promise<Answer>;

/** A `fetch` that belongs to one open transport. */
export interface TransportFetch<Answer extends WireResponse> {
  /**
   * The given `fetch` with the rules of a wire: it does not follow redirects, and it rejects with a ConnectError, unless
   * the caller's own signal aborted it.
   */
  readonly fetch: AnyFetch<Answer>;
  /** Ends all running requests. */
  close(): void;
}

/** The platform's `fetch` for one transport. */
export function createTransportFetch(fetch: typeof globalThis.fetch): TransportFetch<Response> {
  const closed = new AbortController();
  return withRules({
    close: () => closed.abort(),
    fetch: (input, init) => {
      const signal = init?.signal ?? undefined;
      return fetch(input, {
        ...init,
        redirect: "manual",
        signal: signal === undefined ? closed.signal : AbortSignal.any([signal, closed.signal]),
      });
    },
  });
}

/**
 * A redirect is refused, because it would send the caller's message and credentials to a server that the card does not
 * name.
 *
 * @param exchange a `fetch` that follows no redirect, and what ends its requests
 */
export function withRules<Answer extends WireResponse>(
  exchange: TransportFetch<Answer>,
): TransportFetch<Answer> {
  let isClosed = false;
  return {
    close() {
      isClosed = true;
      exchange.close();
    },
    fetch: async (input, init) => {
      try {
        const response = await exchange.fetch(input, init);
        if (isRedirect(response)) {
          response.body?.cancel().catch(() => {}); // the body is not needed
          throw redirected(response);
        }
        return response;
      } catch (thrown) {
        init?.signal?.throwIfAborted();
        throw isClosed ? new ConnectError("the client was closed", Code.Canceled) : failed(thrown);
      }
    },
  };
}

/** Browsers do not show the target of a redirect: they answer with status 0. */
function isRedirect({ status, type }: WireResponse): boolean {
  return type === "opaqueredirect" || (status >= 300 && status < 400 && status !== 304);
}

function redirected({ headers }: WireResponse): ConnectError {
  // A header may contain anything; a parsed URL only what may be shown.
  const target = parseForeignUrl(headers.get("location") ?? "");
  const where = target === undefined ? "elsewhere" : `to ${target.origin}${target.pathname}`;
  return new ConnectError(`the server redirects ${where}, which is not followed`, Code.Unavailable, headers);
}

function failed(thrown: unknown): ConnectError {
  if (thrown instanceof ConnectError) {
    return thrown;
  }
  // A guard that refuses an address (`guardedFetch`) would refuse it again.
  const refused = thrown instanceof Error && "code" in thrown && thrown.code === "ERR_ADDRESS_REFUSED";
  return refused
    ? new ConnectError(thrown.message, Code.PermissionDenied, undefined, undefined, thrown)
    : new ConnectError("the server could not be reached", Code.Unavailable, undefined, undefined, thrown);
}
