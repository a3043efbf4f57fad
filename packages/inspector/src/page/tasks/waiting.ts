import { isTerminal, lifecycleExtension, readLifecycleReport } from "@a2a-connect/core";
import { isObject } from "@a2a-connect/core/internal";
import { type AgentCard, TaskState, type TaskStatus } from "@a2a-connect/proto";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { formatDuration } from "../ui/time.ts";

/** What a task that has not ended waits for, in words: for whom, since when, until when. Undefined for one that has ended. */
export function whyWaiting(status: TaskStatus | undefined, card: AgentCard, now: number): string | undefined {
  if (status === undefined || isTerminal(status.state)) return undefined;
  const since = status.timestamp === undefined ? undefined : timestampMs(status.timestamp);
  const waited = since === undefined ? "" : `, for ${formatDuration(now - since)}`;
  switch (status.state) {
    case TaskState.INPUT_REQUIRED:
      return `It waits for its caller to answer${waited}. ${untilWhen(status, card, since, now)}`;
    case TaskState.AUTH_REQUIRED:
      return `It waits until its caller has signed in where the agent says${waited}. ${untilWhen(status, card, since, now)}`;
    case TaskState.SUBMITTED:
      return `The agent has accepted it and reports no work on it${waited}. Other tasks may be ahead of it, or it works without a word.`;
    default: {
      const { estimatedCompletion } = readLifecycleReport(status.message?.metadata);
      const at = typeof estimatedCompletion === "string" ? Date.parse(estimatedCompletion) : Number.NaN;
      const estimate = Number.isNaN(at)
        ? ""
        : ` The agent expects to be done in ${formatDuration(at - now)}.`;
      return `The agent works on it; its last word came ${since === undefined ? "at an unknown time" : `${formatDuration(now - since)} ago`}.${estimate}`;
    }
  }
}

/** Until when a question waits: what it says itself, else what the card says for all of them. */
function untilWhen(status: TaskStatus, card: AgentCard, since: number | undefined, now: number): string {
  const own = readLifecycleReport(status.message?.metadata).waitSeconds;
  const seconds = own ?? longestWaitOf(card);
  if (seconds === "unlimited") return "It waits without a limit.";
  if (typeof seconds !== "number" || since === undefined)
    return "The agent does not say how long it will wait.";
  const left = since + seconds * 1_000 - now;
  return left > 0
    ? `Without it the agent cancels the task in ${formatDuration(left)}.`
    : "Its time is over: the agent is about to cancel the task.";
}

function longestWaitOf({ capabilities }: AgentCard): unknown {
  const params = capabilities?.extensions.find(({ uri }) => uri === lifecycleExtension)?.params;
  return isObject(params) ? params["longestWaitSeconds"] : undefined;
}
