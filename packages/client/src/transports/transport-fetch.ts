import { parseForeignUrl } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import type { BindingTransportSettings } from "../platform.ts";

/** A `fetch` that belongs to one open transport. */
export interface TransportFetch {
  /**
   * The settings' `fetch` with the rules of a wire: it does not follow redirects, and it rejects with a ConnectError,
   * unless the caller's own signal aborted it.
   */
  readonly fetch: typeof globalThis.fetch;
  /** Ends all running requests. */
  close(): void;
}

/**
 * A redirect is refused, because it would send the caller's message and credentials to a server that the card does not
 * name.
 */
export function createTransportFetch({ fetch }: BindingTransportSettings): TransportFetch {
  const closed = new AbortController();
  return {
    close: () => closed.abort(),
    fetch: async (input, init) => {
      const signal = init?.signal ?? undefined;
      try {
        const response = await fetch(input, {
          ...init,
          redirect: "manual",
          signal: signal === undefined ? closed.signal : AbortSignal.any([signal, closed.signal]),
        });
        if (isRedirect(response)) {
          response.body?.cancel().catch(() => {}); // the body is not needed
          throw redirected(response);
        }
        return response;
      } catch (thrown) {
        signal?.throwIfAborted();
        throw closed.signal.aborted
          ? new ConnectError("the client was closed", Code.Canceled)
          : failed(thrown);
      }
    },
  };
}

/** Browsers do not show the target of a redirect: they answer with status 0. */
function isRedirect({ status, type }: Response): boolean {
  return type === "opaqueredirect" || (status >= 300 && status < 400 && status !== 304);
}

function redirected({ headers }: Response): ConnectError {
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
