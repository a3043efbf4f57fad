import { createServer, type ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { ExchangeContext } from "./exchange.ts";
import { serveHttp2 } from "./http2-exchange.ts";
import type { ListenLimits } from "./listen-options.ts";
import { Starts } from "./starts.ts";

/** The HTTP/2 connections of one port. Their server never listens: connections are handed to it. */
export interface Http2Sessions {
  /** Serves a connection that speaks HTTP/2. */
  adopt(socket: Socket): void;
  /** Tells every peer to open no more streams (GOAWAY). Each connection ends with its last stream. */
  goAway(): void;
}

/** Flow-control windows. The protocol's 64 KiB would limit an upload to 64 KiB for each round trip. */
const streamWindowBytes = 1024 * 1024;
const connectionWindowBytes = 4 * 1024 * 1024;

/** Node's HTTP/2 server without a port: it serves the connections that `adopt` hands over, within `limits`. */
export function createHttp2Server(context: ExchangeContext, limits: ListenLimits): Http2Sessions {
  const sessions = new Set<ServerHttp2Session>();
  // No request handler: Node would install its compatibility layer, and both would answer every stream.
  const server = createServer({
    settings: {
      maxConcurrentStreams: limits.maxStreamsPerConnection,
      maxHeaderListSize: limits.maxHeaderBytes,
      initialWindowSize: streamWindowBytes,
    },
  });
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    session.setLocalWindowSize(connectionWindowBytes);
    const hasStreams = countStreams(session);
    closeWhenIdle(session, limits.idleSessionTimeoutMs, hasStreams);
    watchPeer(session, limits, hasStreams);
    const starts = new Starts(maxStartsInATurn);
    const account = context.bodies.accountOf(session, () => session.socket.remoteAddress);
    session.on("stream", async (stream, headers, _flags, rawHeaders) => {
      // First of all: when a bad frame has ended the session, its streams fail before their requests begin.
      stream.on("error", () => undefined);
      try {
        const turn = starts.turn(account);
        if (turn !== undefined) await turn;
        if (!stream.destroyed) await serveHttp2(context, session, stream, headers, rawHeaders);
      } catch (error) {
        stream.destroy(error instanceof Error ? error : undefined); // to throw here would end the process
      }
    });
  });
  return {
    adopt(socket) {
      socket.allowHalfOpen = false; // it was set for an HTTP/1.1 socket; a session would outlive its peer
      server.emit("connection", socket);
    },
    goAway() {
      for (const session of sessions) session.close();
    },
  };
}

/** Requests of one connection that begin in one turn of the event loop. */
const maxStartsInATurn = 8;

/** Call it before the first stream. */
function countStreams(session: ServerHttp2Session): () => boolean {
  let open = 0;
  session.on("stream", (stream) => {
    open += 1;
    stream.once("close", () => {
      open -= 1;
    });
  });
  return () => open > 0;
}

function closeWhenIdle(session: ServerHttp2Session, timeoutMs: number, hasStreams: () => boolean): void {
  session.setTimeout(timeoutMs);
  // Not as `setTimeout`'s callback, which is called only once: a stream may have been open then.
  session.on("timeout", () => {
    if (!hasStreams()) session.close();
  });
}

/**
 * Detects a peer that has vanished while it has streams open. gRPC has no keep-alive messages, so without this no write
 * would fail.
 *
 * After `pingIntervalMs` the peer gets a PING. When nothing has come from it `pingTimeoutMs` later (neither the answer
 * nor other bytes, because a slow line may delay the PING), the session is destroyed with its streams. Otherwise the
 * next PING follows after another interval. A session without streams ends by `idleSessionTimeoutMs`.
 */
function watchPeer(
  session: ServerHttp2Session,
  { pingIntervalMs, pingTimeoutMs }: Pick<ListenLimits, "pingIntervalMs" | "pingTimeoutMs">,
  hasStreams: () => boolean,
): void {
  if (pingIntervalMs === 0) return;
  let timer: NodeJS.Timeout;
  rest();
  session.once("close", () => clearTimeout(timer));

  function rest(): void {
    timer = setTimeout(() => (hasStreams() ? ask() : rest()), pingIntervalMs).unref();
  }

  function ask(): void {
    if (session.destroyed) return;
    const { bytesRead } = session.socket;
    session.ping(() => undefined); // its answer counts like all other bytes
    // After this process was blocked, the answer may still wait to be read: timers run before sockets, immediates
    // after.
    timer = setTimeout(() => setImmediate(judge, bytesRead), pingTimeoutMs).unref();
  }

  function judge(heardBefore: number): void {
    if (session.destroyed) return;
    if (session.socket.bytesRead === heardBefore) session.destroy();
    else rest();
  }
}
