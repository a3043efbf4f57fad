import { lookup } from "node:dns";
import { type BindingTransport, type ClientPlatform, jsonTransports } from "@a2a-connect/client/internal";
import { longestTimerMs } from "@a2a-connect/core/internal";
import { createAddressGuard, isLoopbackHost, targetOf } from "../network/address-guard.ts";
import { createGuardedFetch, guardLookup } from "../network/guarded-fetch.ts";
import { createNodeFetch, type NodeFetch, responseTurns } from "./connections.ts";
import { grpcTransport, olderGrpcTransport } from "./grpc-transport.ts";
import { createNodeExchange } from "./node-exchange.ts";
import { saveFile } from "./save-file.ts";
import { type ClientTlsOptions, toNodeTls } from "./tls-options.ts";

/** Options for reaching an agent from Node. */
export interface NodePlatformOptions {
  readonly tls?: ClientTlsOptions;
  /** Time limit for connecting, name resolution and TLS included. Default 10 s. */
  readonly connectTimeoutMs?: number;
  /** Whether gRPC may only reach public addresses, too. Default false. */
  readonly untrusted?: boolean;
  /** Further targets that the guard permits: hosts, `host:port`, addresses and networks. Default none. */
  readonly allow?: readonly string[];
  /**
   * The caller's own reference to the card; undefined when the caller brought the card. A caller that names this
   * machine, or an http URL, wants to reach it, so the guard permits that. It also decides the meaning of a bare gRPC
   * target (`parseGrpcTarget`).
   */
  readonly cardUrl?: URL;
}

/** Entries of an allow list that mean this machine. */
const thisMachine = ["localhost", "127.0.0.0/8", "::1"];

/**
 * What Node adds to the client: gRPC, TLS options, the guard, files. `close` ends its connections.
 *
 * @throws Error when an entry of `allow` is malformed, or only one of `cert` and `key` is given
 */
export function nodePlatform(options: NodePlatformOptions = {}): ClientPlatform & { close(): Promise<void> } {
  const { cardUrl, untrusted = false, allow = [] } = options;
  const connectTimeoutMs = Math.min(options.connectTimeoutMs ?? 10_000, longestTimerMs);
  const tls = toNodeTls(options.tls ?? {});
  const isLocal = cardUrl !== undefined && isLoopbackHost(cardUrl.hostname);
  const permitted = {
    allow: isLocal ? [...thisMachine, ...allow] : allow,
    allowHttp: cardUrl?.protocol === "http:",
  };
  const guard = createAddressGuard(permitted);
  const guarded = createGuardedFetch({
    ...permitted,
    connectTimeoutMs,
    tls,
    responseTimeoutMs: 0, // the client supplies its own
  });
  const plain = createNodeFetch(tls, connectTimeoutMs);
  const grpcGuard = {
    refuseUrl: guard.refuseUrl,
    lookupFor: (url: URL) => guardLookup(guard, targetOf(url), lookup),
  };
  const grpc = grpcTransport({
    tls,
    cardScheme: cardUrl?.protocol,
    guard: untrusted ? grpcGuard : undefined,
  });
  return {
    transports: [grpc, olderGrpcTransport(grpc), ...jsonWires(plain)],
    fetch: plain.fetch,
    guardedFetch: guarded.fetch,
    turn: (agent) => responseTurns.turn(agent),
    saveFile,
    close: async () => {
      await Promise.all([plain.close(), guarded.close()]);
    },
  };
}

/** The JSON wires. They make requests on the connections of our `fetch`, but any other `fetch` is called as it is. */
function jsonWires(plain: NodeFetch): BindingTransport[] {
  return jsonTransports.map(({ open, ...wire }) => ({
    ...wire,
    open: (settings) =>
      open(
        settings.fetch === plain.fetch
          ? { ...settings, exchange: createNodeExchange(plain.connections) }
          : settings,
      ),
  }));
}
