import type { RpcTransportOptions } from "@a2a-connect/bindings/client";
import { connectBinding, grpcWebBinding } from "@a2a-connect/core/internal";
import type { BindingTransport, BindingTransportSettings } from "../platform.ts";
import { fetchTransport, jsonTransports, loadedTransport } from "./json-transports.ts";

/** The wires that need only `fetch`: JSONRPC, HTTP+JSON, Connect and gRPC-Web. The code of the last two is loaded for the first call. */
export const webTransports: readonly BindingTransport[] = [
  ...jsonTransports,
  fetchTransport(connectBinding, (settings) =>
    loadedTransport(async () =>
      (await import("./rpc-transports.ts")).createConnectTransport(toOptions(settings)),
    ),
  ),
  fetchTransport(grpcWebBinding, (settings) =>
    loadedTransport(async () =>
      (await import("./rpc-transports.ts")).createGrpcWebTransport(toOptions(settings)),
    ),
  ),
];

function toOptions({
  url,
  fetch,
  interceptors,
  maxResponseBytes,
}: BindingTransportSettings): RpcTransportOptions {
  return { baseUrl: url, fetch, interceptors, maxResponseBytes };
}
