import { type A2AErrorReason, a2aError, findA2AError } from "@a2a-connect/core";
import { parseErrorDetails } from "@a2a-connect/core/internal";
import { type Code, ConnectError } from "@connectrpc/connect";
import { HttpStatusError } from "./http-status.ts";

/** An error as it was found on a JSON wire. */
export interface WireError {
  readonly message: string;
  /** ProtoJSON `Any` objects, not looked at yet. */
  readonly details: unknown;
  /** What the error's number stands for when its details do not say. */
  readonly reason?: A2AErrorReason | undefined;
  /** What it is when nothing else says. */
  readonly code: Code;
  /** Status and header of the response. */
  readonly status: number;
  readonly header: Headers;
}

/**
 * The ConnectError that a caller catches, whichever wire it came over (requirement E-4): classified by the reason in its
 * details, then by its number. Peers of 1.0.0 use other numbers, and several errors share one.
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
  error.isWireError = true; // said by the server, not about it
  error.details.push(...details);
  return error;
}
