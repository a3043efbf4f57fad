import { findA2AError, findFieldViolations } from "@a2a-connect/core";
import { lastEventIdHeader } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import { mayReopen } from "../calls/failures.ts";
import { AgentError, InvalidResponseError } from "../errors.ts";
import { SilenceError } from "../platform.ts";
import type { Outcome, Phase } from "./phases.ts";
import { EventGapError } from "./task-tracker.ts";

/**
 * What the failure of a source of an existing task means; `final`: it is an answer that no other call would change.
 *
 * @param hasCredentials whether the client gets its own (the option `auth`)
 */
export function judgeFailure(
  error: unknown,
  phase: Phase,
  hasCredentials: boolean,
): Extract<Outcome, "unsupported" | "silent" | "broken"> | "final" {
  if (error instanceof EventGapError || error instanceof InvalidResponseError || hasNoCursor(error)) {
    return "broken";
  }
  if (error instanceof AgentError || !(error instanceof ConnectError)) {
    return "final";
  }
  if (error.cause instanceof SilenceError) {
    return "silent";
  }
  const reason = findA2AError(error)?.reason;
  if (reason === "UNSUPPORTED_OPERATION" || error.code === Code.Unimplemented) {
    return phase === "subscribe" ? "unsupported" : "final";
  }
  // Some servers know no stream of a task that does nothing just then. GetTask tells whether there is a task.
  if (error.code === Code.NotFound && error.isWireError && phase === "subscribe") {
    return "unsupported";
  }
  // A server ends a stream when the token expires that it began with; the next one begins with a fresh one.
  if (error.code === Code.Unauthenticated && error.isWireError && hasCredentials && phase === "subscribe") {
    return "broken";
  }
  return mayReopen(error) ? "broken" : "final";
}

/** Whether the server does not know the event after which a stream was to go on. */
export function hasNoCursor(error: unknown): boolean {
  return (
    error instanceof ConnectError &&
    findFieldViolations(error).some(({ field }) => field === lastEventIdHeader)
  );
}
