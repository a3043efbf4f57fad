import type { TaskEngine } from "../engine/task-engine.ts";
import { assertHistoryLength, withHistoryLength } from "./history-length.ts";
import { type Operation, ownerOf } from "./operation.ts";

/** GetTask: status, artifacts and history of one task (spec §3.1.3). */
export function getTask(engine: TaskEngine): Operation<"getTask"> {
  return async ({ id, historyLength }, context) => {
    assertHistoryLength("historyLength", historyLength);
    return withHistoryLength(await engine.get(ownerOf(context), id), historyLength);
  };
}
