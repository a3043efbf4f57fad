import { invalidParams, type RpcMethod } from "@a2a-connect/core";
import { formatAnswer, formatOnce, isObject, parseJsonMedia, parseMessage } from "@a2a-connect/core/internal";
import { Code, ConnectError, type ServiceImplSpec } from "@connectrpc/connect";
import { type BodyRefusal, unsupportedMediaType } from "../body.ts";
import { addErrorHeaders, explainFailure } from "../failure.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "../http.ts";
import { bindOperations, CallContext, type Operation } from "../invoke.ts";
import { type JsonOverflow, readJson, refuseValues } from "../json/read-json.ts";
import { respondJson } from "../json/respond-json.ts";
import { refuseOlderMethod } from "../older-protocol.ts";
import { type BindingOptions, type BindingSettings, type ErrorContext, resolveOptions } from "../options.ts";
import { type EventFormat, respondStream } from "../sse/respond-stream.ts";
import { type Envelope, readEnvelope, readId } from "./envelope.ts";
import {
  formatError,
  invalidRequest,
  type JsonRpcError,
  type JsonRpcId,
  jsonRpcStatus,
  parseError,
  toJsonRpcError,
  wrapResult,
} from "./response.ts";

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
  const operations = new Map(
    bindOperations(spec, settings.interceptors).map((operation) => [
      operation.method.name as string,
      operation,
    ]),
  );

  const handle: HttpHandler = async (request) => {
    if (request.method !== "POST") {
      return methodNotAllowed(request, settings);
    }
    const refusedType = checkType(request.header);
    if (refusedType !== undefined) {
      return refuseBody(request, refusedType, settings);
    }
    const body = await readJson(request, settings, checkType);
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
    const operation = operations.get(envelope.method);
    return operation === undefined
      ? respondFailure(request, envelope, unknownMethod(envelope.method), new Headers(), settings)
      : answer(operation, envelope, request, settings);
  };
  // Outside a call only a broken connection can fail.
  return (request) =>
    handle(request).catch((thrown: unknown) =>
      respondFailure(request, outsideCall, thrown, new Headers(), settings),
    );
}

const outsideCall = { id: null, method: undefined };

async function answer(
  { method, bound }: Operation,
  envelope: Envelope,
  request: HttpRequest,
  settings: BindingSettings,
): Promise<HttpResponse> {
  const context = new CallContext(bound.desc, request, { wire });
  try {
    const message = parseParams(method, envelope.params, settings);
    await request.body.release?.();
    const { before, after } = wrapResult(envelope.id);
    if (bound.kind === "stream") {
      const format: EventFormat = {
        event: (event) => wrap(before, formatOnce(bound.desc.output, event), after),
        failure: (thrown) => formatError(envelope.id, toJsonRpcError(explain(thrown, envelope, settings))),
      };
      return await respondStream(bound.call(message, context), context, format, settings);
    }
    const result = await bound.call(message, context);
    const text = wrap(before, formatAnswer(method, message, result), after);
    return await respondJson(
      request,
      { status: 200, text, mediaType, header: context.responseHeader },
      settings,
    );
  } catch (thrown) {
    return respondFailure(request, envelope, thrown, context.responseHeader, settings);
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

function parseParams(method: RpcMethod, params: unknown, { maxJsonDepth }: BindingSettings) {
  if (!isObject(params)) {
    throw invalidParams({ field: "params", description: "must be an object" });
  }
  return parseMessage(method.desc.input, params, { maxDepth: maxJsonDepth });
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
): Promise<HttpResponse> {
  const error = explain(thrown, envelope, settings);
  addErrorHeaders(header, error);
  return respondError(
    request,
    envelope.id,
    toJsonRpcError(error),
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
 * read from its text.
 */
async function refuseOverflow(
  request: HttpRequest,
  { path, text }: JsonOverflow,
  settings: BindingSettings,
): Promise<HttpResponse> {
  const error = refuseValues(settings.maxValues, path[0] === "params" ? path.slice(1) : path);
  return respondError(request, await readId(text), toJsonRpcError(error), { status: 200 }, settings);
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

function respondError(
  request: HttpRequest,
  id: JsonRpcId,
  error: JsonRpcError,
  { status, header = new Headers() }: { status: number; header?: Headers },
  settings: BindingSettings,
): Promise<HttpResponse> {
  return respondJson(request, { status, text: formatError(id, error), mediaType, header }, settings);
}
