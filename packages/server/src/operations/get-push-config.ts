import { taskNotFound } from "../engine/task-not-found.ts";
import type { PushSender } from "../push/push-sender.ts";
import type { TaskStore } from "../store/task-store.ts";
import { type Operation, ownerOf } from "./operation.ts";
import { showPushConfig } from "./push-config.ts";

/** GetTaskPushNotificationConfig: one webhook of a task (spec §3.1.8). */
export function getPushConfig(
  store: TaskStore,
  push: PushSender | undefined,
): Operation<"getTaskPushNotificationConfig"> {
  return async ({ taskId, id }, context) => {
    const config = await store.findPushConfig(ownerOf(context), taskId, id);
    if (config === undefined) {
      throw taskNotFound(taskId);
    }
    return showPushConfig(config, push);
  };
}
