import {
  constants,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import { setImmediate } from "node:timers";
import type { CallerConnection } from "./callers/callers.ts";
import { EventLoopTurns } from "./callers/event-loop-turns.ts";
import { placesOf } from "./callers/places.ts";
import { type ExchangeContext, serveExchange } from "./exchange.ts";
import {
  formatRequestUrl,
  hasLongName,
  headerBytes,
  packFields,
  readAuthority,
  toHttp2Fields,
} from "./http-head.ts";
import { PeerQuestions } from "./http2-ask.ts";
import { watchHeader } from "./http2-header.ts";
import { Http2Wire } from "./http2-wire.ts";
import type { ListenLimits } from "./listen-options.ts";
import type { PlainErrorCode } from "./plain-error.ts";
import type { ResponseHead, ResponseSink, SharedLine } from "./send-response.ts";
import { SessionLine } from "./session-line.ts";

/** The HTTP/2 connections of one port. */
export interface Http2Sessions {
  /** Serves a connection that speaks HTTP/2. */
  adopt(socket: Socket): void;
  /** Tells every peer to open no more streams (GOAWAY). Each connection ends with its last stream. */
  goAway(): void;
}

/** Flow-control windows. The protocol's 64 KiB would limit an upload to 64 KiB for each round trip. */
const streamWindowBytes = 1024 * 1024;
const connectionWindowBytes = 4 * 1024 * 1024;

/**
 * SETTINGS_NO_RFC7540_PRIORITIES (RFC 9218 §2.1): with it, older releases of Node keep no tree of dependent streams, in which moving a
 * stream costs more the deeper the tree is.
 */
const noStreamDependencies = 0x9;

/**
 * Node ends a connection that resets more than a thousand requests at once, or 33 a second. That of a trusted proxy resets those of all
 * its callers, and has the headers of all of them.
 */
const ofProxy = { streamResetBurst: 1_000_000, streamResetRate: 1_000_000, maxSessionMemory: 1_024 };

/**
 * In megabytes. Node counts the headers of open streams, and ends a connection that goes beyond: with its own 10, one of 1,250 calls with
 * a token of 8 KB. What all connections may have is bounded by places.
 */
const maxSessionMemory = 64;

/** Serves the connections that `adopt` hands over, within `limits`. */
export function createHttp2Server(context: ExchangeContext, limits: ListenLimits): Http2Sessions {
  const sessions = new Set<ServerHttp2Session>();
  const keepHandle = createHandleKeeper();
  const settings = {
    maxConcurrentStreams: limits.maxStreamsPerConnection,
    maxHeaderListSize: limits.maxHeaderBytes,
    initialWindowSize: streamWindowBytes,
    customSettings: { [noStreamDependencies]: 1 },
  };
  const serve = (
    session: ServerHttp2Session,
    socket: Socket,
    parsed: { readonly bytesRead: number },
  ): void => {
    session.on("error", () => undefined); // "close" follows
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    keepHandle(session);
    session.setLocalWindowSize(connectionWindowBytes);
    const countOpen = countStreams(session);
    closeWhenIdle(session, socket, limits.idleSessionTimeoutMs, countOpen);
    const questions = new PeerQuestions(session, socket);
    watchPeer(session, socket, limits, countOpen, questions);
    limitWalks(session);
    const line = new SessionLine(socket, countOpen);
    const starts = new EventLoopTurns(maxStartsInATurn);
    const connection = context.callers.connectionOf(session, () => socket.remoteAddress);
    const refuse = refuseStreams(session);
    const header = context.places.openHeader(connection.caller.address);
    const noteFrame = watchHeader(session, parsed, header, limits.headersTimeoutMs, questions);
    const noteFields = (rawFields: readonly string[]): void => {
      noteFrame(headerBytes(rawFields));
      connection.countRequest();
      if (hasLongName(rawFields)) connection.countLongName();
    };
    const begin = async (
      stream: ServerHttp2Stream,
      headers: IncomingHttpHeaders,
      rawHeaders: readonly string[],
    ): Promise<void> => {
      noteFields(rawHeaders);
      // When a bad frame has ended the session, its packet's requests still come here, and there is no peer to answer.
      if (stream.destroyed || session.destroyed) return;
      packFields(headers, rawHeaders);
      const places = placesOf(rawHeaders);
      // A proxy's connection brings those of many callers, and goes on for the others when one has too many.
      const network = context.readForwardedFor?.(socket, headers);
      const taken = context.places.takeRequest(network ?? connection.caller.address, places);
      if (taken === null) return refuse(stream, network === undefined ? places : 0);
      stream.once("close", () => taken.end());
      if (!stream.endAfterHeaders) stream.on("data", ({ length }: Buffer) => noteFrame(length));
      const turn = starts.turn(network === undefined ? connection : { caller: network });
      await serveHttp2(context, { connection, socket, line, stream, turn }, headers, rawHeaders);
    };
    session.on("stream", (stream, headers, _flags, rawHeaders) => {
      stream.on("error", () => undefined); // first of all: some fail before their requests begin
      if (!stream.endAfterHeaders)
        stream.on("trailers", (_trailers, _flags, rawFields) => noteFields(rawFields));
      begin(stream, headers, rawHeaders).catch((error: unknown) => {
        if (!stream.destroyed && !session.destroyed) context.onFault(error);
        stream.destroy(error instanceof Error ? error : undefined); // to throw here would end the process
      });
    });
  };
  return {
    adopt(socket) {
      socket.allowHalfOpen = false; // it was set for an HTTP/1.1 socket; a session would outlive its peer
      const isProxy = context.isProxy(socket);
      const connection = context.callers.ofSocket(socket);
      const options = { settings, maxSessionMemory, ...(isProxy ? ofProxy : {}) };
      if (isProxy || connection.mayReadItself(socket)) {
        serve(performServerHandshake(socket, options), socket, socket);
      } else {
        const wire = new Http2Wire(socket, connection);
        serve(performServerHandshake(wire.asStream, options), socket, wire);
      }
    },
    goAway() {
      for (const session of sessions) session.close();
    },
  };
}

/**
 * Keeps what is native of a session from the garbage collector until the turn after it has closed. When Node closes a session
 * itself, a request whose fields have not all arrived is freed only at the end of that turn. If the session were collected before
 * it, Node would end the process ("Assertion failed: (current_nghttp2_memory_) == (0)").
 */
function createHandleKeeper(): (session: ServerHttp2Session) => void {
  const handles = new Set<unknown>();
  return (session) => {
    const name = Object.getOwnPropertySymbols(session).find(({ description }) => description === "kHandle");
    if (name === undefined) return; // another runtime than Node
    const handle: unknown = Reflect.get(session, name);
    handles.add(handle);
    // The first of two turns may be the rest of the one in which it closed.
    session.once("close", () => setImmediate(() => setImmediate(() => handles.delete(handle))));
  };
}

/** Requests of one connection that begin in one turn of the event loop. */
const maxStartsInATurn = 8;

/** Places of the streams that are refused before their connection is told to stop. */
const maxRefused = 1_000;

/** Refuses streams in the way that lets callers send their requests again (RFC 9113 §8.7), and a connection that goes on and on. */
function refuseStreams(session: ServerHttp2Session): (stream: ServerHttp2Stream, places: number) => void {
  let refused = 0;
  return (stream, places) => {
    stream.close(constants.NGHTTP2_REFUSED_STREAM);
    const wasTold = refused >= maxRefused;
    refused += places;
    if (wasTold || refused < maxRefused) return;
    // Behind the refusals: Node keeps them while what it has written before waits, and a client may give up what it has not heard of.
    stream.once("close", () => {
      if (session.destroyed) return;
      session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM); // the streams that it has go on
      session.close();
    });
  };
}

