import {
  createHttpJsonTransport,
  createJsonRpcTransport,
  limitConnectFetch,
  limitGrpcWebFetch,
  readTooManyRequests,
} from "@a2a-connect/bindings/client";
import { connectBinding, grpcWebBinding, parseHttpUrl } from "@a2a-connect/core/internal";
import type { Interceptor, Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import type { BindingTransport, BindingTransportSettings } from "../platform.ts";
import { createTransportFetch } from "./transport-fetch.ts";

/** The innermost interceptor of Connect's own transports: it gives a rate limit the same error on every wire. */
const translateTooManyRequests: Interceptor = (next) => async (request) => {
  try {
    return await next(request);
  } catch (thrown) {
    throw readTooManyRequests(thrown);
  }
};

/**
 * The wires that need only `fetch`: JSONRPC, HTTP+JSON, Connect and gRPC-Web.
 *
 * On all of them a server that cannot be reached, or a response that is cut off, is Unavailable with the platform's
 * error as its cause; a response over the limit is ResourceExhausted; redirects are not followed.
 */
export const webTransports: readonly BindingTransport[] = [
  fetchTransport("JSONRPC", ({ url, fetch, interceptors, maxResponseBytes }) =>
    createJsonRpcTransport({ url, fetch, interceptors, maxResponseBytes }),
  ),
  fetchTransport("HTTP+JSON", ({ url, fetch, interceptors, maxResponseBytes }) =>
    createHttpJsonTransport({ baseUrl: url, fetch, interceptors, maxResponseBytes }),
  ),
  fetchTransport(connectBinding, ({ url, fetch, interceptors, maxResponseBytes }) =>
    createConnectTransport({
      baseUrl: url,
      useBinaryFormat: true,
      fetch: limitConnectFetch(fetch, maxResponseBytes),
      interceptors: [...interceptors, translateTooManyRequests],
    }),
  ),
  fetchTransport(grpcWebBinding, ({ url, fetch, interceptors, maxResponseBytes }) =>
    createGrpcWebTransport({
      baseUrl: url,
      fetch: limitGrpcWebFetch(fetch, maxResponseBytes),
      interceptors: [...interceptors, translateTooManyRequests],
    }),
  ),
];

function fetchTransport(
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
