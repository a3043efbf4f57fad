import type { TaskEngine } from "../engine/task-engine.ts";
import { readLastEventId } from "./last-event-id.ts";
import { callerOf, type Operation } from "./operation.ts";
import { streamTask } from "./stream-task.ts";

/**
 * SubscribeToTask: the current task, or the events that a caller has missed, then every event until the task has ended
 * (spec §3.1.6; requirement A-36).
 */
export function subscribeToTask(engine: TaskEngine): Operation<"subscribeToTask"> {
  return async function* ({ id }, context) {
    const handle = await engine.subscribe(callerOf(context), id, readLastEventId(context));
    yield* streamTask(handle, context);
  };
}
