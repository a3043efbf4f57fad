import { invalidParams } from "@a2a-connect/core";
import { formatAnswer, formatOnce, isObject, parseJsonMedia, parseMessage } from "@a2a-connect/core/internal";
import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError, type ServiceImplSpec } from "@connectrpc/connect";
import { type BodyRefusal, unsupportedMediaType } from "../body.ts";
import { addErrorHeaders, explainFailure } from "../failure.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "../http.ts";
import { type BoundMethod, type BoundOperation, bindOperations, CallContext } from "../invoke.ts";
import { type JsonOverflow, readJson, refuseValues, respondJson } from "../json/json-body.ts";
import { asksForOlder, refuseOlderMethod } from "../older-protocol.ts";
import { type BindingOptions, type BindingSettings, type ErrorContext, resolveOptions } from "../options.ts";
import { type EventFormat, respondStream } from "../sse/event-writer.ts";
import { bindOlderCalls, type OlderCall, toCurrentHeader, toOlderHeader } from "../v03/calls.ts";
import { createForms } from "../v03/forms.ts";
import {
  type Envelope,
  findId,
  formatError,
  invalidRequest,
  type JsonRpcError,
  type JsonRpcId,
  jsonRpcStatus,
  parseError,
  readEnvelope,
  toJsonRpcError,
  toOlderError,
  wrapResult,
} from "./envelope.ts";

const wire = "jsonrpc";
const mediaType = "application/json";

/**
 * The server end of the JSON-RPC binding (requirements I): answers POSTs at one URL with any path. Streams are
 * server-sent events.
 *
 * Every answer is a JSON-RPC response, also for a request that is not valid JSON-RPC.
 *
 * @param spec the implementation of A2AService, its gates included
 */
export function createJsonRpcHandler(spec: ServiceImplSpec, options: BindingOptions = {}): HttpHandler {
  const settings = resolveOptions(options);
  const operations = bindOperations(spec, settings.interceptors);
  const calls = new Map(
    operations.map((operation) => [operation.method.name as string, currentCall(operation)]),
  );
  const olderCalls = new Map(
    settings.olderVersions
      ? bindOlderCalls(operations, createForms("json")).map((call) => [call.name, olderCall(call)])
      : [],
  );

  const handle = async (request: HttpRequest): Promise<HttpResponse> => {
    if (request.method !== "POST") {
      return methodNotAllowed(request, settings);
    }
    const refusedType = checkType(request.header);
    if (refusedType !== undefined) {
      return refuseBody(request, refusedType, settings);
    }
    const body = await readJson(request, settings);
    if ("path" in body) {
      return refuseOverflow(request, body, settings);
    }
    if ("error" in body) {
      return refuseBody(request, body, settings);
    }
    if (body.json === undefined) {
      const empty = invalidParams({
        field: "",
        description: "the body is empty",
      });
      return refuseBody(request, { status: 400, error: empty }, settings);
    }
    const envelope = readEnvelope(body.json);
    if ("refused" in envelope) {
      return respondError(request, envelope.id, invalidRequest(envelope.refused), { status: 200 }, settings);
    }
    // No name is in both versions, so calls of 1.0 are not asked for their version here.
    const call = calls.get(envelope.method) ?? findOlder(envelope.method, request);
    return call === undefined
      ? respondFailure(request, envelope, unknownMethod(envelope.method), new Headers(), settings)
      : answer(call, envelope, request, settings); // not awaited: this function would keep the body
  };
  const findOlder = (method: string, request: HttpRequest) =>
    olderCalls.has(method) && asksForOlder(request) ? olderCalls.get(method) : undefined;
  return async (request) => {
    try {
      return await handle(request);
    } catch (thrown) {
      // Outside a call only a broken connection can fail.
      return respondFailure(request, outsideCall, thrown, new Headers(), settings);
    }
  };
}

const outsideCall = { id: null, method: undefined };

/** A method of JSON-RPC: an operation, and how its callers write. */
interface JsonRpcCall {
  readonly bound: BoundMethod;
  /** Whether its callers write A2A 0.3, also in headers and errors. */
  readonly isOlder: boolean;
  read(params: Record<string, unknown>, maxDepth: number): Message;
  event(event: Message): string | Iterable<string>;
  result(request: Message, result: Message): string | Iterable<string>;
}

function currentCall({ method, bound }: BoundOperation): JsonRpcCall {
  const { input, output } = method.desc;
  return {
    bound,
    isOlder: false,
    read: (params, maxDepth) => parseMessage(input, params, { maxDepth }),
    event: (event) => formatOnce(output, event),
    result: (request, result) => formatAnswer(method, request, result),
  };
}

function olderCall({ bound, read, write }: OlderCall): JsonRpcCall {
  return {
    bound,
    isOlder: true,
    read,
    event: write,
    result: (_request, result) => write(result),
  };
}

