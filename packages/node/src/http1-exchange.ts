import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { HttpRequest } from "@a2a-connect/bindings";
import { CallSignal } from "./call-signal.ts";
import { callerGone, type ExchangeContext, serveExchange } from "./exchange.ts";
import { toHttp1Fields } from "./header-fields.ts";
import { NodeRequest } from "./node-request.ts";
import { plainError } from "./plain-error.ts";
import { RequestBody } from "./request-body.ts";
import { formatRequestUrl, hasItsHost } from "./request-url.ts";
import { type ResponseHead, type ResponseSink, sendResponse } from "./send-response.ts";
import { HeldAnswer } from "./unread-answers.ts";

/** Answers one HTTP/1.x request. */
export async function serveHttp1(
  context: ExchangeContext,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { socket } = message;
  const call = new CallSignal();
  const sink = new Http1Sink(context, response, socket);
  const account = context.bodies.accountOf(socket, () => socket.remoteAddress);
  const body = new RequestBody(message, {
    declaredLength: declaredLength(message),
    budget: context.bodies,
    account,
    turns: context.turns,
    cut: () => socket.destroy(),
  });
  response.on("error", () => undefined); // a write to a broken socket; "close" follows with the result
  response.once("close", () => {
    if (sink.complete) return;
    const gone = callerGone();
    call.abort(gone);
    body.refuse(gone);
  });
  const url = hasItsHost(message)
    ? formatRequestUrl(context.scheme, message.headers.host, message.url)
    : undefined;
  if (url === undefined) {
    await sendResponse(plainError(400), "GET", sink, context.stalledReaderTimeoutMs);
  } else {
    const held = new HeldAnswer(context.unread);
    await serveExchange(
      context,
      account,
      createHttp1Request(context, message, body, url, call, held),
      call,
      sink,
      held,
    );
  }
  body.discard();
}

function createHttp1Request(
  context: ExchangeContext,
  message: IncomingMessage,
  body: RequestBody,
  url: string,
  call: CallSignal,
  held: HeldAnswer,
): HttpRequest {
  return new NodeRequest({
    httpVersion: message.httpVersion,
    url,
    method: message.method ?? "GET",
    fields: message.headers,
    body,
    call,
    boundToLoopback: context.boundToLoopback,
    held,
    readForwardedUrl: context.readForwardedUrl,
    readCallerNetwork: context.readCallerNetwork,
    connection: message.socket,
  });
}

/** Node's parser has validated the number; a body of unknown length is chunked. */
function declaredLength(message: IncomingMessage): number | undefined {
  const length = message.headers["content-length"];
  if (length !== undefined) return Number(length);
  return message.headers["transfer-encoding"] === undefined ? 0 : undefined;
}

class Http1Sink implements ResponseSink {
  readonly writable: ServerResponse;
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

  get gone(): boolean {
    return this.writable.destroyed || this.#socket.destroyed;
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
