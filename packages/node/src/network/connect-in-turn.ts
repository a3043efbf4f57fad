import { constants } from "node:crypto";
import type { Socket } from "node:net";
import type { buildConnector } from "undici";
import type { AnswerTurns } from "./answer-turns.ts";
import { measureParsing } from "./answer-wire.ts";
import { TlsWire } from "./tls-wire.ts";

/** Each new handshake that a server asks for may have another long chain of certificates, and HTTP needs none. */
export const secureOptions: number = constants.SSL_OP_NO_RENEGOTIATION;

type Ready = (error: Error | null, socket: Socket | null) => void;

/** Whose connection it is, and in whose turns it is read. */
export interface ReadInTurn {
  readonly turns: AnswerTurns;
  readonly caller: string;
}

/**
 * Begins TLS on a connection when its caller has a turn. From then on what comes over it is read in turns.
 *
 * @param begin begins it on a stream, and tells how it has ended
 * @param ready gets the connection, or why there is none
 */
export function beginTlsInTurn(
  tcp: Socket,
  { turns, caller }: ReadInTurn,
  begin: (wire: Socket, ended: Ready) => void,
  ready: Ready,
): void {
  turns.join(caller, tcp, () => {
    if (tcp.destroyed || tcp.readableEnded) return ready(closed(), null); // TLS would wait for it without end
    const wire = new TlsWire(
      tcp,
      (bytes, tookMs) => turns.countBytes(caller, bytes, tookMs),
      (tookMs) => turns.countHandshake(caller, tookMs),
    );
    try {
      // A socket is asked for and handed on to `tls.connect`, which takes any stream.
      begin(wire.asStream as Socket, (error, secure) => {
        if (error !== null || secure === null) return ready(error ?? closed(), null);
        wire.handshakeEnded(secure);
        secure.on("error", () => secure.destroy()); // Node tells of a broken record, and undici would wait for the close
        keepAliveWith(secure, tcp);
        ready(null, secure);
      });
    } catch (error) {
      ready(error as Error, null); // Node's: our own certificate or key is none
      tcp.destroy();
    }
  });
}

function closed(): Error {
  return connectionError("ECONNRESET", "the connection was closed");
}

function connectionError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code, syscall: "connect" });
}

/** What is read from a wire keeps the process alive, or does not, as the connection behind it: Node does not look behind a stream. */
export function keepAliveWith(reader: { ref(): unknown; unref(): unknown }, tcp: Socket): void {
  Object.assign(reader, { ref: () => tcp.ref(), unref: () => tcp.unref() });
}

/** How connections are made. */
export interface ConnectInTurnOptions {
  /** Connects to a host and port, without TLS. */
  readonly connectTcp: buildConnector.connector;
  /** Begins TLS on a connection of TCP. */
  readonly tls: buildConnector.BuildOptions;
  /** Time limit for connecting, name resolution, TLS and the wait for a turn included. */
  readonly timeoutMs: number;
  readonly turns: AnswerTurns;
  /** Whose connections they are. */
  readonly callerOf: (origin: string) => string;
}

/** Connects as undici does, but reads in turns of the caller that the connection is made for. */
export function connectInTurn(
  { buildConnector, errors }: Pick<typeof import("undici"), "buildConnector" | "errors">,
  { connectTcp, tls, timeoutMs, turns, callerOf }: ConnectInTurnOptions,
): buildConnector.connector {
  // `limitInterimAnswers` is for HTTP/1.1, so HTTP/2 is not asked for. A later undici asks for it by default.
  const connectTls = buildConnector({ ...tls, secureOptions, allowH2: false, timeout: 0 });
  return (options, callback) => {
    const latest = performance.now() + timeoutMs;
    const { protocol, host = options.hostname } = options;
    const isSecure = protocol === "https:";
    const port = options.port === "" ? (isSecure ? "443" : "80") : options.port;
    const caller = callerOf(`${protocol}//${host}`);
    const authority = options.port === "" ? `${host}:${port}` : host; // for a proxy
    connectTcp({ ...options, protocol: "http:", host: authority, port }, (...[failure, socket]) => {
      if (failure !== null) return callback(failure, null);
      const late = () => new errors.ConnectTimeoutError(`Connect Timeout Error (${host}, ${timeoutMs} ms)`);
      let hasEnded = false;
      const end: Ready = (error, ready) => {
        if (hasEnded) return;
        hasEnded = true;
        clearTimeout(timer);
        if (error === null && ready != null) callback(null, ready);
        else callback(error ?? late(), null);
      };
      const timer = setTimeout(
        () => {
          end(late(), null);
          socket.destroy();
        },
        Math.max(1, latest - performance.now()),
      );
      const begin = (wire: Socket, ended: Ready): void =>
        void connectTls({ ...options, port, httpSocket: wire }, (...[error, secure]) => ended(error, secure));
      if (isSecure) return beginTlsInTurn(socket, { turns, caller }, begin, end);
      turns.join(caller, socket, () => {
        if (socket.destroyed || socket.readableEnded) return end(closed(), null);
        if (socket.readableLength > 0) {
          // Such as the body of a proxy's answer to CONNECT. undici would connect again and again.
          end(connectionError("EPROTO", `${host} or its proxy sent bytes before it was asked`), null);
          socket.destroy();
          return;
        }
        socket.prependListener("readable", () =>
          measureParsing(socket.readableLength, (...parsed) => turns.countBytes(caller, ...parsed)),
        );
        end(null, socket);
      });
    });
  };
}
