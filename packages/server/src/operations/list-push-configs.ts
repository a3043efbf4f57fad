import { invalidParams } from "@a2a-connect/core";
import { taskNotFound } from "../engine/task-not-found.ts";
import type { PushSender } from "../push/push-sender.ts";
import type { TaskStore } from "../store/task-store.ts";
import { type Operation, ownerOf } from "./operation.ts";
import { formatPageToken, parsePageToken } from "./page-token.ts";
import { showPushConfig } from "./push-config.ts";

const maxPageSize = 100;

/** ListTaskPushNotificationConfigs: the webhooks of a task by id, page by page (spec §3.1.9). */
export function listPushConfigs(
  store: TaskStore,
  push: PushSender | undefined,
): Operation<"listTaskPushNotificationConfigs"> {
  return async ({ taskId, pageSize, pageToken }, context) => {
    if (pageSize < 0 || pageSize > maxPageSize) {
      throw invalidParams({
        field: "pageSize",
        description: `must be from 1 to ${maxPageSize}, but is ${pageSize}`,
      });
    }
    const owner = ownerOf(context);
    const scope = [owner.tenant, owner.principal, taskId];
    const limit = pageSize === 0 ? maxPageSize : pageSize;
    const [after] = pageToken === "" ? [] : parsePageToken(pageToken, scope);
    // One more than the page needs, to know whether another page follows.
    const found = await store.listPushConfigs(
      owner,
      taskId,
      typeof after === "string" ? after : undefined,
      limit + 1,
    );
    if (found === undefined) {
      throw taskNotFound(taskId);
    }
    const configs = found.slice(0, limit);
    const last = configs.at(-1);
    const more = found.length > limit && last !== undefined;
    return {
      configs: configs.map((config) => showPushConfig(config, push)),
      nextPageToken: more ? formatPageToken([last.id], scope) : "",
    };
  };
}
