import { HttpStatusError } from "@a2a-connect/bindings/client";
import { findA2AError, findFieldViolations } from "@a2a-connect/core";
import { lastEventIdHeader } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import { AgentError, InvalidResponseError } from "../errors.ts";
import { findRetryDelay } from "./retry-delay.ts";
import { EventGapError } from "./task-tracker.ts";

/**
 * What the failure of one call means for the next: `transient` may pass, `no-streams` will not, `cursor` means that the
 * server does not know the requested event, `fatal` is an answer.
 */
export type Verdict = "transient" | "no-streams" | "cursor" | "fatal";

/** Classifies a failure of a stream that follows a task. */
export function judgeStreamFailure(error: unknown): Verdict {
  if (error instanceof EventGapError || error instanceof InvalidResponseError) {
    return "transient";
  }
  if (error instanceof AgentError || !(error instanceof ConnectError)) {
    return "fatal";
  }
  if (findFieldViolations(error).some(({ field }) => field === lastEventIdHeader)) {
    return "cursor";
  }
  const reason = findA2AError(error)?.reason;
  if (reason === "UNSUPPORTED_OPERATION" || error.code === Code.Unimplemented) {
    return "no-streams";
  }
  const mayPass =
    (reason === undefined || reason === "UNAVAILABLE") &&
    (transientCodes.has(error.code) || isRateLimit(error));
  return mayPass ? "transient" : "fatal";
}

/**
 * Whether the same call may succeed a little later. It does not say whether the call may be repeated. An answer of the
 * server is final, unless it says that the server is unavailable, or was called too often.
 */
export function isTransient(error: unknown): error is ConnectError {
  return (
    error instanceof ConnectError &&
    (isRateLimit(error) ||
      (error.isWireError ? error.code === Code.Unavailable : transientCodes.has(error.code))) &&
    [undefined, "UNAVAILABLE"].includes(findA2AError(error)?.reason)
  );
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
