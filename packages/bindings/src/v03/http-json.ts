import type { MethodLocalName } from "@a2a-connect/core";
import {
  bindHttpRequest,
  isObject,
  parseJsonMedia,
  type RouteMatch,
  wireCodes,
} from "@a2a-connect/core/internal";
import type { Message } from "@bufbuild/protobuf";
import type { ConnectError, HandlerContext } from "@connectrpc/connect";
import { type BodyRefusal, unsupportedMediaType } from "../body.ts";
import { addErrorHeaders, explainFailure } from "../failure.ts";
import type { HttpRequest, HttpResponse } from "../http.ts";
import type { ErrorInit, HttpForm } from "../http-json/form.ts";
import { type BoundOperation, CallContext } from "../invoke.ts";
import { readJson, respondJson } from "../json/json-body.ts";
import { toOlderError } from "../jsonrpc/envelope.ts";
import type { BindingSettings } from "../options.ts";
import { type EventFormat, respondStream } from "../sse/event-writer.ts";
import { toCurrentHeader, toOlderHeader } from "./calls.ts";
import { bindProtoCalls, type ProtoCall } from "./proto-calls.ts";

const wire = "http-json";
const mediaType = "application/json";

/**
 * The HTTP+JSON binding of 0.3: paths below `/v1`, and the JSON of the messages of `a2a.v1`. The paths are otherwise those
 * of 1.0, but for that of the extended card.
 */
export function createOlderHttpForm(
  operations: readonly BoundOperation[],
  settings: BindingSettings,
): HttpForm {
  const calls = new Map(bindProtoCalls(operations).map((call) => [call.method.localName, call]));
  return {
    path: (below) => (below === "/v1/card" ? "/extendedAgentCard" : below.slice("/v1".length)),
    find(match) {
      const call = "tenant" in match.variables ? undefined : calls.get(match.method.localName);
      return call && ((query, request) => answer(call, match, query, request, settings));
    },
    respondError: (request, error, init) => respondError(request, error, init, settings),
  };
}

async function answer(
  call: ProtoCall,
  match: RouteMatch,
  query: URLSearchParams,
  request: HttpRequest,
  settings: BindingSettings,
): Promise<HttpResponse> {
  const { bound } = call;
  const explain = (thrown: unknown) => explainFailure(thrown, { wire, method: call.name }, settings);
  let context: HandlerContext | undefined;
  try {
    const read = await readRequest(call, match, query, request, settings);
    if ("error" in read) {
      return await respondError(request, read.error, { status: read.status, header: read.header }, settings);
    }
    const { message } = read;
    context = new CallContext(bound.desc, request, { wire, header: toCurrentHeader(request.header) });
    await request.body.release?.();
    if (bound.kind === "stream") {
      const format: EventFormat = {
        event: call.write,
        failure: (thrown) => formatError(explain(thrown)),
        failureType: "error",
      };
      const response = await respondStream(bound.call(message, context), context, format, settings);
      toOlderHeader(context.responseHeader);
      return response;
    }
    const text = call.write(await bound.call(message, context));
    const header = context.responseHeader;
    toOlderHeader(header);
    header.set("cache-control", "no-store");
    return await respondJson(request, { status: 200, text, mediaType, header }, settings);
  } catch (thrown) {
    const error = explain(thrown);
    const header = context?.responseHeader ?? new Headers();
    return respondError(request, error, { status: wireCodes(error).httpStatus, header }, settings);
  }
}

/** The message of a call. It may wait for hours, and nothing else of its body stays in memory for so long. */
async function readRequest(
  call: ProtoCall,
  match: RouteMatch,
  query: URLSearchParams,
  request: HttpRequest,
  settings: BindingSettings,
): Promise<{ readonly message: Message } | BodyRefusal> {
  const { maxJsonDepth: maxDepth } = settings;
  if (!withBody.has(call.method.localName)) {
    const { method, route, variables } = match;
    return { message: bindHttpRequest(method, route, variables, query, undefined, { maxDepth }) };
  }
  const body = await readJson(request, settings, checkType);
  if ("error" in body) return body;
  return { message: await call.read(toRequest(call, match, body.json), maxDepth, request.callerNetwork) };
}

/** The operations whose request is in the body. Everything about the others is in the path and the query. */
const withBody: ReadonlySet<MethodLocalName> = new Set([
  "sendMessage",
  "sendStreamingMessage",
  "createTaskPushNotificationConfig",
]);

/**
 * The request of `a2a.v1` in a body. A push config's task is in the path; some SDKs send the config alone, as the proto says,
 * and some the whole request.
 */
function toRequest({ desc }: ProtoCall, { variables }: RouteMatch, body: unknown): unknown {
  if (desc.name !== "CreateTaskPushNotificationConfig") {
    return body ?? {};
  }
  const parent = `tasks/${variables["taskId"] ?? ""}`;
  return isObject(body) && "config" in body ? { ...body, parent } : { parent, config: body };
}

function checkType(header: Headers): BodyRefusal | undefined {
  return parseJsonMedia(header.get("content-type")) === mediaType
    ? undefined
    : unsupportedMediaType([mediaType]);
}

/** An error is what it is over JSON-RPC, without an envelope. */
function formatError(error: ConnectError): string {
  return JSON.stringify(toOlderError(error));
}

async function respondError(
  request: HttpRequest,
  error: ConnectError,
  { status, header: init }: ErrorInit,
  settings: BindingSettings,
): Promise<HttpResponse> {
  const header = init instanceof Headers ? init : new Headers(init);
  addErrorHeaders(header, error);
  return respondJson(request, { status, text: formatError(error), mediaType, header }, settings);
}
