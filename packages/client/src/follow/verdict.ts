import { findA2AError, findFieldViolations, lastEventIdHeader } from "@a2a-connect/core";
import { Code, ConnectError } from "@connectrpc/connect";
import { AgentError, InvalidResponseError } from "../errors.ts";
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
  return transientCodes.has(error.code) && reason === undefined ? "transient" : "fatal";
}

/**
 * Whether the same call may succeed a little later. Nothing is said about whether it may be repeated. An answer of the
 * server is one, unless it says that it is unavailable.
 */
export function isTransient(error: unknown): error is ConnectError {
  return (
    error instanceof ConnectError &&
    (error.isWireError ? error.code === Code.Unavailable : transientCodes.has(error.code)) &&
    findA2AError(error) === undefined
  );
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
