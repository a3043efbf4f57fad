import {
  constants,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { HttpRequest } from "@a2a-connect/bindings";
import { CallSignal } from "./call-signal.ts";
import { callerGone, type ExchangeContext, serveExchange } from "./exchange.ts";
import { toHttp2Fields } from "./header-fields.ts";
import { NodeRequest } from "./node-request.ts";
import { plainError } from "./plain-error.ts";
import { RequestBody } from "./request-body.ts";
import { formatRequestUrl, readAuthority } from "./request-url.ts";
import { type ResponseHead, type ResponseSink, sendResponse } from "./send-response.ts";
import { HeldAnswer } from "./unread-answers.ts";

/** Answers one HTTP/2 request, on the stream itself: Node's compatibility layer costs twice as much for each call. */
export async function serveHttp2(
  context: ExchangeContext,
  session: ServerHttp2Session,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
): Promise<void> {
  const call = new CallSignal();
  const sink = new Http2Sink(stream);
  const length = stream.endAfterHeaders ? "0" : headers["content-length"];
  const account = context.bodies.accountOf(session, () => session.socket.remoteAddress);
  const body = new RequestBody(stream, {
    declaredLength: length === undefined ? undefined : Number(length),
    timeoutMs: context.requestTimeoutMs,
    budget: context.bodies,
    account,
    turns: context.turns,
    cut: () => stream.close(constants.NGHTTP2_NO_ERROR), // the rest is not needed (RFC 9113 §8.1)
  });
  stream.on("error", () => undefined); // a reset by the peer; "close" follows with the result
  stream.once("close", () => {
    if (sink.complete) return;
    const gone = callerGone();
    call.abort(gone);
    body.refuse(gone);
  });
  const authority = readAuthority(headers);
  const url =
    authority === undefined ? undefined : formatRequestUrl(context.scheme, authority, headers[":path"]);
  if (url === undefined || headerBytes(rawHeaders) > context.maxHeaderBytes) {
    const code = url !== undefined ? 431 : headers[":method"] === "CONNECT" ? 405 : 400;
    await sendResponse(plainError(code), "GET", sink, context.stalledReaderTimeoutMs);
  } else {
    if (headers.expect === "100-continue") stream.additionalHeaders({ ":status": 100 });
    const held = new HeldAnswer(context.unread);
    await serveExchange(
      context,
      account,
      createHttp2Request(context, stream, headers, body, url, call, held),
      call,
      sink,
      held,
    );
  }
  body.discard();
}

/**
 * The size by the rule of SETTINGS_MAX_HEADER_LIST_SIZE (RFC 9113 §6.5.2). Node announces that limit but does not
 * enforce it.
 */
function headerBytes(rawHeaders: readonly string[]): number {
  return rawHeaders.reduce((sum, text) => sum + text.length + 16, 0);
}

function createHttp2Request(
  context: ExchangeContext,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  body: RequestBody,
  url: string,
  call: CallSignal,
  held: HeldAnswer,
): HttpRequest {
  return new NodeRequest({
    httpVersion: "2.0",
    url,
    method: headers[":method"] ?? "GET",
    fields: headers,
    body,
    call,
    held,
    boundToLoopback: context.boundToLoopback,
    readForwardedUrl: context.readForwardedUrl,
    readCallerNetwork: context.readCallerNetwork,
    connection: stream.session?.socket,
  });
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