/** Frames of a connection that make the parser go through all its streams. Clients send one or two. */
const maxWalks = 100;

/** One packet may have a thousand such frames: another window for streams (SETTINGS), or a GOAWAY. */
function limitWalks(session: ServerHttp2Session): void {
  let count = 0;
  const countOne = (): void => {
    count += 1;
    if (count !== maxWalks) return;
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session.destroy();
  };
  session.on("remoteSettings", countOne).on("goaway", countOne);
}

/** Call it before the first stream. */
function countStreams(session: ServerHttp2Session): () => number {
  let open = 0;
  session.on("stream", (stream) => {
    open += 1;
    stream.once("close", () => {
      open -= 1;
    });
  });
  return () => open;
}

/**
 * Closes a session that has no streams, and cuts the connection where that has not ended it by the next time: its peer reads nothing, or
 * does not close it. Not by `session.setTimeout`: Node does not clear that when a session closes, and keeps the session until the time is
 * over.
 */
function closeWhenIdle(
  session: ServerHttp2Session,
  socket: Socket,
  timeoutMs: number,
  countOpen: () => number,
): void {
  const end = (): void => {
    const isIdle = countOpen() === 0;
    if (session.destroyed || (session.closed && isIdle)) socket.destroy();
    else if (isIdle) session.close();
    refresh();
  };
  const timer = setTimeout(end, timeoutMs).unref();
  const refresh = (): void => {
    if (!socket.destroyed) timer.refresh();
  };
  session.on("ping", refresh).on("stream", (stream) => stream.once("close", refresh));
  socket.once("close", () => clearTimeout(timer));
}

/**
 * Detects a peer that has vanished while it has streams open. gRPC has no keep-alive messages, so without this no write
 * would fail.
 *
 * After `pingIntervalMs` the peer is asked for an answer. When nothing has come from it `pingTimeoutMs` later (neither
 * that nor other bytes), or later where a slow line may delay the question (`PeerQuestions`), the session is destroyed with its
 * streams. Otherwise it is asked again after another interval. A session without streams ends by `idleSessionTimeoutMs`.
 */
