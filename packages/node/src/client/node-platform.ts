import { lookup } from "node:dns";
import type { ClientPlatform } from "@a2a-connect/client/internal";
import { createAddressGuard, targetOf } from "../address-guard.ts";
import { createGuardedFetch, guardLookup } from "../guarded-fetch.ts";
import { grpcTransport } from "./grpc-transport.ts";
import { longestTimerMs } from "./longest-timer.ts";
import { isLoopbackHost } from "./loopback-host.ts";
import { createNodeFetch } from "./node-fetch.ts";
import { saveFile } from "./save-file.ts";
import { type ClientTlsOptions, toNodeTls } from "./tls-options.ts";

/** How Node reaches an agent. */
export interface NodePlatformOptions {
  readonly tls?: ClientTlsOptions;
  /** How long connecting may take, name resolution and TLS included. Default 10 s. */
  readonly connectTimeoutMs?: number;
  /** Whether gRPC, too, must go to public addresses. Default false. */
  readonly untrusted?: boolean;
  /** What the guard permits besides: hosts, `host:port`, addresses and networks. Default nothing. */
  readonly allow?: readonly string[];
  /**
   * Where the card is, as the caller named it; undefined when the caller brought the card. Who names this machine means it,
   * and who names an http URL does not ask for https: the guard permits that much. It also says what a bare gRPC target is
   * (`parseGrpcTarget`).
   */
  readonly cardUrl?: URL;
}

/** What this machine is called in an allow list. */
const thisMachine = ["localhost", "127.0.0.0/8", "::1"];

/**
 * What Node adds to the client: gRPC, TLS options, the guard, files. `close` lets go of its connections.
 *
 * @throws Error when an entry of `allow` is not understood, or only one of `cert` and `key` is there
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
    responseTimeoutMs: 0, // the client has its own
  });
  const plain = createNodeFetch(tls, connectTimeoutMs);
  const grpcGuard = {
    refuseUrl: guard.refuseUrl,
    lookupFor: (url: URL) => guardLookup(guard, targetOf(url), lookup),
  };
  return {
    transports: [
      grpcTransport({ tls, cardScheme: cardUrl?.protocol, guard: untrusted ? grpcGuard : undefined }),
    ],
    fetch: plain.fetch,
    guardedFetch: guarded.fetch,
    saveFile,
    close: async () => {
      await Promise.all([plain.close(), guarded.close()]);
    },
  };
}
