import { HttpStatusError } from "@a2a-connect/bindings/client";
import { findA2AError } from "@a2a-connect/core";
import { Code, ConnectError } from "@connectrpc/connect";
import { findRetryDelay } from "./retry-delay.ts";

/**
 * Whether the same call may succeed a little later. It does not say whether the call may be repeated. An answer of the
 * server is final, unless it says that the server is unavailable, or was called too often.
 */
export function isTransient(error: unknown): error is ConnectError {
  return (
    error instanceof ConnectError &&
    (isRateLimit(error) ||
      (error.isWireError ? error.code === Code.Unavailable : transientCodes.has(error.code))) &&
    saysNoMore(error)
  );
}

/** Whether a stream that failed so may be opened again: a server's answer may be that of a proxy between. */
export function mayReopen(error: ConnectError): boolean {
  return (transientCodes.has(error.code) || isRateLimit(error)) && saysNoMore(error);
}

function saysNoMore(error: ConnectError): boolean {
  return [undefined, "UNAVAILABLE"].includes(findA2AError(error)?.reason);
}

/**
 * Too many calls in too short a time. The codes do not tell: ResourceExhausted also means sizes, and JSON-RPC has no
 * number for it. HTTP's status says it, or a time to try again.
 */
function isRateLimit(error: ConnectError): boolean {
  const { cause, isWireError } = error;
  const isStatus = cause instanceof HttpStatusError && cause.status === 429;
  return isWireError && (isStatus || findRetryDelay(error) !== undefined);
}

/** A broken connection may have any of these codes, depending on platform and wire. */
const transientCodes: ReadonlySet<Code> = new Set([
  Code.Unavailable,
  Code.DeadlineExceeded,
  Code.Aborted,
  Code.Internal,
  Code.Unknown,
  Code.DataLoss,
  Code.Canceled,
]);
