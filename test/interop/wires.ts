import { createHttpJsonTransport, createJsonRpcTransport } from "@a2a-connect/bindings/client";
import { setServiceParameters } from "@a2a-connect/core/internal";
import type { Interceptor, Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";

/** Sends `A2A-Version`, which Connect's own transports know nothing of. */
export const versionInterceptor: Interceptor = (next) => (request) => {
  setServiceParameters(request.header);
  return next(request);
};

const interceptors = [versionInterceptor];

/** Every wire, by name: how a client reaches the agent at this base URL. */
export const wires: Readonly<Record<string, (baseUrl: string) => Transport>> = {
  gRPC: (baseUrl) => createGrpcTransport({ baseUrl, interceptors }),
  "gRPC-Web": (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1", interceptors }),
  Connect: (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2", interceptors }),
  "Connect in JSON": (baseUrl) =>
    createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false, interceptors }),
  "HTTP+JSON": (baseUrl) => createHttpJsonTransport({ baseUrl: `${baseUrl}/rest` }),
  "JSON-RPC": (baseUrl) => createJsonRpcTransport({ url: `${baseUrl}/rpc` }),
};