function watchPeer(
  session: ServerHttp2Session,
  socket: Socket,
  { pingIntervalMs, pingTimeoutMs }: Pick<ListenLimits, "pingIntervalMs" | "pingTimeoutMs">,
  countOpen: () => number,
  questions: PeerQuestions,
): void {
  if (pingIntervalMs === 0) return;
  let timer: NodeJS.Timeout | undefined;
  rest();
  session.once("close", () => clearTimeout(timer));

  function rest(): void {
    clearTimeout(timer);
    timer = setTimeout(() => (countOpen() > 0 ? ask() : rest()), pingIntervalMs).unref();
  }

  function ask(): void {
    if (session.destroyed) return;
    const { bytesRead } = socket;
    // After this process was blocked, the answer may still wait to be read: timers run before sockets, immediates
    // after.
    const patienceMs = pingTimeoutMs + questions.delayMs;
    timer = setTimeout(() => setImmediate(judge, bytesRead), patienceMs).unref();
    questions.ask(rest);
  }

  function judge(heardBefore: number): void {
    if (session.destroyed) return;
    if (socket.bytesRead === heardBefore) session.destroy();
    else rest();
  }
}

/** Where a request came. */
interface Http2Request {
  readonly connection: CallerConnection;
  readonly socket: Socket;
  readonly line: SharedLine;
  readonly stream: ServerHttp2Stream;
  /** Undefined: it may begin at once. */
  readonly turn: Promise<void> | undefined;
}

/** Answers one HTTP/2 request, on the stream itself: Node's compatibility layer costs twice as much for each call. */
function serveHttp2(
  context: ExchangeContext,
  { connection, socket, line, stream, turn }: Http2Request,
  fields: IncomingHttpHeaders,
  rawHeaders: readonly string[],
): Promise<void> {
  const url = findUrl(context, fields, rawHeaders);
  const length = stream.endAfterHeaders ? "0" : fields["content-length"];
  const isAsking = fields.expect === "100-continue" && typeof url === "string";
  return serveExchange(
    context,
    {
      httpVersion: "2.0",
      method: fields[":method"] ?? "GET",
      url,
      fields,
      rawFields: rawHeaders,
      source: stream,
      declaredLength: length === undefined ? undefined : Number(length),
      turn: isAsking ? letSend(stream, turn) : turn,
      bodyTimeoutMs: context.requestTimeoutMs,
      connection,
      socket,
      cut: () => stream.close(constants.NGHTTP2_NO_ERROR), // the rest is not needed (RFC 9113 §8.1)
    },
    new Http2Sink(stream, line),
  );
}

/** Asks for the body of a caller that waits for that, when its request may begin. */
async function letSend(stream: ServerHttp2Stream, turn: Promise<void> | undefined): Promise<void> {
  if (turn !== undefined) await turn;
  if (!stream.destroyed && !stream.closed) stream.additionalHeaders({ ":status": 100 });
}

/** The URL of a request, or why it is refused. */
function findUrl(
  { scheme, maxHeaderBytes }: ExchangeContext,
  fields: IncomingHttpHeaders,
  rawHeaders: readonly string[],
): string | PlainErrorCode {
  const authority = readAuthority(fields);
  const url = authority === undefined ? undefined : formatRequestUrl(scheme, authority, fields[":path"]);
  if (url === undefined) return fields[":method"] === "CONNECT" ? 405 : 400;
  return headerBytes(rawHeaders) > maxHeaderBytes || hasLongName(rawHeaders) ? 431 : url;
}

class Http2Sink implements ResponseSink {
  readonly writable: ServerHttp2Stream;
  readonly isQueued = false;
  readonly line: SharedLine;
  /** Not `writableEnded`: Node ends the stream of a caller that resets it, too. */
  #complete = false;

  constructor(stream: ServerHttp2Stream, line: SharedLine) {
    this.writable = stream;
    this.line = line;
  }

  get complete(): boolean {
    return this.#complete;
  }

  get taken(): boolean {
    return this.writable.writableFinished;
  }

  get gone(): boolean {
    return this.writable.destroyed || this.writable.closed;
  }

  get headSent(): boolean {
    return this.writable.headersSent;
  }

  sendHead({ status, header, contentLength, bodiless, trailer }: ResponseHead): void {
    const stream = this.writable;
    const fields = toHttp2Fields(header);
    fields[":status"] = status;
    if (contentLength !== undefined) fields["content-length"] ??= contentLength;
    stream.respond(fields, { endStream: bodiless, waitForTrailers: trailer !== undefined });
    if (trailer !== undefined) stream.once("wantTrailers", () => stream.sendTrailers(toHttp2Fields(trailer)));
  }

  end(last: string | Uint8Array | undefined): void {
    this.#complete = true;
    if (last === undefined) this.writable.end();
    else this.writable.end(last);
  }

  reset(): void {
    // Not `close`: that ends the data first, and a cut response would look whole.
    this.writable.destroy(new Error("the response was given up"));
  }
}
