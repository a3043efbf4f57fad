import { findA2AError, findFieldViolations } from "@a2a-connect/core";
import { lastEventIdHeader } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import { isTransient, mayReopen } from "../calls/failures.ts";
import { mayComeOfChangedCard } from "../card/agent-cards.ts";
import { AgentError, InvalidResponseError } from "../errors.ts";
import { SilenceError } from "../platform.ts";
import type { Outcome, Phase } from "./phases.ts";
import { EventGapError } from "./task-tracker.ts";

/** What a failure means for the next phase; `final`: it is an answer that no other call would change. */
export type Judgement = Extract<Outcome, "refused" | "unsupported" | "silent" | "broken"> | "final";

/** Judges the failure of a source whose message the agent has not taken, as far as is known. */
export function judgeSending(error: unknown, phase: Phase, isNewTask: boolean): Judgement {
  if (phase === "send" && lacksStreams(error, isNewTask)) {
    return "unsupported";
  }
  if (mayComeOfChangedCard(error)) {
    return "refused";
  }
  return isTransient(error) ? "broken" : "final";
}

/** Judges the failure of a source of a task that exists. */
export function judgeFollowing(error: unknown, phase: Phase): Judgement {
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
  return mayReopen(error) ? "broken" : "final";
}

/** Whether the server does not know the event after which a stream was to go on. */
export function hasNoCursor(error: unknown): boolean {
  return (
    error instanceof ConnectError &&
    findFieldViolations(error).some(({ field }) => field === lastEventIdHeader)
  );
}

/**
 * The card promises streams and the server has none. A message to an existing task may be refused for other reasons.
 */
function lacksStreams(error: unknown, isNewTask: boolean): boolean {
  return (
    error instanceof ConnectError &&
    (error.code === Code.Unimplemented ||
      (findA2AError(error)?.reason === "UNSUPPORTED_OPERATION" && isNewTask))
  );
}
