import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { HttpRequest } from "@a2a-connect/bindings";
import { createCallSignal } from "./call-signal.ts";
import { discardBody } from "./discard-body.ts";
import { callerGone, type ExchangeContext, serveExchange } from "./exchange.ts";
import { toHeaders, toHttp1Fields } from "./header-fields.ts";
import { plainError } from "./plain-error.ts";
import { createRequestBody } from "./request-body.ts";
import { formatRequestUrl } from "./request-url.ts";
import { type ResponseSink, sendResponse } from "./send-response.ts";

/** Answer one HTTP/1.x request. */
export async function serveHttp1(
  context: ExchangeContext,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const call = createCallSignal();
  const sink = createHttp1Sink(context, response, message.socket);
  response.on("error", () => undefined); // a write to a broken socket; "close" follows and tells the rest
  response.once("close", () => {
    if (!sink.complete) call.abort(callerGone());
  });
  const url = formatRequestUrl(context.scheme, message.headers.host, message.url);
  if (url === undefined) {
    await sendResponse(plainError(400), "GET", sink, context.stalledReaderTimeoutMs);
  } else {
    await serveExchange(context, createHttp1Request(message, url, call), call, sink);
  }
  discardBody(message, () => message.socket.destroy());
}

function createHttp1Request(
  message: IncomingMessage,
  url: string,
  call: { readonly signal: AbortSignal },
): HttpRequest {
  let header: Headers | undefined;
  return {
    httpVersion: message.httpVersion,
    url,
    method: message.method ?? "GET",
    get header() {
      header ??= toHeaders(message.headers);
      return header;
    },
    body: createRequestBody(message, { declaredLength: declaredLength(message) }),
    get signal() {
      return call.signal;
    },
  };
}

/** Node's parser has checked the number; a body of unknown length is chunked. */
function declaredLength(message: IncomingMessage): number | undefined {
  const length = message.headers["content-length"];
  if (length !== undefined) return Number(length);
  return message.headers["transfer-encoding"] === undefined ? 0 : undefined;
}

/** @param socket the connection; a pipelined response has none of its own before its turn */
function createHttp1Sink(context: ExchangeContext, response: ServerResponse, socket: Socket): ResponseSink {
  return {
    writable: response,
    get complete() {
      return response.writableEnded;
    },
    get gone() {
      return response.destroyed || socket.destroyed;
    },
    get headSent() {
      return response.headersSent;
    },
    sendHead({ status, header, contentLength }) {
      const fields = toHttp1Fields(header);
      if (contentLength !== undefined && header?.has("content-length") !== true) {
        fields.push("content-length", String(contentLength));
      }
      if (context.draining) fields.push("connection", "close");
      response.writeHead(status, fields);
    },
    end(last, trailer) {
      if (trailer !== undefined) response.addTrailers(toTrailers(trailer));
      if (last === undefined) response.end();
      else response.end(last);
      // Draining began after this head promised to keep the connection.
      response.once("finish", () => {
        if (context.draining) socket.destroySoon();
      });
    },
    reset() {
      socket.destroy();
    },
  };
}

function toTrailers(trailer: Headers): [string, string][] {
  return [...trailer];
}
