import { type A2AErrorReason, a2aError, findA2AError } from "@a2a-connect/core";
import { parseErrorDetails } from "@a2a-connect/core/internal";
import { type Code, ConnectError } from "@connectrpc/connect";
import { HttpStatusError } from "./http-status.ts";

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
