import type { TaskEngine } from "../engine/task-engine.ts";
import { callerOf, holderOf, type Operation } from "./operation.ts";
import { showTask } from "./show-task.ts";

/** CancelTask: ends a task that has not ended, and returns it (spec §3.1.5). */
export function cancelTask(engine: TaskEngine): Operation<"cancelTask"> {
  return async ({ id, metadata }, context) =>
    showTask(await engine.cancel(callerOf(context), id, metadata, holderOf(context)), context, undefined);
}
