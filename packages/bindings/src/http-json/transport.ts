import { findA2AError, methodByName, type RpcMethod } from "@a2a-connect/core";
import {
  type HttpRequestParts,
  httpRequestParts,
  isObject,
  type JsonMedia,
  trimSlashes,
} from "@a2a-connect/core/internal";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createJsonTransport, type OutgoingCall } from "../fetch/json-transport.ts";
import { sendRequest } from "../fetch/outgoing-request.ts";
import { isEventStream, readJsonResponse } from "../fetch/read-response.ts";
import {
  codeFromHttpStatus,
  fromWireError,
  tooManyRequests,
  type WireError,
} from "../fetch/response-errors.ts";
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

/** How a version of A2A writes calls over HTTP+JSON. */
export interface HttpJsonForm {
  /** Media type of request bodies. */
  readonly mediaType: string;
  /** Media types of responses that are no streams. */
  readonly accept: string;
  /** What is sent. @throws ConnectError Unimplemented when the version does not have this method */
  request(call: OutgoingCall, verb?: string): HttpJsonCall;
  /** The response message, as the JSON of 1.0, in that of a response or an event. */
  response(call: OutgoingCall, json: unknown): unknown;
  /** Whether JSON is an error: no response message looks like one. */
  isError(json: unknown): boolean;
  /** What an error says. */
  readError(call: OutgoingCall, json: unknown, status: number): Omit<WireError, "status" | "header">;
}

/** A call as it is sent. */
export interface HttpJsonCall extends HttpRequestParts {
  readonly header: Headers;
}

/** The form of 1.0. */
function currentForm(mediaType: JsonMedia): HttpJsonForm {
  return {
    mediaType,
    accept: "application/a2a+json, application/json",
    request: (call, verb) => ({
      ...httpRequestParts(requireMethod(call), call.message, verb),
      header: call.header,
    }),
    response: (_, json) => json,
    // No response message has a field of this name (requirement E.3).
    isError: (json) => isObject(json) && isObject(json["error"]),
    readError(_, json, status) {
      const { message, details, status: name } = (json as { readonly error: Record<string, unknown> }).error; // as above
      return {
        message: typeof message === "string" ? message : answered(status),
        details,
        code: parseCode(name) ?? codeFromHttpStatus(status),
      };
    },
  };
}

/**
 * The client end of the HTTP+JSON binding (requirements K): an ordinary Connect transport, for
 * `createClient(A2AService, transport)`. It puts a tenant into the path (requirement P-3).
 *
 * Errors are ConnectErrors with the server's details, as on every wire. A stream that breaks is Unavailable.
 */
export function createHttpJsonTransport(options: HttpJsonTransportOptions): Transport {
  const { jsonMedia } = options;
  return createHttpJsonTransportOf(
    currentForm(jsonMedia === "json" ? "application/json" : "application/a2a+json"),
    options,
  );
}

/** The same for the form of any version. */
export function createHttpJsonTransportOf(
  form: HttpJsonForm,
  options: Omit<HttpJsonTransportOptions, "jsonMedia">,
): Transport {
  const settings = resolveTransportOptions(options);
  const { mediaType, accept: acceptJson } = form;
  const acceptStream = `text/event-stream, ${acceptJson}`;

  function request(call: OutgoingCall, accept: string, verb?: string): Promise<WireResponse> {
    const { header, ...parts } = form.request(call, verb);
    const url = joinUrl(options.baseUrl, parts);
    const body = parts.body === undefined ? {} : { body: { mediaType, text: JSON.stringify(parts.body) } };
    return sendRequest({ url, method: parts.verb, header, accept, ...body, signal: call.signal }, settings);
  }

  async function readFailure(call: OutgoingCall, response: WireResponse): Promise<ConnectError> {
    const { json } = await readJsonResponse(response, settings.maxResponseBytes);
    return response.ok && !form.isError(json)
      ? new ConnectError("the server did not answer with a stream", Code.Internal, response.headers)
      : toError(call, json, response);
  }

  function toError(
    call: OutgoingCall,
    json: unknown,
    { headers: header, status }: WireResponse,
  ): ConnectError {
    if (form.isError(json)) {
      return fromWireError({ ...form.readError(call, json, status), status, header });
    }
    return status === 429
      ? tooManyRequests(header)
      : new ConnectError(`${answered(status)} and no error of A2A`, codeFromHttpStatus(status), header);
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
    const failure = await readFailure(call, response);
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
        if (!response.ok || form.isError(json)) {
          throw toError(call, json, response);
        }
        // Some servers answer a call that has no result with status 200 and no body.
        const isDone = response.status === 204 || (body.isEmpty && call.method.output.fields.length === 0);
        if (json === undefined && !isDone) {
          throw new ConnectError("the server did not answer with JSON", Code.Internal, response.headers);
        }
        const message = form.response(call, json ?? {});
        return { header: response.headers, json: message, text: () => body.text };
      },
      async stream(call) {
        const response = await openStream(call);
        if (!isEventStream(response)) {
          throw await readFailure(call, response);
        }
        const read = (json: unknown): unknown => {
          if (form.isError(json)) {
            throw toError(call, json, response);
          }
          return form.response(call, json);
        };
        return { response, read };
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

/**
 * Longest path and query of a request, in characters: servers take some thousands. An agent may choose them: a page token
 * or the id of a task may have 64 MiB, and to encode a tenth of that into a URL takes seconds.
 */
const maxTargetLength = 64 * 1024;

/**
 * Base and path with exactly one slash between them (requirement K-10). The base keeps its query.
 *
 * @throws ConnectError InvalidArgument when no server would take what the request adds
 */
function joinUrl(baseUrl: string, { path, query }: HttpRequestParts): string {
  const added = [path, ...[...query].flat()].reduce((length, each) => length + each.length, 0);
  if (added > maxTargetLength) {
    throw new ConnectError(
      `the path and the query of the request have more than ${maxTargetLength} characters`,
      Code.InvalidArgument,
    );
  }
  const [base = "", ...baseQuery] = baseUrl.split("?");
  const parameters = [...baseQuery, query.toString()].filter((part) => part !== "").join("&");
  return `${trimSlashes(base)}${path}${parameters === "" ? "" : `?${parameters}`}`;
}

function answered(status: number): string {
  return `the server answered with HTTP status ${status}`;
}
