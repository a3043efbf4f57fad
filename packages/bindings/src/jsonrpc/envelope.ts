import { type A2AErrorReason, findA2AError, invalidParams } from "@a2a-connect/core";
import { errorCatalogue, findMemberText, formatErrorDetails, wireCodes } from "@a2a-connect/core/internal";
import type { JsonObject } from "@bufbuild/protobuf";
import { Code, type ConnectError } from "@connectrpc/connect";

/** A JSON-RPC request with a valid envelope. */
export interface Envelope {
  readonly id: JsonRpcId;
  readonly method: string;
  /** As received, not checked yet. Absent and null params are `{}` (requirement I-2). */
  readonly params: unknown;
}

/** What is wrong with an envelope, and the id for the answer: null when the request's own id cannot be used. */
export interface EnvelopeRefusal {
  readonly id: JsonRpcId;
  readonly refused: ConnectError;
}

/**
 * Checks the envelope of a JSON-RPC request (requirements I-2, I-8, I-9).
 *
 * It refuses batches, because A2A does not have them, and notifications, because every operation has a result. An id is
 * a string of up to 512 characters, null, or an integer that JSON numbers carry exactly, because the server echoes
 * it.
 */
export function readEnvelope(json: unknown): Envelope | EnvelopeRefusal {
  if (Array.isArray(json)) {
    return refuse(null, "", "batches are not supported, send one request at a time");
  }
  if (typeof json !== "object" || json === null) {
    return refuse(null, "", "the body must be a JSON-RPC request object");
  }
  const { jsonrpc, id, method, params }: Partial<Record<string, unknown>> = json;
  if (!isJsonRpcId(id)) {
    return refuse(null, "id", describeId(id));
  }
  if (jsonrpc !== "2.0") {
    return refuse(id, "jsonrpc", 'must be "2.0"');
  }
  if (typeof method !== "string") {
    return refuse(id, "method", method === undefined ? "is required" : "must be a string");
  }
  return { id, method, params: params ?? {} };
}

/**
 * The id of a request whose text was not parsed to its end; null when it has no usable one near its beginning and none as its last
 * member, where callers put it: to search all of a large text would cost several times what it costs to refuse it.
 */
export function findId(text: string): JsonRpcId {
  try {
    const id: unknown = JSON.parse(findFirstId(text) ?? findLastId(text) ?? "null");
    return isJsonRpcId(id) ? id : null;
  } catch {
    return null; // it was not JSON
  }
}

function findFirstId(text: string): string | undefined {
  try {
    return findMemberText(text.slice(0, searchedCharacters), "id");
  } catch {
    return undefined; // the slice may end in a name
  }
}

function findLastId(text: string): string | undefined {
  return lastId.exec(text.slice(-searchedCharacters))?.[1];
}

/** Every event of a stream contains the id, and thousands of calls that wait keep theirs. */
const maxIdLength = 512;
/** Each character of an id may be an escape of six characters. */
const searchedCharacters = 16 * maxIdLength;

/** A member that only the end of the outermost object follows. */
const lastId = /[,{]\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|[-\d][\w.+-]*)\s*\}\s*$/;

function isJsonRpcId(id: unknown): id is JsonRpcId {
  return id === null || (typeof id === "string" ? id.length <= maxIdLength : Number.isSafeInteger(id));
}

function describeId(id: unknown): string {
  if (id === undefined) {
    return "is required";
  }
  return typeof id === "string"
    ? `has ${id.length} characters; at most ${maxIdLength} are taken`
    : "must be a string, an integer or null";
}

function refuse(id: JsonRpcId, field: string, description: string): EnvelopeRefusal {
  return { id, refused: invalidParams({ field, description }) };
}

/** Id of a JSON-RPC request, echoed as received (requirement I-9). */
export type JsonRpcId = string | number | null;

/** The `error` member of a response: these three members and no others (requirement E.3). */
export interface JsonRpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: readonly JsonObject[];
}

/** The text of a response before its result, and the text after it. Every event of a stream is put between them. */
export interface ResultWrapper {
  readonly before: string;
  readonly after: string;
}

