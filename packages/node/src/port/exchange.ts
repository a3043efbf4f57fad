import type { HttpHandler, HttpRequest, HttpResponse } from "@a2a-connect/bindings";
import { callUnawaited } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import { createForwardedForReader, type ReadForwardedFor } from "../network/caller-network.ts";
import { createForwardedUrlReader } from "../network/forwarded-url.ts";
import { parseTrustedProxies, type RemoteEnd, trustedOnce } from "../network/trusted-proxies.ts";
import { type CallerConnection, type Callers, findCallers } from "./callers/callers.ts";
import { Places } from "./callers/places.ts";
import { createFaultTeller } from "./fault-teller.ts";
import type { ListenLimits, ListenOptions } from "./listen-options.ts";
import { CallSignal, type Incoming, NodeRequest, type RequestContext } from "./node-request.ts";
import { plainError } from "./plain-error.ts";
import { RequestBody } from "./request-body.ts";
import { type Patience, type ResponseSink, sendResponse } from "./send-response.ts";

/** What all requests of one port share. */
export interface ExchangeContext extends RequestContext {
  readonly handler: HttpHandler;
  readonly scheme: "http" | "https";
  /** How long a write may wait for a reader that reads nothing, in milliseconds. */
  readonly stalledReaderTimeoutMs: number;
  /** Time limit for the body of an HTTP/2 request, in milliseconds (Node enforces that of HTTP/1.1). */
  readonly requestTimeoutMs: number;
  /** The limit of an HTTP/2 request's header fields (Node enforces that of HTTP/1.1). */
  readonly maxHeaderBytes: number;
  /** Whether a connection comes from a trusted proxy. */
  readonly isProxy: (connection: RemoteEnd) => boolean;
  /** Undefined: no proxy is trusted. */
  readonly readForwardedFor: ReadForwardedFor | undefined;
  /** Who sends them, and what callers share, of other ports, too. */
  readonly callers: Callers;
  /** How many connections and calls there may be. */
  readonly places: Places;
  /** None of the three throws. */
  readonly onError: ((error: unknown, request: HttpRequest) => void) | undefined;
  readonly onWarning: ((message: string) => void) | undefined;
  /** Takes what went wrong outside of all calls' handlers, for the log. */
  readonly onFault: (fault: unknown) => void;
  /** The calls without a complete response. */
  inFlight: Set<Pick<CallSignal, "abort">>;
  /** Set once, when the port stops accepting. */
  draining: boolean;
}

/** What the requests of a port, or of a mount, come from. */
interface ExchangeOptions {
  readonly scheme: ExchangeContext["scheme"];
  readonly limits: ListenLimits;
  readonly trustedProxies: ListenOptions["trustedProxies"];
  readonly onError: ListenOptions["onError"];
  readonly onWarning: ListenOptions["onWarning"];
}

/** @throws Error when a trusted proxy is no address */
export function createExchangeContext(
  handler: HttpHandler,
  { scheme, limits, trustedProxies = [], onError, onWarning: warn }: ExchangeOptions,
): ExchangeContext {
  const onWarning = warn && ((message: string) => callUnawaited(() => warn(message)));
  return {
    handler,
    scheme,
    boundToLoopback: false,
    stalledReaderTimeoutMs: limits.stalledReaderTimeoutMs,
    requestTimeoutMs: limits.requestTimeoutMs,
    maxHeaderBytes: limits.maxHeaderBytes,
    callers: findCallers(limits),
    places: new Places(limits),
    ...(trustedProxies.length === 0
      ? { isProxy: () => false, readForwardedUrl: undefined, readForwardedFor: undefined }
      : {
          isProxy: trustedOnce(parseTrustedProxies(trustedProxies)),
          readForwardedUrl: createForwardedUrlReader(trustedProxies, onWarning),
          readForwardedFor: createForwardedForReader(trustedProxies),
        }),
    onError: onError && ((error, request) => callUnawaited(() => onError(error, request))),
    onWarning,
    onFault: createFaultTeller((message) => onWarning?.(message)),
    inFlight: new Set(),
    draining: false,
  };
}

/**
 * One request and its response. In each case the caller gets a well-formed response or a reset
 * stream, and never the text of an exception. A request whose caller has gone before its turn is not begun.
 */
export async function serveExchange(
  context: ExchangeContext,
  incoming: Incoming,
  sink: ResponseSink,
): Promise<void> {
  const { source, declaredLength, turn, bodyTimeoutMs: timeoutMs, cut, ownsChunks } = incoming;
  const { readForwardedFor } = context;
  const told = readForwardedFor?.(incoming.socket, incoming.fields);
  const connection = told === undefined ? incoming.connection : incoming.connection.beginPassedOn(told);
  const body = new RequestBody(source, { declaredLength, timeoutMs, connection, cut, ownsChunks });
  try {
    if (turn !== undefined) await turn;
    if (!sink.gone) await begin(context, incoming, sink, { body, connection });
  } finally {
    body.discard();
    if (told !== undefined) incoming.connection.endPassedOn(connection);
  }
}

async function begin(
  context: ExchangeContext,
  incoming: Incoming,
  sink: ResponseSink,
  { body, connection }: { readonly body: RequestBody; readonly connection: CallerConnection },
): Promise<void> {
  const call = new CallSignal();
  sink.writable.on("error", () => undefined); // a broken socket, or a reset by the peer; "close" follows with the result
  sink.writable.once("close", async () => {
    if (sink.complete) return;
    const turn = connection.turnBeforeEnd();
    if (turn !== undefined) await turn;
    const gone = new ConnectError("the caller went away", Code.Canceled);
    call.abort(gone);
    body.refuse(gone);
  });
  const patience = { stalledTimeoutMs: context.stalledReaderTimeoutMs, connection };
  const place = context.readForwardedFor && context.places.takePassedOn(connection.caller.address);
  const url = place === null ? 429 : incoming.url;
  const unread = connection.openUnread();
  try {
    if (typeof url === "number") {
      await sendResponse(plainError(url), "GET", sink, patience);
      return;
    }
    const request = new NodeRequest(context, incoming, { url, body, call, unread, connection });
    context.inFlight.add(call);
    const turn = connection.turnBeforeRequest();
    if (turn !== undefined) await turn;
    if (turn === undefined || !sink.gone) await answer(context, request, sink, patience, incoming.cut);
  } finally {
    context.inFlight.delete(call);
    unread.end();
    place?.end();
  }
}

async function answer(
  context: ExchangeContext,
  request: HttpRequest,
  sink: ResponseSink,
  patience: Patience,
  cut: () => void,
): Promise<void> {
  let response: HttpResponse;
  try {
    response = await context.handler(request);
  } catch (error) {
    report(context, error, request, sink);
    response = plainError(500);
  } finally {
    void request.body.release?.(); // for a handler that did not release it itself
  }
  try {
    await sendResponse(response, request.method, sink, patience);
    if (response.endsRequest === true && request.httpVersion === "2.0") cut();
  } catch (error) {
    report(context, error, request, sink);
    if (sink.headSent) sink.reset();
    else await sendResponse(plainError(500), request.method, sink, patience);
  }
}

/** A failure after the caller disconnected is expected, and not logged. */
function report(context: ExchangeContext, error: unknown, request: HttpRequest, sink: ResponseSink): void {
  if (!sink.gone) context.onError?.(error, request);
}
