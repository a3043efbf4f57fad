import { constants } from "node:crypto";
import { createServer, type Server as HttpServer, IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Holding } from "@a2a-connect/core/internal";
import { type ExchangeContext, serveExchange } from "./exchange.ts";
import { cutWhenForgotten } from "./forgotten-connection.ts";
import { formatRequestUrl, hasItsHost, maxNameLength, packFields, toHttp1Fields } from "./http-head.ts";
import type { ListenLimits, ListenOptions } from "./listen-options.ts";
import type { Incoming } from "./node-request.ts";
import { Pipeline, type PipelineServer } from "./pipeline.ts";
import type { PlainErrorCode } from "./plain-error.ts";
import type { ResponseHead, ResponseSink } from "./send-response.ts";
import { SlicedReader } from "./sliced-reader.ts";

/** The server that owns the port, and functions that hand it connections. */
export interface Http1Server {
  readonly server: HttpServer;
  /** Begins TLS on a connection; when its handshake is complete, the server emits `secureConnection`. */
  secure(socket: Socket): void;
  /** Takes a connection that speaks HTTP/1.1. */
  adopt(socket: Socket): void;
}

/** Detects dead peers by the system's own probes, on both HTTP versions. */
const tcpKeepAliveMs = 60_000;

/**
 * Node's HTTP/1.1 server without its own connection listener, so that it gets only the connections that we hand over.
 */
export function createHttp1Server(
  context: ExchangeContext,
  limits: ListenLimits,
  tls: ListenOptions["tls"],
): Http1Server {
  const { requestTimeoutMs } = limits;
  const headersTimeoutMs = Math.min(limits.headersTimeoutMs, requestTimeoutMs); // Node needs them in this order
  const options = {
    IncomingMessage: IncomingRequest,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    maxHeaderSize: limits.maxHeaderBytes,
    connectionsCheckingInterval: headersTimeoutMs / 2,
    requireHostHeader: false, // the exchange tests it, and answers in JSON
    keepAlive: true,
    keepAliveInitialDelay: tcpKeepAliveMs,
  };
  const server =
    tls === undefined
      ? createServer(options)
      : createTlsServer({
          ...options,
          cert: tls.cert as string | Buffer, // Node takes any Uint8Array here; its types say Buffer
          key: tls.key as string | Buffer,
          // The gate decides about calls without one, or with one that does not hold: the card has to stay readable.
          ...(tls.clientCa === undefined
            ? {}
            : { requestCert: true, rejectUnauthorized: false, ca: [tls.clientCa].flat() }),
          ALPNProtocols: ["h2", "http/1.1"],
          handshakeTimeout: limits.firstByteTimeoutMs,
          secureOptions: constants.SSL_OP_NO_RENEGOTIATION, // each costs a signature, and HTTP needs none
        });
  // Node ends a half-closed connection at once, and loses the answer. `adopt` keeps it open for a moment.
  Object.assign(server, { httpAllowHalfOpen: true });
  const handshakes = tls === undefined ? [] : takeListeners(server, "connection");
  const own = takeListeners(server, tls === undefined ? "connection" : "secureConnection");
  const pipelines = new WeakMap<Duplex, Pipeline>();
  const requests: PipelineServer = {
    serve(message, response, turn) {
      const { expect } = message.headers;
      // RFC 9110 §10.1.1: no other expectation has a meaning.
      const isMet = expect === undefined || /^\s*100-continue\s*$/i.test(expect);
      const refusal =
        message instanceof IncomingRequest && message.hasLongName ? 431 : isMet ? undefined : 417;
      return serveHttp1(
        context,
        message,
        response,
        // Node's parser copies each chunk into memory of its own.
        { turn, ownsChunks: true, ...(refusal === undefined ? {} : { url: refusal }) },
      );
    },
    takePlaces: (message, places) => takePlaces(context, message, places),
    onFault: context.onFault,
  };
  server.on("request", (message, response) => {
    const { socket } = message;
    context.callers.ofSocket(socket).countRequest();
    pipelines.get(socket)?.add(message, response, requests);
  });
  // Node itself would answer at once, however many such requests are pipelined.
  server.on("checkExpectation", (message, response) => server.emit("request", message, response));
  // Node asks for the body by a write of the response, which it puts between header and body of an answer that is ready and waits for
  // those before it. And it ends a connection with an answer whose body was not asked for, although others wait behind it.
  server.on("checkContinue", (message, response) => {
    const askForBody = (socket: Socket): void => void socket.write("HTTP/1.1 100 Continue\r\n\r\n");
    if (response.socket === null) response.once("socket", askForBody);
    else askForBody(response.socket);
    Object.assign(response, { _sent100: true }); // before all of its answer, in any case
    server.emit("request", message, response);
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === "HPE_CLOSED_CONNECTION") return; // what comes after the last request is not read, and no error
    if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") {
      pipelines.get(socket)?.refuseLate({ headersTimeoutMs, requestTimeoutMs });
      return;
    }
    const code = refusalOf(error.code);
    if (code === undefined) socket.destroy();
    else pipelines.get(socket)?.refuse(code);
  });
  // Without this, Node would cut the connection, and what it has not answered.
  server.on("connect", (_request, socket) => pipelines.get(socket)?.refuseTunnel());
  return {
    server,
    secure: (socket) => {
      for (const listener of handshakes) listener.call(server, socket);
    },
    // What arrives goes through the reader to Node's parser, which emits `request`; the pipeline takes it, and calls `serve`.
    // Node reads nothing before its next turn, so the pipeline is there before the first request.
    adopt(socket) {
      cutAfterHalfClose(socket, limits.halfCloseTimeoutMs);
      for (const listener of own) listener.call(server, socket);
      const connection = context.callers.ofSocket(socket);
      const places = context.places.openHeader(connection.caller.address);
      socket.once("close", () => places.end());
      const refuse = (): void => pipeline.refuseUnfinished();
      const reader = new SlicedReader(socket, connection, { places, refuse });
      const pipeline = new Pipeline(socket, reader, connection);
      pipelines.set(socket, pipeline);
      closeWhenRead(socket, pipeline);
      cutWhenForgotten(socket);
    },
  };
}

