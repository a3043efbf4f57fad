import { findA2AError, methodByName, type RpcMethod } from "@a2a-connect/core";
import {
  type HttpRequestParts,
  httpRequestParts,
  isObject,
  type JsonMedia,
} from "@a2a-connect/core/internal";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createJsonTransport, type OutgoingCall } from "../fetch/json-transport.ts";
import { sendRequest } from "../fetch/outgoing-request.ts";
import { isEventStream, readJsonResponse } from "../fetch/read-response.ts";
import { codeFromHttpStatus, fromWireError, tooManyRequests } from "../fetch/response-errors.ts";
import { type JsonTransportOptions, resolveTransportOptions } from "../fetch/transport-options.ts";
import type { WireResponse } from "../fetch/wire-fetch.ts";
import { parseCode } from "./error-body.ts";

/** Options of the client end of the HTTP+JSON binding. */
export interface HttpJsonTransportOptions extends JsonTransportOptions {
  /** The URL before all routes: that of the Agent Card's interface. */
  readonly baseUrl: string;
  /** Media type of request bodies (requirement K-3). Default `a2a`; servers of 1.0.0 may know `json` only. */
  readonly jsonMedia?: "a2a" | "json";
}

const acceptJson = "application/a2a+json, application/json";
const acceptStream = `text/event-stream, ${acceptJson}`;

/**
 * The client end of the HTTP+JSON binding (requirements K): an ordinary Connect transport, for
 * `createClient(A2AService, transport)`. It puts a tenant into the path (requirement P-3).
 *
 * Errors are ConnectErrors with the server's details, as on every wire. A stream that breaks is Unavailable.
 */
export function createHttpJsonTransport(options: HttpJsonTransportOptions): Transport {
  const settings = resolveTransportOptions(options);
  const mediaType: JsonMedia = options.jsonMedia === "json" ? "application/json" : "application/a2a+json";

  function request(call: OutgoingCall, accept: string, verb?: string): Promise<WireResponse> {
    const parts = httpRequestParts(requireMethod(call), call.message, verb);
    const { header, signal } = call;
    const url = joinUrl(options.baseUrl, parts);
    const body = parts.body === undefined ? {} : { body: { mediaType, text: JSON.stringify(parts.body) } };
    return sendRequest({ url, method: parts.verb, header, accept, ...body, signal }, settings);
  }

  async function readFailure(response: WireResponse): Promise<ConnectError> {
    const { json } = await readJsonResponse(response, settings.maxResponseBytes);
    return response.ok && !isErrorBody(json)
      ? new ConnectError("the server did not answer with a stream", Code.Internal, response.headers)
      : fromErrorBody(json, response);
  }

  /**
   * Opens a stream with POST, and with GET when the server does not know the path or refuses the verb: the spec says
   * one and the schema the other (requirement K-1).
   */
  async function openStream(call: OutgoingCall): Promise<WireResponse> {
    const response = await request(call, acceptStream, "POST");
    if (response.status !== 404 && response.status !== 405) {
      return response;
    }
    const failure = await readFailure(response);
    const alternative = requireMethod(call).routes.find(({ verb }) => verb !== "POST");
    if (alternative === undefined || findA2AError(failure) !== undefined) {
      throw failure; // a missing task is an answer, too
    }
    return request(call, acceptStream, alternative.verb);
  }

  return createJsonTransport(
    {
      url: options.baseUrl,
      async unary(call) {
        const response = await request(call, acceptJson);
        const body = await readJsonResponse(response, settings.maxResponseBytes);
        const { json } = body;
        if (!response.ok || isErrorBody(json)) {
          throw fromErrorBody(json, response);
        }
        // Some servers answer a call that has no result with status 200 and no body.
        const isDone = response.status === 204 || (body.isEmpty && call.method.output.fields.length === 0);
        if (json === undefined && !isDone) {
          throw new ConnectError("the server did not answer with JSON", Code.Internal, response.headers);
        }
        return { header: response.headers, json: json ?? {}, text: () => body.text };
      },
      async stream(call) {
        const response = await openStream(call);
        if (!isEventStream(response)) {
          throw await readFailure(response);
        }
        return { response, read: (json) => unlessError(json, response) };
      },
    },
    settings,
  );
}

function requireMethod({ method }: OutgoingCall): RpcMethod {
  const known = methodByName(method.name);
  if (known === undefined || known.desc.parent.typeName !== method.parent.typeName) {
    throw new ConnectError(
      `${method.parent.typeName}.${method.name} has no HTTP+JSON form`,
      Code.Unimplemented,
    );
  }
  return known;
}

/** Base and path with exactly one slash between them (requirement K-10). The base keeps its query. */
function joinUrl(baseUrl: string, { path, query }: HttpRequestParts): string {
  const [base = "", ...baseQuery] = baseUrl.split("?");
  const parameters = [...baseQuery, query.toString()].filter((part) => part !== "").join("&");
  return `${base.replace(/\/+$/, "")}${path}${parameters === "" ? "" : `?${parameters}`}`;
}

function unlessError(json: unknown, response: WireResponse): unknown {
  if (isErrorBody(json)) {
    throw fromErrorBody(json, response);
  }
  return json;
}

/** Whether JSON is the body of an error (requirement E.3). No response message has a field of this name. */
function isErrorBody(json: unknown): boolean {
  return isObject(json) && isObject(json["error"]);
}

function fromErrorBody(json: unknown, { headers, status }: WireResponse): ConnectError {
  const said = `the server answered with HTTP status ${status}`;
  const code = codeFromHttpStatus(status);
  if (!isObject(json) || !isObject(json["error"])) {
    return status === 429
      ? tooManyRequests(headers)
      : new ConnectError(`${said} and no error of A2A`, code, headers);
  }
  const error = json["error"];
  return fromWireError({
    message: typeof error["message"] === "string" ? error["message"] : said,
    details: error["details"],
    code: parseCode(error["status"]) ?? code,
    status,
    header: headers,
  });
}
