import type { HttpHandler, HttpRequest, HttpResponse } from "@a2a-connect/bindings";
import { Code, ConnectError } from "@connectrpc/connect";
import type { BodyAccount, BodyBudget } from "./body-budget.ts";
import type { CallSignal } from "./call-signal.ts";
import type { ReadCallerNetwork } from "./caller-network.ts";
import type { ReadForwardedUrl } from "./forwarded-url.ts";
import { internalError } from "./plain-error.ts";
import { type ResponseSink, sendResponse } from "./send-response.ts";
import type { Starts } from "./starts.ts";
import type { BodyTurns } from "./turns.ts";
import type { HeldAnswer, UnreadAnswers } from "./unread-answers.ts";

/** What all requests of one port share. */
export interface ExchangeContext {
  readonly handler: HttpHandler;
  readonly scheme: "http" | "https";
  /** Whether only this machine reaches the port; known once it is bound. */
  boundToLoopback: boolean;
  /** How long a write may wait for a reader that reads nothing, in milliseconds. */
  readonly stalledReaderTimeoutMs: number;
  /** Time limit for the body of an HTTP/2 request, in milliseconds (Node enforces that of HTTP/1.1). */
  readonly requestTimeoutMs: number;
  /** The limit of an HTTP/2 request's header fields (Node enforces that of HTTP/1.1). */
  readonly maxHeaderBytes: number;
  /** The memory of request bodies. */
  readonly bodies: BodyBudget;
  /** Requests begin a few at a time. */
  readonly starts: Starts;
  /** Bodies are made into messages a few at a time. */
  readonly turns: BodyTurns;
  /** Undefined: no proxy is trusted. */
  readonly readForwardedUrl: ReadForwardedUrl | undefined;
  readonly readCallerNetwork: ReadCallerNetwork;
  readonly onError: ((error: unknown, request: HttpRequest) => void) | undefined;
  /** The memory of answers that their callers have not read. */
  readonly unread: UnreadAnswers;
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
  connection: BodyAccount,
  request: HttpRequest,
  call: CallSignal,
  sink: ResponseSink,
  held: HeldAnswer,
): Promise<void> {
  context.inFlight.add(call);
  try {
    const turn = context.starts.turn(connection);
    if (turn !== undefined) {
      await turn;
      if (sink.gone) return;
    }
    await sendResponse(
      await respond(context, request, sink),
      request.method,
      sink,
      context.stalledReaderTimeoutMs,
    );
  } catch (error) {
    report(context, error, request, sink);
    if (sink.headSent) sink.reset();
    else await sendResponse(internalError(), request.method, sink, context.stalledReaderTimeoutMs);
  } finally {
    context.inFlight.delete(call);
    held.release();
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
    return internalError();
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

/** The abort reason of a call whose caller closed the stream or the connection. */
export function callerGone(): ConnectError {
  return new ConnectError("the caller went away", Code.Canceled);
}
