import { findMemberText, findReasonByJsonRpcCode, formatMessage, isObject } from "@a2a-connect/core/internal";
import type { JsonValue } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createJsonTransport, type OutgoingCall } from "../fetch/json-transport.ts";
import { sendRequest } from "../fetch/outgoing-request.ts";
import { isEventStream, readJsonResponse } from "../fetch/read-response.ts";
import { codeFromHttpStatus, fromWireError, tooManyRequests } from "../fetch/response-errors.ts";
import { type JsonTransportOptions, resolveTransportOptions } from "../fetch/transport-options.ts";
import type { WireResponse } from "../fetch/wire-fetch.ts";
import { codeFromNumber, withoutHeading } from "./envelope.ts";

/** Options of the client end of the JSON-RPC binding. */
export interface JsonRpcTransportOptions extends JsonTransportOptions {
  /** The URL for requests: that of the Agent Card's interface. */
  readonly url: string;
}

const mediaType = "application/json";

/** How a version of A2A writes calls over JSON-RPC. */
export interface JsonRpcForm {
  /** What is sent. @throws ConnectError Unimplemented when the version does not have this method */
  request(call: OutgoingCall): JsonRpcCall;
  /** The response message, as the JSON of 1.0, in the result of a response or an event. */
  response(call: OutgoingCall, result: unknown): unknown;
}

/** A call as it is sent. */
export interface JsonRpcCall {
  readonly method: string;
  readonly params: JsonValue | undefined;
  readonly header: Headers;
}

const currentForm: JsonRpcForm = {
  request: ({ method, message, header }) => ({
    method: method.name,
    params: formatMessage(method.input, message),
    header,
  }),
  response: (_, result) => result,
};

/**
 * The client end of the JSON-RPC binding (requirements I): an ordinary Connect transport, for `createClient(A2AService,
 * transport)`.
 *
 * Errors are ConnectErrors with the server's details, as on every wire. A stream that breaks is Unavailable.
 */
export function createJsonRpcTransport(options: JsonRpcTransportOptions): Transport {
  return createJsonRpcTransportOf(currentForm, options);
}

/** The same for the form of any version. */
export function createJsonRpcTransportOf(form: JsonRpcForm, options: JsonRpcTransportOptions): Transport {
  const settings = resolveTransportOptions(options);
  const { url } = options;
  let lastId = 0;

  async function post(call: OutgoingCall, accept: string): Promise<Exchange> {
    const { method, params, header } = form.request(call);
    lastId += 1;
    const id = lastId;
    const text = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    const request = { url, method: "POST", header, accept, body: { mediaType, text }, signal: call.signal };
    return { id, response: await sendRequest(request, settings) };
  }

  return createJsonTransport(
    {
      url,
      async unary(call) {
        const exchange = await post(call, mediaType);
        const { response } = exchange;
        const body = await readJsonResponse(response, settings.maxResponseBytes);
        const hasResult = call.method.output.fields.length > 0 || !isDone(body, exchange);
        const json = hasResult ? form.response(call, readResult(body.json, exchange)) : {};
        return { header: response.headers, json, text: () => findMemberText(body.text, "result") ?? "" };
      },
      async stream(call) {
        const exchange = await post(call, `text/event-stream, ${mediaType}`);
        const { response } = exchange;
        if (!isEventStream(response)) {
          readResult((await readJsonResponse(response, settings.maxResponseBytes)).json, exchange);
          throw new ConnectError("the server did not answer with a stream", Code.Internal);
        }
        return { response, read: (answer) => form.response(call, readResult(answer, exchange)) };
      },
    },
    settings,
  );
}

/** A request and its response. */
interface Exchange {
  readonly id: number;
  readonly response: WireResponse;
}

/** Whether a call that has no result succeeded: some servers then leave out `result`, or send no body at all. */
function isDone(
  { json, isEmpty }: { readonly json: unknown; readonly isEmpty: boolean },
  { id, response }: Exchange,
): boolean {
  const isBare = isObject(json) && answers(json["id"], id) && !("error" in json) && !("result" in json);
  return response.ok && (isEmpty || isBare);
}

/**
 * The result in a JSON-RPC response.
 *
 * @throws ConnectError the error in it, or an error that says that it has neither
 */
function readResult(answer: unknown, { id, response: { headers, status } }: Exchange): unknown {
  if (isObject(answer) && !answers(answer["id"], id)) {
    throw new ConnectError("the server answered with the id of another request", Code.Internal, headers);
  }
  if (isObject(answer) && isObject(answer["error"])) {
    throw fromJsonRpcError(answer["error"], headers, status);
  }
  if (isObject(answer) && Object.hasOwn(answer, "result")) {
    return answer["result"];
  }
  if (status === 429) {
    throw tooManyRequests(headers);
  }
  const code = status === 200 ? Code.Internal : codeFromHttpStatus(status);
  throw new ConnectError(
    `the server answered with HTTP status ${status} and no JSON-RPC response`,
    code,
    headers,
  );
}

/** A server that could not read the request does not know its id. Some servers write a number as a string. */
function answers(answered: unknown, id: number): boolean {
  return answered === id || answered === undefined || answered === null || String(answered) === String(id);
}

function fromJsonRpcError(error: Record<string, unknown>, header: Headers, status: number): ConnectError {
  const number = typeof error["code"] === "number" ? error["code"] : 0;
  return fromWireError({
    message: withoutHeading(number, String(error["message"] ?? "")),
    details: error["data"],
    reason: findReasonByJsonRpcCode(number),
    code: codeFromNumber(number) ?? (status === 200 ? Code.Internal : codeFromHttpStatus(status)),
    status,
    header,
  });
}
