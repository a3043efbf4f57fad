import type { RpcTransportOptions } from "@a2a-connect/bindings/client";
import { connectBinding, grpcWebBinding } from "@a2a-connect/core/internal";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import type { BindingTransport, BindingTransportSettings } from "../platform.ts";
import { fetchTransport, jsonTransports } from "./json-transports.ts";

/** The wires that need only `fetch`: JSONRPC, HTTP+JSON, Connect and gRPC-Web. The code of the last two is loaded for the first call. */
export const webTransports: readonly BindingTransport[] = [
  ...jsonTransports,
  fetchTransport(connectBinding, (settings) =>
    loaded(async () => (await import("./rpc-transports.ts")).createConnectTransport(toOptions(settings))),
  ),
  fetchTransport(grpcWebBinding, (settings) =>
    loaded(async () => (await import("./rpc-transports.ts")).createGrpcWebTransport(toOptions(settings))),
  ),
];

/** A transport that is loaded for its first call, and again for the next one when that failed. */
function loaded(load: () => Promise<Transport>): Transport {
  let loading: Promise<Transport> | undefined;
  const transport = () => {
    loading ??= load().catch((cause: unknown) => {
      loading = undefined;
      throw new ConnectError(
        "the code for this wire cannot be loaded",
        Code.Unavailable,
        undefined,
        undefined,
        cause,
      );
    });
    return loading;
  };
  return {
    unary: async (...call) => (await transport()).unary(...call),
    stream: async (...call) => (await transport()).stream(...call),
  };
}

function toOptions({
  url,
  fetch,
  interceptors,
  maxResponseBytes,
}: BindingTransportSettings): RpcTransportOptions {
  return { baseUrl: url, fetch, interceptors, maxResponseBytes };
}
