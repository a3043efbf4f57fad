import {
  chunksOf,
  countValues,
  parseJsonMedia,
  parseMediaType,
  parseMessage,
  readAtMost,
} from "@a2a-connect/core/internal";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { responseTooLarge } from "./response-errors.ts";
import type { WireResponse } from "./wire-fetch.ts";

/** Whether a response is a stream of server-sent events. */
export function isEventStream({ headers }: WireResponse): boolean {
  const type = parseMediaType(headers.get("content-type") ?? "");
  return type?.type === "text" && type.subtype === "event-stream";
}

/** The body of a response that should be JSON. */
class JsonResponse {
  /** Its JSON; undefined when the body is empty or something else, such as a proxy's page. */
  readonly json: unknown;
  /** Whether there is no body. */
  readonly isEmpty: boolean;
  readonly #bytes: Uint8Array | undefined;

  /** @param bytes undefined when the body was not read */
  constructor(json: unknown, bytes: Uint8Array | undefined) {
    this.json = json;
    this.isEmpty = bytes?.byteLength === 0;
    this.#bytes = bytes;
  }

  /** Its text. */
  get text(): string {
    return new TextDecoder().decode(this.#bytes);
  }
}

/**
 * The JSON in a response.
 *
 * @throws ConnectError ResourceExhausted when it is larger than `maxBytes`, Unavailable when it is cut off
 */
export async function readJsonResponse(response: WireResponse, maxBytes: number): Promise<JsonResponse> {
  const type = parseMediaType(response.headers.get("content-type") ?? "");
  if (
    parseJsonMedia(response.headers.get("content-type")) === undefined &&
    type?.subtype.endsWith("+json") !== true
  ) {
    if (type === undefined) {
      return new JsonResponse(undefined, await readAtMost(readChunks(response), 0)); // most probably there is none
    }
    await response.body?.cancel();
    return new JsonResponse(undefined, undefined);
  }
  const bytes = await readAtMost(readChunks(response), maxBytes);
  if (bytes === undefined) {
    throw responseTooLarge(maxBytes);
  }
  return new JsonResponse(parseResponseJson(bytes, maxBytes), bytes);
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * A text of an agent as JSON; undefined when it is none.
 *
 * @throws ConnectError ResourceExhausted when it has more values than go with `maxBytes`
 */
export function parseResponseJson(content: Uint8Array | string, maxBytes: number): unknown {
  try {
    const text = typeof content === "string" ? content : decoder.decode(content);
    const max = maxValuesOf(maxBytes);
    const mayExceed = text.length * manyNamesValues > max;
    if (mayExceed && countValues(text, max, manyNamesValues) > max) throw responseTooLarge(maxBytes);
    return JSON.parse(text);
  } catch (thrown) {
    if (thrown instanceof ConnectError) throw thrown;
    return undefined;
  }
}

/** How many values a response may have: each becomes some hundred bytes of objects, and may be one byte of text. */
export function maxValuesOf(maxBytes: number): number {
  return Math.max(120_000, maxBytes / 64);
}

/**
 * What each name of an object with very many names counts besides. Agents of ours may put out 100,000 in one object: of these a response
 * of the default size has room for one.
 */
export const manyNamesValues = 6;

/**
 * The body of a response chunk by chunk. To stop reading early closes the connection.
 *
 * @throws ConnectError Unavailable when the connection breaks
 */
export function readChunks({ body }: WireResponse): AsyncIterable<Uint8Array> {
  return chunksOf(body, responseCutOff);
}

/** The error for a response that ended in the middle: Unavailable. */
export function responseCutOff(cause?: unknown): ConnectError {
  return new ConnectError("the response was cut off", Code.Unavailable, undefined, undefined, cause);
}

/**
 * A response message. The client reads responses less strictly than the server reads requests: a newer server may use
 * fields and enum values that this client does not know.
 *
 * @throws ConnectError Internal when the JSON is not a message of this type
 */
export function parseResponse<Desc extends DescMessage>(desc: Desc, json: unknown): MessageShape<Desc> {
  // Some servers write an empty message as null.
  const value = json === null && desc.fields.length === 0 ? {} : json;
  try {
    return parseMessage(desc, value, { isLenient: true, maxDepth });
  } catch (thrown) {
    throw new ConnectError(
      `the response is not a valid ${desc.name}`,
      Code.Internal,
      undefined,
      undefined,
      thrown,
    );
  }
}

/** How deep objects and arrays of a response may be nested. */
const maxDepth = 500;