/** Wraps results for requests with this id. */
export function wrapResult(id: JsonRpcId): ResultWrapper {
  return {
    before: `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`,
    after: "}",
  };
}

/** The text of an error response. */
export function formatError(id: JsonRpcId, error: JsonRpcError): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error });
}

/** An error in the form of this wire (requirements E.1, E.2). */
export function toJsonRpcError(error: ConnectError): JsonRpcError {
  const { jsonRpcCode } = wireCodes(error);
  return jsonRpcError(jsonRpcCode, headings.get(jsonRpcCode), error, formatErrorDetails(error));
}

/** The same for callers of 0.3, which did not know these numbers. */
export function toOlderError(error: ConnectError): JsonRpcError {
  const { code, ...rest } = toJsonRpcError(error);
  return { code: olderNumbers.get(code) ?? code, ...rest };
}

/** What came with 1.0 was an operation that is not supported: a required extension, a version, a generation. */
const olderNumbers: ReadonlyMap<number, number> = new Map(
  (["EXTENSION_SUPPORT_REQUIRED", "VERSION_NOT_SUPPORTED", "TASK_GENERATION_MISMATCH"] as const).map(
    (reason) => [errorCatalogue[reason].jsonRpcCode, errorCatalogue.UNSUPPORTED_OPERATION.jsonRpcCode],
  ),
);

/** -32700: the body is not JSON. */
export function parseError(error: ConnectError): JsonRpcError {
  return jsonRpcError(-32700, "Invalid JSON payload", error, withoutReason(error));
}

/** -32600: the body is JSON, but not one JSON-RPC request. */
export function invalidRequest(error: ConnectError): JsonRpcError {
  return jsonRpcError(-32600, "Request payload validation error", error, withoutReason(error));
}

/** Drops the reason INVALID_PARAMS, which other wires give: params are not read yet, and the number is enough. */
function withoutReason(error: ConnectError): readonly JsonObject[] {
  return formatErrorDetails(error).filter(({ "@type": type }) => !String(type).endsWith("ErrorInfo"));
}

/** The message of an error without the words that {@link toJsonRpcError} put before it. */
export function withoutHeading(code: number, message: string): string {
  const heading = headings.get(code);
  return heading !== undefined && message.startsWith(`${heading}: `)
    ? message.slice(heading.length + 2)
    : message;
}

/** The code of a generic error by its number; undefined for others. For -32603 the status of an unusual response says more. */
export function codeFromNumber(code: number): Code | undefined {
  return genericCodes.get(code);
}

const genericCodes: ReadonlyMap<number, Code> = new Map([
  [-32700, Code.InvalidArgument],
  [-32600, Code.InvalidArgument],
  [-32601, Code.Unimplemented],
  [-32602, Code.InvalidArgument],
  // The SDKs for Go and Rust have numbers of their own for what A2A leaves to HTTP.
  [-31401, Code.Unauthenticated],
  [-31403, Code.PermissionDenied],
]);

/** How the message of a generic error begins (requirement E.1); the details follow. */
const headings: ReadonlyMap<number, string> = new Map([
  [-32601, "Method not found"],
  [-32602, "Invalid parameters"],
]);

function jsonRpcError(
  code: number,
  heading: string | undefined,
  error: ConnectError,
  data: readonly JsonObject[],
): JsonRpcError {
  const message = heading === undefined ? error.rawMessage : `${heading}: ${error.rawMessage}`;
  return data.length === 0 ? { code, message } : { code, message, data };
}

/** Status line of an error response: 200, except for errors that a proxy or browser must see (requirement I-10). */
export function jsonRpcStatus(error: ConnectError): number {
  switch (error.code) {
    case Code.Unauthenticated:
      return 401;
    case Code.PermissionDenied:
      return 403;
    default:
      return statuses.get(findA2AError(error)?.reason) ?? 200;
  }
}

const statuses: ReadonlyMap<A2AErrorReason | undefined, number> = new Map([
  ["BODY_TOO_LARGE", 413],
  ["RATE_LIMITED", 429],
]);
