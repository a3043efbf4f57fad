import { Code, ConnectError } from "@connectrpc/connect";

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
