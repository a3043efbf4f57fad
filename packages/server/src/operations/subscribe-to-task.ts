import type { TaskEngine } from "../engine/task-engine.ts";
import { type Operation, ownerOf } from "./operation.ts";
import { streamTask } from "./stream-task.ts";

/** SubscribeToTask: the task as it is now, then every event, until it has ended (spec §3.1.6). */
export function subscribeToTask(engine: TaskEngine): Operation<"subscribeToTask"> {
  return async function* ({ id }, context) {
    const handle = await engine.subscribe(ownerOf(context), id);
    yield* streamTask(handle, context.signal, undefined, () => false);
  };
}
