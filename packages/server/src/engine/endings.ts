import { type EndReason, text } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import type { StatusInit } from "./events.ts";

function ending(state: TaskState, reason: EndReason, words: string): StatusInit {
  return { state, parts: [text(words)], report: { reason } };
}

/** The statuses with which the engine itself ends a task, each with a reason for programs and a sentence for people. */
export const endings: Readonly<
  Record<"canceled" | "deadline" | "inactive" | "interrupted" | "unloadable", StatusInit>
> = {
  canceled: ending(TaskState.CANCELED, "canceled", "The task was canceled."),
  deadline: ending(TaskState.CANCELED, "deadline", "The task's deadline has passed."),
  inactive: ending(TaskState.FAILED, "inactive", "The agent was silent for too long and was stopped."),
  interrupted: ending(
    TaskState.FAILED,
    "interrupted",
    "The agent was stopped while it worked on the task; send it again.",
  ),
  unloadable: ending(
    TaskState.FAILED,
    "unloadable",
    "The server could not load the task, several times; it no longer shows its history and artifacts.",
  ),
};

/** The queue of a skill or of the agent is full; no work was done. */
export function capacityEnding(retryAfterSeconds: number): StatusInit {
  const words = `Too many tasks are waiting; send it again in ${retryAfterSeconds} seconds or later.`;
  return {
    state: TaskState.REJECTED,
    parts: [text(words)],
    report: { reason: "capacity", retryAfterSeconds },
  };
}

/** A new task for a skill that is switched off. */
export function skillUnavailableEnding(skill: string): StatusInit {
  return ending(TaskState.REJECTED, "skill-unavailable", `The skill "${skill}" is switched off at present.`);
}

/** A task of a skill, or of the agent's own code, that is missing after the agent was started again. */
export function skillRemovedEnding(skill: string | undefined): StatusInit {
  const what =
    skill === undefined ? "The agent does no work without a skill" : `The agent has no skill "${skill}"`;
  return ending(
    TaskState.FAILED,
    "skill-removed",
    `${what} any more, so the task cannot go on. Its work so far stays done.`,
  );
}

/** A question that was not answered within `timeoutMs`. */
export function timeoutEnding(reason: "input-timeout" | "auth-timeout", timeoutMs: number): StatusInit {
  const what = reason === "input-timeout" ? "an answer" : "credentials";
  return ending(
    TaskState.CANCELED,
    reason,
    `The task waited ${timeoutMs / 1_000} seconds for ${what} and was canceled.`,
  );
}