/** What Node's parser calls with the names and values of a header, or of trailers, in turn. */
const { _addHeaderLines: addFields } = IncomingMessage.prototype as unknown as {
  readonly _addHeaderLines: (this: IncomingMessage, fields: string[], count: number) => void;
};

/** A request whose fields have names of at most `maxNameLength`: Node makes an object of them as soon as they have come. */
class IncomingRequest extends IncomingMessage {
  hasLongName = false;

  _addHeaderLines(fields: string[], count: number): void {
    for (let at = 0; at < count; at += 2) {
      if ((fields[at]?.length ?? 0) <= maxNameLength) continue;
      this.hasLongName = true;
      fields[at] = "name-too-long"; // a part of the name would keep all of it
    }
    addFields.call(this, fields, count);
  }
}

/** What Node registered for an event; it is no longer called. */
function takeListeners(server: HttpServer, event: string): readonly ((socket: Socket) => void)[] {
  const listeners = server.listeners(event) as ((socket: Socket) => void)[]; // both events have a socket
  for (const listener of listeners) server.off(event, listener);
  return listeners;
}

/** How long a connection may take to close after its last answer, in milliseconds. */
const maxCloseMs = 10_000;

/**
 * Node closes a connection by this method after the last answer. Where the caller still sends the body of that request, it may lose the answer
 * (RFC 9112 §9.6): what comes is read on, as long as `RequestBody` does, and then the connection is closed.
 */
function closeWhenRead(socket: Socket, pipeline: Pick<Pipeline, "restOfLast">): void {
  const close = socket.destroySoon.bind(socket);
  let closes = false;
  socket.destroySoon = () => {
    if (closes) return; // while the port is closed, an answer asks for it as well
    closes = true;
    const timer = setTimeout(() => socket.destroy(), maxCloseMs).unref(); // the rest, or the last words of TLS, may not get through
    socket.once("close", () => clearTimeout(timer));
    const { restOfLast } = pipeline;
    if (restOfLast === undefined) close();
    else restOfLast.once("end", close);
  };
}

function cutAfterHalfClose(socket: Socket, timeoutMs: number): void {
  socket.once("end", () => {
    const timer = setTimeout(() => socket.destroy(), timeoutMs).unref();
    socket.once("close", () => clearTimeout(timer));
  });
}

