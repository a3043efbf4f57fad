import {
  bindHttpRequest,
  callUnawaited,
  createRouteTable,
  formatAnswer,
  formatOnce,
  type JsonMediaRequest,
  jsonMediaTypes,
  negotiateErrorMedia,
  negotiateJsonMedia,
  parseJsonMedia,
  type RouteMatch,
  wireCodes,
} from "@a2a-connect/core/internal";
import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext, type ServiceImplSpec } from "@connectrpc/connect";
import { type BodyRefusal, unsupportedMediaType } from "../body.ts";
import { addErrorHeaders, explainFailure } from "../failure.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "../http.ts";
import { type BoundMethod, bindOperations, CallContext } from "../invoke.ts";
import { readJson, respondJson } from "../json/json-body.ts";
import { asksForOlder, refuseOlderPath } from "../older-protocol.ts";
import { type BindingOptions, type BindingSettings, resolveOptions } from "../options.ts";
import { type EventFormat, respondStream } from "../sse/event-writer.ts";
import { createOlderHttpForm } from "../v03/http-json.ts";
import { formatErrorBody } from "./error-body.ts";
import type { ErrorInit, HttpForm } from "./form.ts";
import { splitTarget } from "./split-target.ts";

/** Options of an HTTP+JSON handler beyond those of all wires. */
export interface HttpJsonOptions extends BindingOptions {
  /** Path before all routes, such as `/rest`; no trailing slash. Default none. */
  readonly prefix?: string;
}

const wire = "http-json";

/**
 * The server end of the HTTP+JSON binding (requirements K): the routes of the proto's `google.api.http` rules below a
 * prefix. Streams are server-sent events.
 *
 * Every answer is JSON, also for an unknown path. HEAD is answered like GET without a body, OPTIONS with the verbs of
 * the path.
 *
 * @param spec the implementation of A2AService, its gates included
 */
export function createHttpJsonHandler(spec: ServiceImplSpec, options: HttpJsonOptions = {}): HttpHandler {
  const settings = resolveOptions(options);
  const prefix = options.prefix ?? "";
  const routes = createRouteTable();
  const bound = bindOperations(spec, settings.interceptors);
  const operations = new Map(bound.map(({ method, bound }) => [method.localName, bound]));
  const current: HttpForm = {
    path: (below) => below,
    find(match) {
      const operation = operations.get(match.method.localName);
      return operation && ((query, request) => answer(operation, match, query, request, settings));
    },
    respondError: (request, error, init) => respondError(request, error, init, settings),
  };
  const older = settings.olderVersions ? createOlderHttpForm(bound, settings) : undefined;

  return async (request) => {
    const { path, query, queryFault } = splitTarget(request.url);
    const below = path.startsWith(prefix) ? path.slice(prefix.length) : undefined;
    const isOlder = older !== undefined && below?.startsWith("/v1/") === true && asksForOlder(request);
    const form = isOlder ? older : current;
    const refusal = isOlder ? undefined : refuseOlderPath(below ?? "", query, request);
    if (refusal !== undefined) {
      return form.respondError(request, refusal, { status: wireCodes(refusal).httpStatus });
    }
    const verb = request.method === "HEAD" ? "GET" : request.method;
    const match = below === undefined ? undefined : routes.find(verb, form.path(below));
    if (match !== undefined && "allow" in match) {
      return refuseVerb(request, match.allow, form);
    }
    const answerCall = match && form.find(match);
    if (answerCall === undefined) {
      return form.respondError(request, notFound(), { status: 404 });
    }
    if (queryFault !== undefined) {
      return form.respondError(request, queryFault, { status: 400 });
    }
    const response = await answerCall(query, request);
    return request.method === "HEAD" ? withoutBody(response) : response;
  };
}

