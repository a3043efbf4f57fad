import type { Socket } from "node:net";
import type { buildConnector } from "undici";
import type { AnswerTurns } from "./answer-turns.ts";
import { TlsWire } from "./tls-wire.ts";

/** How connections are made. */
export interface ConnectInTurnOptions {
  readonly tcp: buildConnector.BuildOptions;
  /** Begins TLS on a connection of TCP. */
  readonly tls: buildConnector.BuildOptions;
  /** Time limit for connecting, name resolution, TLS and the wait for a turn included. */
  readonly timeoutMs: number;
  readonly turns: AnswerTurns;
  /** Whose connections they are. */
  readonly callerOf: (origin: string) => string;
  /** What is read in turns: all that comes over a connection, or the handshake of TLS alone. */
  readonly reads: "all" | "handshake";
}

/** Connects as undici does, but reads in turns of the caller that the connection is made for. */
export function connectInTurn(
  { buildConnector, errors }: Pick<typeof import("undici"), "buildConnector" | "errors">,
  { tcp, tls, timeoutMs, turns, callerOf, reads }: ConnectInTurnOptions,
): buildConnector.connector {
  const connectTcp = buildConnector({ ...tcp, timeout: timeoutMs });
  const connectTls = buildConnector({ ...tls, timeout: 0 });
  return (options, callback) => {
    const latest = performance.now() + timeoutMs;
    const { protocol, host = options.hostname } = options;
    const isSecure = protocol === "https:";
    const port = options.port === "" ? (isSecure ? "443" : "80") : options.port;
    const caller = callerOf(`${protocol}//${host}`);
    connectTcp({ ...options, protocol: "http:", port }, (...[failure, socket]) => {
      if (failure !== null) return callback(failure, null);
      if (!isSecure && reads === "handshake") return callback(null, socket);
      const late = () => new errors.ConnectTimeoutError(`Connect Timeout Error (${host}, ${timeoutMs} ms)`);
      const use = (used: Socket): void => {
        if (reads === "handshake") turns.leave(caller, socket);
        else if (wire !== undefined) used.prependListener("readable", () => wire?.answered());
        else used.prependListener("readable", () => turns.countBytes(caller, used.readableLength));
        callback(null, used);
      };
      let wire: TlsWire | undefined;
      let hasEnded = false;
      const end = (error: Error | null, ready?: Socket | null): void => {
        if (hasEnded) return;
        hasEnded = true;
        clearTimeout(timer);
        if (error === null && ready != null) use(ready);
        else callback(error ?? late(), null);
      };
      const timer = setTimeout(() => {
        end(late());
        socket.destroy();
      }, latest - performance.now());
      turns.join(caller, socket, () => {
        if (hasEnded) return;
        if (socket.destroyed || socket.readableEnded) return end(new errors.SocketError("other side closed")); // TLS would wait for it without end
        if (!isSecure) return end(null, socket);
        try {
          // undici asks for a socket and hands it on to `tls.connect`, which takes any stream.
          if (reads === "all") wire = new TlsWire(socket, (bytes) => turns.countBytes(caller, bytes));
          const httpSocket = (wire ?? socket) as Socket;
          connectTls({ ...options, port, httpSocket }, (...[error, secure]) => {
            wire?.handshakeEnded();
            turns.countHandshake(caller);
            end(error, secure);
          });
        } catch (error) {
          end(error as Error); // Node's: our own certificate or key is none
          socket.destroy();
        }
      });
    });
  };
}
