import { invalidParams } from "@a2a-connect/core";
import type { StreamResponse, Task } from "@a2a-connect/proto";
import type { HandlerContext } from "@connectrpc/connect";
import { type CommittedEvent, taskEvent } from "../engine/events.ts";
import type { SeenTask } from "../engine/task-handle.ts";
import { speaksDraft } from "./operation.ts";

/** A task in the caller's protocol version: only A2A 1.1 has generations (requirement R-7). */
export function showTask(
  { task, generation }: SeenTask,
  context: HandlerContext,
  historyLength: number | undefined,
): Task {
  const shown = withHistoryLength(task, historyLength);
  return speaksDraft(context) ? { ...shown, generation: BigInt(generation) } : shown;
}

/**
 * An event in the caller's protocol version. All callers of one version get the same object, so that it is encoded
 * once. Only a task with a shortened history is another object.
 */
export function showEvent(
  event: CommittedEvent,
  context: HandlerContext,
  historyLength: number | undefined,
): StreamResponse {
  const shown = speaksDraft(context) ? event.numberedResponse : event.response;
  return historyLength !== undefined && shown.payload.case === "task"
    ? taskEvent(withHistoryLength(shown.payload.value, historyLength))
    : shown;
}

/**
 * The task with at most the newest `historyLength` messages of its history; all of them when it is not set
 * (requirements C-1, C-2).
 */
function withHistoryLength(task: Task, historyLength: number | undefined): Task {
  if (historyLength === undefined || task.history.length <= historyLength) {
    return task;
  }
  return { ...task, history: historyLength === 0 ? [] : task.history.slice(-historyLength) };
}

/** Refuses a negative length. */
export function assertHistoryLength(field: string, historyLength: number | undefined): void {
  if (historyLength !== undefined && historyLength < 0) {
    throw invalidParams({ field, description: `must not be negative, but is ${historyLength}` });
  }
}
