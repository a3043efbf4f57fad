import { createHttpJsonTransport, createJsonRpcTransport } from "@a2a-connect/bindings/client";
import { parseHttpUrl } from "@a2a-connect/core/internal";
import type { Transport } from "@connectrpc/connect";
import type { BindingTransport, BindingTransportSettings } from "../platform.ts";
import { createTransportFetch } from "./transport-fetch.ts";

/** The wires of JSON: JSONRPC and HTTP+JSON. */
export const jsonTransports: readonly BindingTransport[] = [
  fetchTransport("JSONRPC", ({ url, fetch, interceptors, maxResponseBytes }) =>
    createJsonRpcTransport({ url, fetch, interceptors, maxResponseBytes }),
  ),
  fetchTransport("HTTP+JSON", ({ url, fetch, interceptors, maxResponseBytes }) =>
    createHttpJsonTransport({ baseUrl: url, fetch, interceptors, maxResponseBytes }),
  ),
];

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
      const { fetch, close } = createTransportFetch(settings);
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
