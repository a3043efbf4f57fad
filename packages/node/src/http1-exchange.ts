import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type ExchangeContext, serveExchange } from "./exchange.ts";
import { toHttp1Fields } from "./header-fields.ts";
import { formatRequestUrl, hasItsHost } from "./request-url.ts";
import type { ResponseHead, ResponseSink } from "./send-response.ts";

/** Answers one HTTP/1.x request. */
export function serveHttp1(
  context: ExchangeContext,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { httpVersion, method = "GET", headers: fields, socket } = message;
  const url = hasItsHost(message) ? formatRequestUrl(context.scheme, fields.host, message.url) : undefined;
  return serveExchange(
    context,
    {
      httpVersion,
      method,
      url: url ?? 400,
      fields,
      source: message,
      declaredLength: declaredLength(message),
      bodyTimeoutMs: undefined,
      connection: socket,
      socket,
      cut: () => socket.destroy(),
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