async function answer(
  call: JsonRpcCall,
  envelope: Envelope,
  request: HttpRequest,
  settings: BindingSettings,
): Promise<HttpResponse> {
  const { bound, isOlder } = call;
  const { id, method } = envelope;
  const requestHeader = isOlder ? toCurrentHeader(request.header) : request.header;
  const context = new CallContext(bound.desc, request, { wire, header: requestHeader });
  try {
    const message = call.read(paramsOf(envelope), settings.maxJsonDepth);
    const released = request.body.release?.(); // undefined for a short body: it had no turn of its own
    if (released !== undefined) await released;
    return respond(call, { id, method }, message, context, request, settings);
  } catch (thrown) {
    const toError = isOlder ? toOlderError : toJsonRpcError;
    return respondFailure(request, envelope, thrown, context.responseHeader, settings, toError);
  }
}

/** Makes the call. It may wait for hours, so it has nothing of the body but the message. */
async function respond(
  call: JsonRpcCall,
  envelope: Pick<Envelope, "id" | "method">,
  message: Message,
  context: CallContext,
  request: HttpRequest,
  settings: BindingSettings,
): Promise<HttpResponse> {
  const { bound, isOlder } = call;
  const toError = isOlder ? toOlderError : toJsonRpcError;
  try {
    const { before, after } = wrapResult(envelope.id);
    if (bound.kind === "stream") {
      const format: EventFormat = {
        event: (event) => wrap(before, call.event(event), after),
        failure: (thrown) => formatError(envelope.id, toError(explain(thrown, envelope, settings))),
      };
      const response = await respondStream(bound.call(message, context), context, format, settings);
      if (isOlder) toOlderHeader(context.responseHeader);
      return response;
    }
    const result = await bound.call(message, context);
    const text = wrap(before, call.result(message, result), after);
    const header = context.responseHeader;
    if (isOlder) toOlderHeader(header);
    const response = respondJson(request, { status: 200, text, mediaType, header }, settings);
    return response instanceof Promise ? await response : response;
  } catch (thrown) {
    return respondFailure(request, envelope, thrown, context.responseHeader, settings, toError);
  }
}

function wrap(before: string, text: string | Iterable<string>, after: string): string | Iterable<string> {
  return typeof text === "string" ? `${before}${text}${after}` : wrapPieces(before, text, after);
}

function* wrapPieces(before: string, texts: Iterable<string>, after: string): Generator<string> {
  yield before;
  yield* texts;
  yield after;
}

function paramsOf({ params }: Envelope): Record<string, unknown> {
  if (!isObject(params)) {
    throw invalidParams({ field: "params", description: "must be an object" });
  }
  return params;
}

function explain(
  thrown: unknown,
  { method }: Pick<ErrorContext, "method">,
  settings: BindingSettings,
): ConnectError {
  return explainFailure(thrown, { wire, method }, settings);
}

function respondFailure(
  request: HttpRequest,
  envelope: Pick<Envelope, "id"> & Pick<ErrorContext, "method">,
  thrown: unknown,
  header: Headers,
  settings: BindingSettings,
  format: (error: ConnectError) => JsonRpcError = toJsonRpcError,
): Promise<HttpResponse> {
  const error = explain(thrown, envelope, settings);
  addErrorHeaders(header, error);
  return respondError(
    request,
    envelope.id,
    format(error),
    { status: jsonRpcStatus(error), header },
    settings,
  );
}

function unknownMethod(method: string): ConnectError {
  return (
    refuseOlderMethod(method) ??
    new ConnectError("names of methods are those of the proto, such as SendMessage", Code.Unimplemented)
  );
}

/** The answer to a body that could not be read. It has no id, because the id is in the body. */
function refuseBody(
  request: HttpRequest,
  refusal: BodyRefusal,
  settings: BindingSettings,
): Promise<HttpResponse> {
  const { status, error } = refusal;
  const header = new Headers(refusal.header);
  addErrorHeaders(header, error);
  return status === 400
    ? respondError(request, null, parseError(error), { status: 200, header }, settings)
    : respondError(request, null, toJsonRpcError(error), { status, header }, settings);
}

/**
 * The answer to a body of too many values. Its params are wrong, and the error names them as on other wires. Its id is
 * found in its text.
 */
function refuseOverflow(
  request: HttpRequest,
  { path, text }: JsonOverflow,
  settings: BindingSettings,
): Promise<HttpResponse> {
  const error = refuseValues(settings.maxValues, path[0] === "params" ? path.slice(1) : path);
  return respondError(request, findId(text), toJsonRpcError(error), { status: 200 }, settings);
}

function methodNotAllowed(request: HttpRequest, settings: BindingSettings): Promise<HttpResponse> {
  const error = new ConnectError("JSON-RPC requests are sent with POST", Code.InvalidArgument);
  const header = new Headers({ allow: "POST" });
  return respondError(request, null, invalidRequest(error), { status: 405, header }, settings);
}

function checkType(header: Headers): BodyRefusal | undefined {
  return parseJsonMedia(header.get("content-type")) === mediaType
    ? undefined
    : unsupportedMediaType([mediaType]);
}

async function respondError(
  request: HttpRequest,
  id: JsonRpcId,
  error: JsonRpcError,
  { status, header = new Headers() }: { status: number; header?: Headers },
  settings: BindingSettings,
): Promise<HttpResponse> {
  return respondJson(request, { status, text: formatError(id, error), mediaType, header }, settings);
}
