import { methods } from "@a2a-connect/core";
import {
  findReasonByJsonRpcCode,
  httpRequestParts,
  isObject,
  parseMessage,
  startWalk,
} from "@a2a-connect/core/internal";
import { type StreamResponse, StreamResponseSchema } from "@a2a-connect/proto";
import type { Transport } from "@connectrpc/connect";
import { codeFromHttpStatus } from "../fetch/response-errors.ts";
import type { JsonTransportOptions } from "../fetch/transport-options.ts";
import { createHttpJsonTransportOf, type HttpJsonForm } from "../http-json/transport.ts";
import { codeFromNumber, withoutHeading } from "../jsonrpc/envelope.ts";
import { createJsonRpcTransportOf, type JsonRpcTransportOptions } from "../jsonrpc/transport.ts";
import { createForms } from "./forms.ts";
import { createOutgoingCalls, type ReadOlderCard, reasonOf, toOlderRequestHeader } from "./outgoing-calls.ts";

export type { ReadOlderCard } from "./outgoing-calls.ts";

/** What the client ends of older versions need besides. */
export interface OlderTransportOptions {
  /** Reads the extended card. */
  readonly readCard: ReadOlderCard;
}

/** The client end of the JSON-RPC binding of A2A 0.3 and 0.2: a Connect transport for the service of 1.0. */
export function createOlderJsonRpcTransport({
  readCard,
  ...options
}: JsonRpcTransportOptions & OlderTransportOptions): Transport {
  const find = createOutgoingCalls("json", readCard);
  return createJsonRpcTransportOf(
    {
      request({ method, message, header }) {
        const { name, toOlder } = find(method);
        return { method: name, params: toOlder(message), header: toOlderRequestHeader(header) };
      },
      response: ({ method }, result) => find(method).toCurrent(result),
    },
    options,
  );
}

/**
 * The client end of the HTTP+JSON binding of A2A 0.3: paths below `/v1`, and the JSON of the messages of `a2a.v1`. The paths
 * are otherwise those of 1.0, but for that of the extended card.
 */
export function createOlderHttpJsonTransport({
  readCard,
  ...options
}: JsonTransportOptions & OlderTransportOptions & { readonly baseUrl: string }): Transport {
  const find = createOutgoingCalls("proto", readCard);
  const form: HttpJsonForm = {
    mediaType: "application/json",
    accept: "application/json",
    request({ method, message, header }, verb) {
      const { operation, toOlder } = find(method);
      const { body, path, ...parts } = httpRequestParts(methods[operation], message, verb);
      return {
        ...parts,
        path: operation === "getExtendedAgentCard" ? "/v1/card" : `/v1${path}`,
        ...(body === undefined ? {} : { body: toOlder(message) ?? {} }),
        header: toOlderRequestHeader(header),
      };
    },
    response: ({ method }, json) => find(method).toCurrent(json),
    // It is the error of JSON-RPC, of which some servers send the message alone. No response has a text of this name.
    isError: (json) => isObject(json) && typeof json["message"] === "string",
    readError({ method }, json, status) {
      const { code: said, message, data } = json as Record<string, unknown>; // as above
      const number = typeof said === "number" ? said : 0;
      const code = codeFromNumber(number) ?? codeFromHttpStatus(status);
      const { operation } = find(method);
      return {
        message: withoutHeading(number, String(message)),
        details: data,
        reason: number === 0 ? reasonOf(code, operation) : findReasonByJsonRpcCode(number),
        code,
      };
    },
  };
  return createHttpJsonTransportOf(form, options);
}

const { payload } = createForms("json");

/**
 * What a webhook of an older version is told: the whole task.
 *
 * @throws ConnectError InvalidArgument for other JSON
 */
export function readOlderNotification(json: unknown): StreamResponse {
  const current = payload.toCurrent(json, startWalk("", undefined, true));
  return parseMessage(StreamResponseSchema, current, { isLenient: true });
}
