import { limitConnectFetch, limitGrpcWebFetch, readTooManyRequests } from "@a2a-connect/bindings/client";
import type { Interceptor, Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import type { BindingTransportSettings } from "../platform.ts";

/** Connect's own transport of the Connect protocol. */
export function openConnect({
  url,
  fetch,
  interceptors,
  maxResponseBytes,
}: BindingTransportSettings): Transport {
  return createConnectTransport({
    baseUrl: url,
    useBinaryFormat: true,
    fetch: limitConnectFetch(fetch, maxResponseBytes),
    interceptors: [...interceptors, translateTooManyRequests],
  });
}

/** Connect's own transport of gRPC-Web. */
export function openGrpcWeb({
  url,
  fetch,
  interceptors,
  maxResponseBytes,
}: BindingTransportSettings): Transport {
  return createGrpcWebTransport({
    baseUrl: url,
    fetch: limitGrpcWebFetch(fetch, maxResponseBytes),
    interceptors: [...interceptors, translateTooManyRequests],
  });
}

/** The innermost interceptor: it gives a rate limit the same error on every wire. */
const translateTooManyRequests: Interceptor = (next) => async (request) => {
  try {
    return await next(request);
  } catch (thrown) {
    throw readTooManyRequests(thrown);
  }
};
