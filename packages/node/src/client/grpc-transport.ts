import { connect } from "node:http2";
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net";
import type { Duplex } from "node:stream";
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
import { AnswerWire } from "../network/answer-wire.ts";
import { beginTlsInTurn, keepAliveWith, secureOptions } from "../network/connect-in-turn.ts";
import { addressRefused } from "../network/guarded-fetch.ts";
import { answerTurns } from "./connections.ts";
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
        const { reader, tcp } = await openSocket(target, dial, signal);
        const session = connect(target.origin, {
          createConnection: () => reader,
          settings: { enablePush: false },
        });
        keepAliveWith(session, tcp);
        return session;
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

/** A connection, and what HTTP/2 is read from. */
interface OpenSocket {
  readonly tcp: Socket;
  readonly reader: Duplex;
}

/**
 * A connection to the target, with TLS, which is read in turns of the target.
 *
 * @throws Error why it did not connect, or not in time; the reason of the signal
 */
function openSocket(target: URL, { tls, lookup, timeoutMs }: Dial, signal: AbortSignal): Promise<OpenSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<OpenSocket>();
  const { origin: caller, protocol } = target;
  const host = withoutBrackets(target.hostname);
  const tcp = connectTcp({
    host,
    port: targetOf(target).port,
    noDelay: true,
    ...(lookup === undefined ? {} : { lookup }),
  });
  const fail = (error: unknown): void => {
    reject(error);
    tcp.destroy();
  };
  const failConnecting = (code: string, problem: string): void =>
    fail(Object.assign(new Error(problem), { code, syscall: "connect" }));
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const beginTls = (socket: Socket, ended: (error: Error | null, secure: Socket | null) => void): void => {
    const options = { ...tls, secureOptions, ALPNProtocols: ["h2"], ...servername };
    const failed = (error: Error): void => ended(error, null);
    const secure = connectTls({ socket, host, ...options }).on("error", failed);
    secure.once("secureConnect", () => {
      secure.off("error", failed).on("error", fail);
      ended(null, secure);
    });
  };
  const abort = (): void => fail(signal.reason);
  signal.addEventListener("abort", abort);
  const timer = setTimeout(
    () => failConnecting("ETIMEDOUT", `no connection to ${target.host} within ${timeoutMs} ms`),
    timeoutMs,
  );
  tcp.on("error", fail);
  tcp.once("close", () => failConnecting("ECONNRESET", `${target.host} has closed the connection`));
  tcp.once("connect", () => {
    if (protocol === "https:") {
      beginTlsInTurn(tcp, { turns: answerTurns, caller }, beginTls, (error, reader) => {
        if (reader === null) fail(error);
        else resolve({ tcp, reader });
      });
    } else {
      answerTurns.join(caller, tcp, () =>
        resolve({
          tcp,
          reader: new AnswerWire(tcp, (...parsed) => answerTurns.countBytes(caller, ...parsed)).asStream,
        }),
      );
    }
  });
  if (signal.aborted) abort();
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  });
}