function refusalOf(errorCode: string | undefined): PlainErrorCode | undefined {
  if (errorCode === "HPE_HEADER_OVERFLOW") return 431;
  if (errorCode === "HPE_CHUNK_EXTENSIONS_OVERFLOW") return 413;
  return errorCode?.startsWith("HPE_") === true ? 400 : undefined;
}

/** Takes places for a request of HTTP/1.1, until it ends. @returns null: its caller has as many as it may have */
export function takePlaces(
  { callers, places, readForwardedFor }: ExchangeContext,
  { headers, socket }: IncomingMessage,
  amount: number,
): Holding | null {
  const network = readForwardedFor?.(socket, headers) ?? callers.ofSocket(socket).caller.address;
  return places.takeRequest(network, amount);
}

/** What a mount makes of a request before it is answered. */
export type MountedRequest = Pick<Incoming, "url" | "mount" | "boundToLoopback"> &
  Partial<Pick<Incoming, "fields" | "source" | "declaredLength" | "bodyTimeoutMs">>;

/**
 * Answers one HTTP/1.x request.
 *
 * @param given what is known of it besides: by the mount in another server, or by its pipeline
 */
export function serveHttp1(
  context: ExchangeContext,
  message: IncomingMessage,
  response: ServerResponse,
  given: Partial<Incoming> = {},
): Promise<void> {
  const { httpVersion, method = "GET", headers: fields, socket } = message;
  packFields(fields, message.rawHeaders);
  const ownUrl = (): string | undefined =>
    hasItsHost(message) ? formatRequestUrl(context.scheme, fields.host, message.url) : undefined;
  return serveExchange(
    context,
    {
      httpVersion,
      method,
      url: given.url ?? ownUrl() ?? 400,
      fields,
      rawFields: message.rawHeaders,
      source: message,
      declaredLength: declaredLength(message),
      bodyTimeoutMs: undefined,
      connection: context.callers.ofSocket(socket),
      socket,
      cut: () => socket.destroy(),
      ...given,
    },
    new Http1Sink(context, response, socket),
  );
}

/** Node's parser has validated the number; a body of unknown length is chunked. */
function declaredLength(message: IncomingMessage): number | undefined {
  const length = message.headers["content-length"];
  if (length !== undefined) return Number(length);
  return message.headers["transfer-encoding"] === undefined ? 0 : undefined;
}

class Http1Sink implements ResponseSink {
  readonly writable: ServerResponse;
  readonly line = undefined;
  readonly #context: ExchangeContext;
  readonly #socket: Socket;

  /** @param socket the connection; a pipelined response has none of its own before it is sent */
  constructor(context: ExchangeContext, response: ServerResponse, socket: Socket) {
    this.#context = context;
    this.writable = response;
    this.#socket = socket;
  }

  get complete(): boolean {
    return this.writable.writableEnded;
  }

  /** Nearly always at once. Node's `writableFinished` says so a turn of the event loop later. */
  get taken(): boolean {
    return this.complete && !this.isQueued && this.writable.writableLength === 0;
  }

  get gone(): boolean {
    return this.writable.destroyed || this.#socket.destroyed;
  }

  get isQueued(): boolean {
    return this.writable.socket === null;
  }

  get headSent(): boolean {
    return this.writable.headersSent;
  }

  sendHead({ status, header, contentLength, atOnce }: ResponseHead): void {
    const fields = toHttp1Fields(header);
    if (contentLength !== undefined && header?.has("content-length") !== true) {
      fields.push("content-length", String(contentLength));
    }
    if (this.#context.draining) fields.push("connection", "close");
    this.writable.writeHead(status, fields);
    if (atOnce) this.writable.flushHeaders(); // Node delays a head until its first bytes; HTTP/2 never does
  }

  end(last: string | Uint8Array | undefined, trailer: Headers | undefined): void {
    if (trailer !== undefined) this.writable.addTrailers(toTrailers(trailer));
    if (last === undefined) this.writable.end();
    else this.writable.end(last);
    if (this.taken && !this.#context.draining) return; // as nearly always: nothing is left to be done
    // Draining began after this head promised to keep the connection.
    this.writable.once("finish", () => {
      if (this.#context.draining) this.#socket.destroySoon();
    });
  }

  reset(): void {
    this.#socket.destroy();
  }
}

function toTrailers(trailer: Headers): [string, string][] {
  return [...trailer];
}
