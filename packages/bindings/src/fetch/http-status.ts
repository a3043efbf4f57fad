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
 * error as it is. Connect marks this error by its words alone.
 */
export function readTooManyRequests(thrown: unknown): unknown {
  const isStatus = thrown instanceof ConnectError && !thrown.isWireError && thrown.rawMessage === "HTTP 429";
  return isStatus ? tooManyRequests(thrown.metadata) : thrown;
}
