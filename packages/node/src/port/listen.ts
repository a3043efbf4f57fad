import type { Server as HttpServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { HttpHandler } from "@a2a-connect/bindings";
import { dropUndefined, isLoopbackHost } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import { maxTurns } from "./callers/callers.ts";
import { Handshakes } from "./callers/handshakes.ts";
import { loopTurns } from "./callers/loop-turns.ts";
import { createExchangeContext, type ExchangeContext } from "./exchange.ts";
import { forgetFailedCheck } from "./failed-check.ts";
import { createHttp1Server } from "./http1-server.ts";
import { createHttp2Server } from "./http2-server.ts";
import { type CloseOptions, defaultLimits, type ListenLimits, type ListenOptions } from "./listen-options.ts";
import { awaitHello, type FirstReads, type Protocol, sniffProtocol } from "./protocol-sniffer.ts";

/** A bound port. */
export interface Listener extends AsyncDisposable {
  readonly port: number;
  /** The host that was given, or "localhost". */
  readonly host: string;
  /** Without a trailing slash; for a wildcard host it has `localhost`: `http://localhost:4000`. */
  readonly url: string;
  /**
   * Closes the port. It accepts no more connections, tells HTTP/2 peers (GOAWAY) and HTTP/1.1 peers (`connection:
   * close`), lets running requests finish, aborts their signals after `graceMs`, and cuts the rest after `timeoutMs`.
   * Resolves when no connection is left. A second call can only make it sooner.
   */
  close(options?: CloseOptions): Promise<void>;
}

/**
 * Serves `handler` on one port: HTTP/1.1 and HTTP/2 side by side, in cleartext (the first bytes decide) or over TLS
 * (ALPN).
 *
 * When a handler throws, the caller gets a fixed JSON 500. A request's `signal` aborts when the caller disconnects
 * before the response is complete, and `graceMs` into `close`; never because a response ended normally.
 *
 * @throws the system's error (such as EADDRINUSE) when the port cannot be bound; Error when a trusted proxy is no
 *   address
 */
export async function listen(handler: HttpHandler, options: ListenOptions = {}): Promise<Listener> {
  const { port = 0, host = "localhost", tls, trustedProxies, onError, onWarning, ...given } = options;
  const limits: ListenLimits = { ...defaultLimits, ...dropUndefined(given) };
  const scheme = tls === undefined ? "http" : "https";
  const context = createExchangeContext(handler, { scheme, limits, trustedProxies, onError, onWarning });
  // The HTTP/1.1 server owns the port, because Node enforces its timeouts only while it listens. HTTP/2 gets its
  // sockets handed over.
  const http1 = createHttp1Server(context, limits, tls);
  const http2 = createHttp2Server(context, limits);
  const { server } = http1;
  const connections: Connections = { all: new Set(), undecided: new Set() };
  const route = (socket: Socket, protocol: Protocol): void => {
    connections.undecided.delete(socket);
    const begin = (): void => {
      if (context.draining) socket.destroy();
      else if (socket.destroyed) return;
      else if (protocol === "h2") http2.adopt(socket);
      else http1.adopt(socket);
    };
    context.callers.ofSocket(socket).join(socket, context.isProxy(socket), begin, context.onFault);
  };
  let hasWarned = false;
  const take = (begin: (socket: Socket) => void): void => {
    server.on("connection", (socket: Socket) => {
      loopTurns.countConnection(); // also one that is refused: others wait behind it
      const { network } = context.callers.ofSocket(socket);
      if (!context.places.takeConnection(network, socket)) {
        socket.destroy();
        if (!hasWarned) context.onWarning?.(tooManyConnections);
        hasWarned = true;
        return;
      }
      connections.all.add(socket);
      connections.undecided.add(socket);
      socket.once("close", () => {
        connections.all.delete(socket);
        connections.undecided.delete(socket);
      });
      begin(socket);
    });
  };
  const firstReads = (socket: Socket): FirstReads => ({
    connection: context.callers.ofSocket(socket),
    isProxy: context.isProxy(socket),
    timeoutMs: limits.firstByteTimeoutMs,
  });
  if (tls === undefined) {
    take((socket) => sniffProtocol(socket, firstReads(socket), (protocol) => route(socket, protocol)));
  } else {
    const handshakes = new Handshakes(maxTurns, tls.clientCa !== undefined, context.onFault);
    take((socket) => {
      awaitHello(socket, firstReads(socket), () => {
        void handshakes.begin(context.callers.ofSocket(socket), socket, () => {
          connections.undecided.delete(socket);
          if (context.draining) socket.destroy();
          else if (!socket.destroyed) http1.secure(socket);
        });
      });
    });
    server.on("keylog", (line: Buffer, socket: TLSSocket) =>
      handshakes.countKey(context.callers.ofSocket(socket), line, socket),
    );
    server.on("tlsClientError", (_error: Error, socket: TLSSocket) => {
      if (socket.remoteAddress !== undefined) handshakes.end(context.callers.ofSocket(socket), socket);
    });
    server.on("secureConnection", (socket: TLSSocket) => {
      handshakes.end(context.callers.ofSocket(socket), socket);
      socket.allowHalfOpen = true; // as Node sets it for cleartext; in the handshake it would only stay open
      const begin = (): void => route(socket, socket.alpnProtocol === "h2" ? "h2" : "http/1.1");
      if (tls.clientCa === undefined) begin();
      else forgetFailedCheck(socket, begin);
    });
  }
  await bind(server, {
    port,
    host: host === "localhost" ? "127.0.0.1" : host,
    backlog: limits.maxPendingConnections,
  });
  const address = server.address() as AddressInfo; // a bound TCP server has one
  context.boundToLoopback = isLoopbackHost(
    address.family === "IPv6" ? `[${address.address}]` : address.address,
  );
  let drain: Drain | undefined;
  const close = (closeOptions: CloseOptions = {}): Promise<void> => {
    drain ??= startDrain(server, context, connections, () => http2.goAway());
    drain.endWithin(closeOptions);
    return drain.done;
  };
  return {
    port: address.port,
    host,
    url: `${context.scheme}://${urlHost(host)}:${address.port}`,
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/** The connections of one port: all of them, and those whose protocol is still unknown. */
interface Connections {
  readonly all: Set<Socket>;
  readonly undecided: Set<Socket>;
}

const tooManyConnections =
  "there are too many connections, of all callers or of one address (maxConnections): new ones are closed at once";

/** The end of a port, which accepts nothing new any more. */
interface Drain {
  readonly done: Promise<void>;
  /** Limits how long it may take from now on. The shortest of several limits counts. */
  endWithin(options: CloseOptions): void;
}

function startDrain(
  server: HttpServer,
  context: ExchangeContext,
  connections: Connections,
  goAway: () => void,
): Drain {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timers: NodeJS.Timeout[] = [];
  let isOver = false;
  context.draining = true;
  server.close(() => {
    isOver = true;
    timers.forEach(clearTimeout);
    resolve();
  });
  goAway();
  for (const socket of connections.undecided) socket.destroy();
  const abortCalls = (): void => {
    for (const call of context.inFlight) call.abort(shuttingDown());
  };
  const cutConnections = (): void => {
    for (const socket of connections.all) socket.destroy();
  };
  return {
    done: promise,
    endWithin: ({ graceMs = 5_000, timeoutMs = 10_000 }) => {
      if (!isOver) {
        timers.push(setTimeout(abortCalls, graceMs), setTimeout(cutConnections, timeoutMs));
      }
    },
  };
}

function shuttingDown(): ConnectError {
  return new ConnectError("the server is shutting down", Code.Unavailable);
}

function bind(
  server: HttpServer,
  place: { readonly port: number; readonly host: string; readonly backlog: number },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(place, () => {
    server.off("error", reject);
    resolve();
  });
  return promise;
}

/** Whether it means all addresses of this machine. */
export function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

function urlHost(host: string): string {
  if (isWildcard(host)) return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
