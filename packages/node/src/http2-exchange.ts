import {
  constants,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { type ExchangeContext, serveExchange } from "./exchange.ts";
import { toHttp2Fields } from "./header-fields.ts";
import type { PlainErrorCode } from "./plain-error.ts";
import { formatRequestUrl, readAuthority } from "./request-url.ts";
import type { ResponseHead, ResponseSink } from "./send-response.ts";

/** Answers one HTTP/2 request, on the stream itself: Node's compatibility layer costs twice as much for each call. */
export function serveHttp2(
  context: ExchangeContext,
  session: ServerHttp2Session,
  stream: ServerHttp2Stream,
  fields: IncomingHttpHeaders,
  rawHeaders: readonly string[],
): Promise<void> {
  const url = findUrl(context, fields, rawHeaders);
  const length = stream.endAfterHeaders ? "0" : fields["content-length"];
  if (fields.expect === "100-continue" && typeof url === "string") {
    stream.additionalHeaders({ ":status": 100 });
  }
  return serveExchange(
    context,
    {
      httpVersion: "2.0",
      method: fields[":method"] ?? "GET",
      url,
      fields,
      source: stream,
      declaredLength: length === undefined ? undefined : Number(length),
      bodyTimeoutMs: context.requestTimeoutMs,
      connection: session,
      socket: session.socket,
      cut: () => stream.close(constants.NGHTTP2_NO_ERROR), // the rest is not needed (RFC 9113 §8.1)
    },
    new Http2Sink(stream),
  );
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
  return headerBytes(rawHeaders) > maxHeaderBytes ? 431 : url;
}

/**
 * The size by the rule of SETTINGS_MAX_HEADER_LIST_SIZE (RFC 9113 §6.5.2). Node announces that limit but does not
 * enforce it.
 */
function headerBytes(rawHeaders: readonly string[]): number {
  return rawHeaders.reduce((sum, text) => sum + text.length + 16, 0);
}

class Http2Sink implements ResponseSink {
  readonly writable: ServerHttp2Stream;
  /** Not `writableEnded`: Node ends the stream of a caller that resets it, too. */
  #complete = false;

  constructor(stream: ServerHttp2Stream) {
    this.writable = stream;
  }

  get complete(): boolean {
    return this.#complete;
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
