import type { TaskEngine } from "../engine/task-engine.ts";
import { holderOf, type Operation, ownerOf } from "./operation.ts";
import { showTask } from "./show-task.ts";

/** CancelTask: ends a task that has not ended, and returns it (spec §3.1.5). */
export function cancelTask(engine: TaskEngine): Operation<"cancelTask"> {
  return async ({ id, metadata }, context) =>
    showTask(await engine.cancel(ownerOf(context), id, metadata, holderOf(context)), context, undefined);
}
