import type { HttpHandler, HttpRequest, HttpResponse } from "@a2a-connect/bindings";
import type { SharedBudget } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Arrivals } from "./arrivals.ts";
import type { BodyBudget } from "./body-budget.ts";
import { CallSignal, type Incoming, NodeRequest, type RequestContext } from "./node-request.ts";
import { plainError } from "./plain-error.ts";
import { RequestBody } from "./request-body.ts";
import { type Patience, type ResponseSink, sendResponse } from "./send-response.ts";
import type { Starts } from "./starts.ts";
import type { BodyTurns } from "./turns.ts";
import type { WriteBuffers } from "./write-buffers.ts";

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
  /** The memory of request bodies. */
  readonly bodies: BodyBudget;
  /** Connections are read a few requests at a time. */
  readonly arrivals: Arrivals;
  /** Requests begin a few at a time. */
  readonly starts: Starts;
  /** Bodies are made into messages a few at a time. */
  readonly turns: BodyTurns;
  readonly onError: ((error: unknown, request: HttpRequest) => void) | undefined;
  /** The memory of answers that their callers have not read. */
  readonly unread: SharedBudget;
  /** The memory of what was written and not read. */
  readonly buffers: WriteBuffers;
  /** The calls without a complete response. */
  readonly inFlight: Set<CallSignal>;
  /** Set once, when the port stops accepting. */
  draining: boolean;
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
  const { url, source, declaredLength, bodyTimeoutMs, connection, socket, cut } = incoming;
  const { bodies: budget, turns, buffers } = context;
  const call = new CallSignal();
  const account = budget.accountOf(connection, () => socket?.remoteAddress);
  const patience: Patience = {
    stalledTimeoutMs: context.stalledReaderTimeoutMs,
    hold: (bytes, stop) => buffers.hold(account.caller, bytes, stop),
  };
  const body = new RequestBody(source, {
    declaredLength,
    timeoutMs: bodyTimeoutMs,
    budget,
    account,
    turns,
    arrivals: context.arrivals,
    cut,
  });
  sink.writable.on("error", () => undefined); // a broken socket, or a reset by the peer; "close" follows with the result
  sink.writable.once("close", () => {
    if (sink.complete) return;
    const gone = new ConnectError("the caller went away", Code.Canceled);
    call.abort(gone);
    body.refuse(gone);
  });
  if (typeof url === "number") {
    await sendResponse(plainError(url), "GET", sink, patience);
  } else {
    const held = context.unread.open(account.caller.address);
    const request = new NodeRequest(context, incoming, { url, body, call, held, account });
    context.inFlight.add(call);
    try {
      const turn = context.starts.turn(account);
      if (turn !== undefined) await turn;
      if (turn === undefined || !sink.gone) await answer(context, request, sink, patience, cut);
    } finally {
      context.inFlight.delete(call);
      held.end();
    }
  }
  body.discard();
}

async function answer(
  context: ExchangeContext,
  request: HttpRequest,
  sink: ResponseSink,
  patience: Patience,
  cut: () => void,
): Promise<void> {
  const send = (response: HttpResponse): Promise<void> =>
    sendResponse(response, request.method, sink, patience);
  try {
    const response = await respond(context, request, sink);
    await send(response);
    if (response.endsRequest === true && request.httpVersion === "2.0") cut();
  } catch (error) {
    report(context, error, request, sink);
    if (sink.headSent) sink.reset();
    else await send(plainError(500));
  }
}

async function respond(
  context: ExchangeContext,
  request: HttpRequest,
  sink: ResponseSink,
): Promise<HttpResponse> {
  try {
    return await context.handler(request);
  } catch (error) {
    report(context, error, request, sink);
    return plainError(500);
  } finally {
    void request.body.release?.(); // for a handler that did not release it itself
  }
}

/** A failure after the caller disconnected is expected, and not logged. */
function report(context: ExchangeContext, error: unknown, request: HttpRequest, sink: ResponseSink): void {
  if (sink.gone) return;
  try {
    context.onError?.(error, request);
  } catch {
    // A log function that throws must not end the process.
  }
}
