import { type ClientPlatform, webTransports } from "@a2a-connect/client/internal";
import { grpcWebBinding, isLoopbackHost } from "@a2a-connect/core/internal";
import { type Signal, signal } from "@preact/signals";
import { forwardUrl } from "./page-facts.ts";

/** What is sent with every call, by header. In memory only: a reload forgets it. */
export const credentials: Signal<ReadonlyMap<string, string>> = signal(new Map());

/** The headers of every request. */
export function credentialHeaders(): Iterable<readonly [name: string, value: string]> {
  return credentials.value;
}

/**
 * The `fetch` of every call that the page makes. The page may call only the server that it comes from, so a card's URL
 * with another name of this machine becomes one with the name that the page was opened by.
 */
export const pageFetch: typeof fetch = (input, init) => {
  const request = new Request(input, init);
  const headers = new Headers(request.headers);
  for (const [name, value] of credentialHeaders()) headers.set(name, value);
  return fetch(toPageOrigin(request.url), { ...initOf(input, init), headers });
};

/** The same without credentials. */
export const barePageFetch: typeof fetch = (input, init) => {
  const url = input instanceof Request ? input.url : String(input);
  return fetch(toPageOrigin(url), { ...initOf(input, init) });
};

function initOf(input: RequestInfo | URL, init: RequestInit | undefined): RequestInit {
  if (!(input instanceof Request)) return init ?? {};
  const { method, body, signal, redirect } = input;
  return { method, body, signal, redirect, ...init };
}

/** The same resource by a URL that the page may call: through `a2a inspect`, or by the name that the page was opened by. */
function toPageOrigin(text: string): string {
  const url = new URL(text);
  if (url.origin === location.origin) return url.href;
  if (forwardUrl !== undefined) {
    const target = `${forwardUrl}${encodeURIComponent(url.origin)}${url.pathname}${url.search}`;
    return new URL(target, document.baseURI).href;
  }
  const isThisServer =
    url.protocol === location.protocol &&
    url.port === location.port &&
    isLoopbackHost(url.hostname) &&
    isLoopbackHost(location.hostname);
  if (isThisServer) url.hostname = location.hostname;
  return url.href;
}

/** What `a2a inspect` adds to the page: it answers calls over gRPC-Web by calls over gRPC. */
export const pagePlatform: ClientPlatform = {
  transports: webTransports
    .filter(({ binding }) => forwardUrl !== undefined && binding === grpcWebBinding)
    .map(({ open }) => ({
      binding: "GRPC",
      open: (settings) => open({ ...settings, url: new URL("grpc", document.baseURI).href }),
    })),
};
