import { type A2AErrorReason, a2aError, findA2AError } from "@a2a-connect/core";
import { parseErrorDetails } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";

/** The code for a response without a readable error: the inverse of requirement E.1. */
export function codeFromHttpStatus(status: number): Code {
  return codes.get(status) ?? (status >= 500 ? Code.Unavailable : Code.Unknown);
}

const codes: ReadonlyMap<number, Code> = new Map([
  [400, Code.InvalidArgument],
  [401, Code.Unauthenticated],
  [403, Code.PermissionDenied],
  [404, Code.NotFound],
  [405, Code.Unimplemented],
  [409, Code.Aborted],
  [413, Code.ResourceExhausted],
  [415, Code.InvalidArgument],
  [422, Code.InvalidArgument],
  [429, Code.ResourceExhausted],
  [499, Code.Canceled],
  [500, Code.Internal],
  [501, Code.Unimplemented],
  [504, Code.DeadlineExceeded],
]);

/** Cause of an error that was made from a response: its status and header. */
export class HttpStatusError extends Error {
  override readonly name = "HttpStatusError";
  readonly status: number;

  constructor(status: number) {
    super(`the server answered with HTTP status ${status}`);
    this.status = status;
  }
}

/**
 * The error for a response of status 429, from the agent or a proxy in front of it: ResourceExhausted with an
 * HttpStatusError as its cause. It is an answer, and the agent took nothing of the call.
 */
export function tooManyRequests(header: Headers): ConnectError {
  const cause = new HttpStatusError(429);
  const error = new ConnectError(cause.message, Code.ResourceExhausted, header, undefined, cause);
  error.isWireError = true;
  return error;
}

/**
 * The same error for status 429 on the wires of Connect's own transports, which take 429 for Unavailable; any other
 * error as it is. Connect marks this error by its words alone, which may change with a new version.
 */
export function readTooManyRequests(thrown: unknown): unknown {
  const isStatus = thrown instanceof ConnectError && !thrown.isWireError && thrown.rawMessage === "HTTP 429";
  return isStatus ? tooManyRequests(thrown.metadata) : thrown;
}

/** Cause of an error about a response, or an event of a stream, that is larger than this side accepts. */
export class ResponseLimitError extends Error {
  override readonly name = "ResponseLimitError";
  /** In bytes. */
  readonly limit: number;

  constructor(message: string, limit: number) {
    super(message);
    this.limit = limit;
  }
}

/**
 * The error of a transport that stops reading: ResourceExhausted, which a server may also send for its own limits. Its
 * cause, a ResponseLimitError, tells the two apart.
 */
export function responseTooLarge(
  limit: number,
  message: string = `the response is larger than the limit of ${limit} bytes`,
): ConnectError {
  const cause = new ResponseLimitError(message, limit);
  return new ConnectError(message, Code.ResourceExhausted, undefined, undefined, cause);
}

/** An error as a JSON wire received it. */
export interface WireError {
  readonly message: string;
  /** ProtoJSON `Any` objects, not parsed yet. */
  readonly details: unknown;
  /** The error for its number, when its details have no reason. */
  readonly reason?: A2AErrorReason | undefined;
  /** The code when neither details nor number decide. */
  readonly code: Code;
  /** Status and header of the response. */
  readonly status: number;
  readonly header: Headers;
}

/**
 * The ConnectError that a caller catches, the same for every wire (requirement E-4). The reason in its details decides,
 * then its number: peers of 1.0.0 use other numbers, and several errors share one.
 */
export function fromWireError({ message, details, reason, code, status, header }: WireError): ConnectError {
  const sent = parseErrorDetails(details);
  const unnamed = connectError(message, code, header, sent, status);
  const found = findA2AError(unnamed);
  if (found !== undefined) {
    return connectError(message, found.entry.code, header, sent);
  }
  if (reason !== undefined) {
    const named = a2aError(reason, message);
    return connectError(message, named.code, header, [...named.details, ...sent]);
  }
  return unnamed;
}

function connectError(
  message: string,
  code: Code,
  header: Headers,
  details: ConnectError["details"],
  status = 200,
): ConnectError {
  const cause = status === 429 ? new HttpStatusError(status) : undefined;
  const error = new ConnectError(message, code, header, undefined, cause);
  error.isWireError = true; // it is the server's answer
  error.details.push(...details);
  return error;
}
