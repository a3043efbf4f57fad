import { taskNotFound } from "../engine/task-not-found.ts";
import type { PushSender } from "../push/push-sender.ts";
import type { TaskStore } from "../store/task-store.ts";
import { type Operation, ownerOf } from "./operation.ts";

/** DeleteTaskPushNotificationConfig: removes a webhook for good; a missing one is no error (spec §3.1.10). */
export function deletePushConfig(
  store: TaskStore,
  push: PushSender | undefined,
): Operation<"deleteTaskPushNotificationConfig"> {
  return async ({ taskId, id }, context) => {
    const owner = ownerOf(context);
    if (!(await store.deletePushConfig(owner, taskId, id))) {
      throw taskNotFound(taskId);
    }
    push?.configChanged({ owner, taskId, id });
    return {};
  };
}
