import { connect } from "node:http2";
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import {
  type BindingTransport,
  type BindingTransportSettings,
  loadedTransport,
  readOlderCard,
} from "@a2a-connect/client/internal";
import { longestTimerMs } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import { targetOf } from "../network/address-guard.ts";
import { withoutBrackets } from "../network/allow-list.ts";
import { addressRefused } from "../network/guarded-fetch.ts";
import { handshakeTurns } from "./connections.ts";
import { createGrpcClient } from "./grpc-client.ts";
import { GrpcSession } from "./grpc-session.ts";
import { parseGrpcTarget } from "./grpc-target.ts";
import type { NodeTlsOptions } from "./tls-options.ts";

/** The length of a message has 32 bits. */
const maxMessageBytes = 2 ** 32 - 1;

/** What opens the GRPC wire, besides the settings of a call. */
export interface GrpcTransportOptions {
  readonly tls: NodeTlsOptions;
  /** The scheme by which the card was fetched. It decides the meaning of a bare `host:port` (`parseGrpcTarget`). */
  readonly cardScheme?: string | undefined;
  /** Judges the target before it is resolved, and the resolved address. Default: every address is permitted. */
  readonly guard?: GrpcGuard | undefined;
}

/** Which targets may be dialled. */
export interface GrpcGuard {
  /** Why a URL is refused, as the rest of a sentence; undefined when it is permitted. */
  refuseUrl(url: string): string | undefined;
  /** A resolver that returns only permitted addresses. */
  lookupFor(url: URL): LookupFunction;
}

/** The GRPC binding over `node:http2`: one connection, opened by the first call, and again after it broke. */
export function grpcTransport({ tls, cardScheme, guard }: GrpcTransportOptions): BindingTransport {
  return {
    binding: "GRPC",
    open(settings) {
      const target = parseGrpcTarget(settings.url, cardScheme);
      const refusal = guard?.refuseUrl(target.href);
      if (refusal !== undefined) {
        throw addressRefused(`the URL ${refusal}`);
      }
      const timeoutMs = Math.min(settings.connectTimeoutMs, longestTimerMs);
      const dial = { tls, lookup: guard?.lookupFor(target), timeoutMs };
      const session = new GrpcSession(async (signal) => {
        const socket = await openSocket(target, dial, signal);
        return connect(target.origin, { createConnection: () => socket, settings: { enablePush: false } });
      });
      return openTransport(target, session, settings);
    },
  };
}

/** The GRPC binding of A2A 0.3 over the one of today. Its code is loaded for the first call of such an agent. */
export function olderGrpcTransport(grpc: BindingTransport): BindingTransport {
  return {
    binding: grpc.binding,
    versions: ["0.3"],
    open(settings) {
      const { url, interceptors } = settings;
      const { transport, close } = grpc.open({ ...settings, interceptors: [] });
      return {
        transport: loadedTransport(async () => {
          const { createOlderRpcTransport } = await import("@a2a-connect/bindings/v03/rpc");
          return createOlderRpcTransport(transport, { url, interceptors, readCard: readOlderCard });
        }),
        close,
      };
    },
  };
}

function openTransport(target: URL, session: GrpcSession, settings: BindingTransportSettings) {
  const closed = new AbortController();
  const maxResponseBytes = Math.min(settings.maxResponseBytes, maxMessageBytes);
  return {
    transport: createGrpcClient({
      baseUrl: target.href,
      session,
      interceptors: [...settings.interceptors],
      circumstances: { closed: closed.signal, maxResponseBytes },
    }),
    close() {
      closed.abort();
      session.abort(new ConnectError("the client was closed", Code.Canceled));
    },
  };
}

interface Dial {
  readonly tls: NodeTlsOptions;
  readonly lookup: LookupFunction | undefined;
  readonly timeoutMs: number;
}

/**
 * A socket to the target, with TLS. Its handshake has a turn: that of an agent with a long chain of costly certificates takes half a
 * second in one piece.
 *
 * @throws Error why it did not connect, or not in time; the reason of the signal
 */
function openSocket(target: URL, { tls, lookup, timeoutMs }: Dial, signal: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const { origin, protocol } = target;
  const host = withoutBrackets(target.hostname);
  const tcp = connectTcp({ host, port: targetOf(target).port, ...(lookup === undefined ? {} : { lookup }) });
  let socket: Socket = tcp;
  const fail = (error: unknown): void => {
    reject(error);
    socket.destroy();
    tcp.destroy();
  };
  const failConnecting = (code: string, problem: string): void =>
    fail(Object.assign(new Error(problem), { code, syscall: "connect" }));
  const refuseClosed = (): void => failConnecting("ECONNRESET", `${target.host} has closed the connection`);
  const beginTls = (): void => {
    if (tcp.destroyed || tcp.readableEnded) {
      refuseClosed(); // TLS would wait for it without end
      return;
    }
    const ready = (error?: Error): void => {
      handshakeTurns.countHandshake(origin);
      handshakeTurns.leave(origin, tcp);
      if (error === undefined) resolve(socket);
    };
    try {
      const servername = isIP(host) === 0 ? { servername: host } : {};
      socket = connectTls({ socket: tcp, host, ...tls, ALPNProtocols: ["h2"], ...servername });
    } catch (error) {
      fail(error); // our own certificate or key is none
      return;
    }
    socket.once("error", ready).on("error", fail).once("close", refuseClosed);
    socket.once("secureConnect", () => {
      socket.off("error", ready);
      ready();
    });
  };
  const abort = (): void => fail(signal.reason);
  signal.addEventListener("abort", abort);
  const timer = setTimeout(
    () => failConnecting("ETIMEDOUT", `no connection to ${target.host} within ${timeoutMs} ms`),
    timeoutMs,
  );
  tcp.on("error", fail).once("close", refuseClosed);
  tcp.once("connect", () => {
    if (protocol === "https:") handshakeTurns.join(origin, tcp, beginTls);
    else resolve(tcp);
  });
  if (signal.aborted) abort();
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  });
}