async function answer(
  bound: BoundMethod,
  match: RouteMatch,
  query: URLSearchParams,
  request: HttpRequest,
  settings: BindingSettings,
): Promise<HttpResponse> {
  const { method } = match;
  const explain = (thrown: unknown) => explainFailure(thrown, { wire, method: method.name }, settings);
  let context: HandlerContext | undefined;
  try {
    const read = await readMessage(match, query, request, settings);
    if ("error" in read) {
      return await respondError(request, read.error, { status: read.status, header: read.header }, settings);
    }
    const { message } = read;
    context = new CallContext(bound.desc, request, { wire });
    if (bound.kind === "stream") {
      const format: EventFormat = {
        event: (event) => formatOnce(bound.desc.output, event),
        failure: (thrown) => formatErrorBody(explain(thrown)),
      };
      return await respondStream(bound.call(message, context), context, format, settings);
    }
    const result = await bound.call(message, context);
    const text = formatAnswer(method, message, result);
    const header = context.responseHeader;
    if (!header.has("cache-control")) {
      header.set("cache-control", "no-store"); // caches may store a GET's answer, and a task changes
    }
    const mediaType = negotiateJsonMedia(wishes(request, settings));
    const response = respondJson(request, { status: 200, text, mediaType, header }, settings);
    return response instanceof Promise ? await response : response;
  } catch (thrown) {
    const error = explain(thrown);
    const header = context?.responseHeader ?? new Headers();
    return respondError(request, error, { status: wireCodes(error).httpStatus, header }, settings);
  }
}

/** Reads the message of a request, in a function of its own: a call may wait for hours, and would keep the whole body. */
async function readMessage(
  { method, route, variables }: RouteMatch,
  query: URLSearchParams,
  request: HttpRequest,
  settings: BindingSettings,
): Promise<{ readonly message: Message } | BodyRefusal> {
  const body = route.body === undefined ? noBody : await readJson(request, settings, checkType);
  if ("error" in body) {
    return body;
  }
  const message = bindHttpRequest(method, route, variables, query, body.json, {
    maxDepth: settings.maxJsonDepth,
  });
  const released = request.body.release?.();
  if (released !== undefined) await released;
  return { message };
}

const noBody = { json: undefined };

function checkType(header: Headers): BodyRefusal | undefined {
  return parseJsonMedia(header.get("content-type")) === undefined
    ? unsupportedMediaType(jsonMediaTypes)
    : undefined;
}

function wishes({ header }: HttpRequest, { jsonMedia: fallback }: BindingSettings): JsonMediaRequest {
  return {
    contentType: header.get("content-type"),
    accept: header.get("accept"),
    fallback: fallback === "json" ? "application/json" : "application/a2a+json",
  };
}

/** Requirement E.1: an unknown operation is the same error on every wire, although HTTP calls it 404. */
function notFound(): ConnectError {
  return new ConnectError("there is nothing at this path", Code.Unimplemented);
}

function refuseVerb(
  request: HttpRequest,
  verbs: readonly string[],
  form: Pick<HttpForm, "respondError">,
): Promise<HttpResponse> {
  const allow = [...verbs, ...(verbs.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
  if (request.method === "OPTIONS") {
    return Promise.resolve({ status: 204, header: new Headers({ allow }) });
  }
  const error = new ConnectError("this path cannot be called with this HTTP method", Code.Unimplemented);
  return form.respondError(request, error, { status: 405, header: { allow } });
}

async function respondError(
  request: HttpRequest,
  error: ConnectError,
  { status, header: init }: ErrorInit,
  settings: BindingSettings,
): Promise<HttpResponse> {
  const header = init instanceof Headers ? init : new Headers(init);
  addErrorHeaders(header, error);
  const text = formatErrorBody(error, status);
  const mediaType = negotiateErrorMedia(wishes(request, settings));
  return respondJson(request, { status, text, mediaType, header }, settings);
}

function withoutBody({ status, header, body }: HttpResponse): HttpResponse {
  if (typeof body === "object" && !(body instanceof Uint8Array)) {
    callUnawaited(() => body[Symbol.asyncIterator]().return?.());
  }
  return header === undefined ? { status } : { status, header };
}
