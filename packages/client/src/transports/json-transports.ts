import {
  createHttpJsonTransport,
  createJsonRpcTransport,
  type WireFetch,
} from "@a2a-connect/bindings/client";
import { parseHttpUrl } from "@a2a-connect/core/internal";
import type { Transport } from "@connectrpc/connect";
import type { BindingTransport, BindingTransportSettings } from "../platform.ts";
import { createTransportFetch, withRules } from "./transport-fetch.ts";

/** The wires of JSON: JSONRPC and HTTP+JSON. */
export const jsonTransports: readonly BindingTransport[] = [
  jsonTransport("JSONRPC", ({ url, fetch, interceptors, maxResponseBytes }) =>
    createJsonRpcTransport({ url, fetch, interceptors, maxResponseBytes }),
  ),
  jsonTransport("HTTP+JSON", ({ url, fetch, interceptors, maxResponseBytes }) =>
    createHttpJsonTransport({ baseUrl: url, fetch, interceptors, maxResponseBytes }),
  ),
];

/** A wire that needs no more of `fetch` than its platform's exchange can do. */
function jsonTransport(
  binding: string,
  create: (settings: Omit<BindingTransportSettings, "fetch"> & { readonly fetch: WireFetch }) => Transport,
): BindingTransport {
  return {
    binding,
    open(settings) {
      const url = requireHttpUrl(settings.url);
      const { exchange } = settings;
      const { fetch, close } =
        exchange === undefined ? createTransportFetch(settings.fetch) : withRules(exchange);
      return { transport: create({ ...settings, url, fetch }), close };
    },
  };
}

/**
 * A wire that needs only `fetch`. A server that cannot be reached, or a response that is cut off, is Unavailable with
 * the platform's error as its cause; a response over the limit is ResourceExhausted; redirects are not followed.
 */
export function fetchTransport(
  binding: string,
  create: (settings: BindingTransportSettings) => Transport,
): BindingTransport {
  return {
    binding,
    open(settings) {
      const url = requireHttpUrl(settings.url);
      const { fetch, close } = createTransportFetch(settings.fetch);
      return { transport: create({ ...settings, url, fetch }), close };
    },
  };
}

function requireHttpUrl(text: string): string {
  if (parseHttpUrl(text) === undefined) {
    throw new Error(`${JSON.stringify(text)} is not an absolute http or https URL`);
  }
  return text;
}
