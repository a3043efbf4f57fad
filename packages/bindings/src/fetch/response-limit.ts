import { Code, ConnectError } from "@connectrpc/connect";

/** Cause of an error about a response, or an event of a stream, that is larger than this side reads. */
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
 * What a transport throws that reads no further: ResourceExhausted, as a server may say of its own limits, with a
 * ResponseLimitError as its cause, which tells the two apart.
 */
export function responseTooLarge(
  limit: number,
  message: string = `the response is larger than the limit of ${limit} bytes`,
): ConnectError {
  const cause = new ResponseLimitError(message, limit);
  return new ConnectError(message, Code.ResourceExhausted, undefined, undefined, cause);
}
