import { HttpStatusError } from "@a2a-connect/bindings/client";
import { findA2AError, findFieldViolations } from "@a2a-connect/core";
import { lastEventIdHeader } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import { AgentError, InvalidResponseError } from "../errors.ts";
import { findRetryDelay } from "./retry-delay.ts";
import { EventGapError } from "./task-tracker.ts";

/**
 * What the failure of one call says about the next: `transient` may go away by itself, `no-streams` will not, `cursor`
 * means that the server does not know the event that was asked for, `fatal` is an answer.
 */
export type Verdict = "transient" | "no-streams" | "cursor" | "fatal";

/** Reads a failure of a stream that follows a task. */
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
 * Whether the same call may succeed a little later. Nothing is said about whether it may be repeated. An answer of the
 * server is one, unless it says that it is unavailable, or that it was asked too often.
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
 * Too many calls in too short a time. By their codes nobody can tell: ResourceExhausted is said of sizes as well, and JSON-RPC has
 * no number for it. It is meant where HTTP says so, or where a time to come again is named.
 */
function isRateLimit(error: ConnectError): boolean {
  const { cause, isWireError } = error;
  const isStatus = cause instanceof HttpStatusError && cause.status === 429;
  return isWireError && (isStatus || findRetryDelay(error) !== undefined);
}

/** Broken connections come out as any of these, by platform and wire. */
const transientCodes: ReadonlySet<Code> = new Set([
  Code.Unavailable,
  Code.DeadlineExceeded,
  Code.Aborted,
  Code.Internal,
  Code.Unknown,
  Code.DataLoss,
  Code.Canceled,
]);
