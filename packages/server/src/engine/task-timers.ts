import { isTerminal, lifecycleExtension, parseLifecycleRequest } from "@a2a-connect/core";
import { Role, type Task, TaskState } from "@a2a-connect/proto";
import type { AgentDefinition } from "../agent/agent-definition.ts";

const defaultQuestionTimeoutMs = 600_000;

/** The deadline that the newest of the caller's messages set, in milliseconds since 1970. */
export function readDeadline({ history }: Pick<Task, "history">): number | undefined {
  for (const message of history.toReversed()) {
    if (message.role === Role.USER && message.metadata?.[lifecycleExtension] !== undefined) {
      const parsed = parseLifecycleRequest(message.metadata);
      if ("request" in parsed && parsed.request.deadline !== undefined) {
        return Date.parse(parsed.request.deadline);
      }
    }
  }
  return undefined;
}

/** How long a task may wait in an interrupted state; undefined: for ever, or the state is none. */
export function questionTimeoutMs(agent: AgentDefinition, state: TaskState): number | undefined {
  const timeoutMs =
    state === TaskState.INPUT_REQUIRED
      ? (agent.inputTimeoutMs ?? defaultQuestionTimeoutMs)
      : state === TaskState.AUTH_REQUIRED
        ? (agent.authTimeoutMs ?? defaultQuestionTimeoutMs)
        : false;
  return timeoutMs === false ? undefined : timeoutMs;
}

/** When the first timer of a task in `state` is due. */
export function findWakeTime(
  agent: AgentDefinition,
  state: TaskState,
  statusAt: number,
  deadline: number | undefined,
): number | undefined {
  if (isTerminal(state)) {
    return undefined;
  }
  const timeoutMs = questionTimeoutMs(agent, state);
  const times = [deadline, timeoutMs === undefined ? undefined : statusAt + timeoutMs].filter(
    (time) => time !== undefined,
  );
  return times.length === 0 ? undefined : Math.min(...times);
}
