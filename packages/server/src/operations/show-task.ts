import type { StreamResponse, Task } from "@a2a-connect/proto";
import type { HandlerContext } from "@connectrpc/connect";
import type { CommittedEvent } from "../engine/committed-event.ts";
import { taskEvent } from "../engine/events.ts";
import type { SeenTask } from "../engine/seen-task.ts";
import { withHistoryLength } from "./history-length.ts";
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
