import { taskNotFound } from "../engine/task-not-found.ts";
import type { PushSender } from "../push/push-sender.ts";
import type { TaskStore } from "../store/task-store.ts";
import { type Operation, ownerOf } from "./operation.ts";
import { acceptPushConfig } from "./push-config.ts";

/** CreateTaskPushNotificationConfig: register a webhook with a task, replacing one of the same id (spec §3.1.7). */
export function createPushConfig(
  store: TaskStore,
  push: PushSender,
): Operation<"createTaskPushNotificationConfig"> {
  return async (request, context) => {
    const config = acceptPushConfig(request, push);
    if (!(await store.putPushConfig(ownerOf(context), config))) {
      throw taskNotFound(request.taskId);
    }
    return config;
  };
}
