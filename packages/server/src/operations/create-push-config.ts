import { taskNotFound } from "../engine/task-not-found.ts";
import type { PushSender } from "../push/push-sender.ts";
import type { TaskStore } from "../store/task-store.ts";
import { callerOf, type Operation } from "./operation.ts";
import { acceptPushConfig, showPushConfig } from "./push-config.ts";

/** CreateTaskPushNotificationConfig: registers a webhook with a task, replacing one of the same id (spec §3.1.7). */
export function createPushConfig(
  store: TaskStore,
  push: PushSender | undefined,
): Operation<"createTaskPushNotificationConfig"> {
  return async (request, context) => {
    const config = acceptPushConfig(request, push);
    const { taskId, id } = config;
    const { owner, share } = callerOf(context);
    const release = await push?.reserve({ owner, taskId, id });
    try {
      if (!(await store.putPushConfig(owner, config))) {
        throw taskNotFound(taskId);
      }
    } finally {
      release?.();
    }
    push?.configChanged({ owner, taskId, id }, share);
    return showPushConfig(config, push);
  };
}
