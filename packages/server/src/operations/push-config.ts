import { isOlderConfig } from "@a2a-connect/bindings/server";
import { a2aError, invalidParams } from "@a2a-connect/core";
import { parseHttpUrl } from "@a2a-connect/core/internal";
import { type TaskPushNotificationConfig, TaskPushNotificationConfigSchema } from "@a2a-connect/proto";
import { toBinary } from "@bufbuild/protobuf";
import { weighMessage } from "../engine/memory-weight.ts";
import { taskNotFound } from "../engine/read-task.ts";
import type { TaskEngine } from "../engine/task-engine.ts";
import { findUnsendableField } from "../push/notification.ts";
import type { PushSender } from "../push/push-sender.ts";
import type { TaskStore } from "../store/task-store.ts";
import { answerCounterOf, callerOf, type Operation } from "./operation.ts";
import { formatPageToken, parsePageToken } from "./page-token.ts";

/** CreateTaskPushNotificationConfig: registers a webhook with a task, replacing one of the same id (spec §3.1.7). */
export function createPushConfig(
  engine: TaskEngine,
  push: PushSender | undefined,
): Operation<"createTaskPushNotificationConfig"> {
  return async (request, context) => {
    const config = acceptPushConfig(request, push);
    const { taskId, id } = config;
    const caller = callerOf(context);
    const { owner, share } = caller;
    const store = async () => {
      const release = await push?.reserve({ owner, taskId, id });
      try {
        if (!(await engine.putPushConfig(caller, config))) {
          throw taskNotFound(taskId);
        }
      } finally {
        release?.();
      }
    };
    await engine.inConfigTurn(caller, store, weighMessage(config));
    push?.configChanged({ owner, taskId, id }, share);
    return showPushConfig(config, push);
  };
}

/** GetTaskPushNotificationConfig: one webhook of a task (spec §3.1.8). */
export function getPushConfig(
  engine: TaskEngine,
  store: TaskStore,
  push: PushSender | undefined,
): Operation<"getTaskPushNotificationConfig"> {
  return async ({ taskId, id }, context) => {
    const caller = callerOf(context);
    const config = await engine.inConfigTurn(caller, () => store.findPushConfig(caller.owner, taskId, id));
    if (config === undefined) {
      throw taskNotFound(taskId);
    }
    return showPushConfig(config, push);
  };
}

const maxPageSize = 100;

/** ListTaskPushNotificationConfigs: the webhooks of a task by id, page by page (spec §3.1.9). */
export function listPushConfigs(
  engine: TaskEngine,
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
    const caller = callerOf(context);
    const { owner } = caller;
    const scope = [owner.tenant, owner.principal, taskId];
    const limit = pageSize === 0 ? maxPageSize : pageSize;
    const [last] = pageToken === "" ? [] : parsePageToken(pageToken, scope);
    const after = typeof last === "string" ? last : undefined;
    const found = await engine.inConfigTurn(caller, () =>
      // One more than the page needs, to know whether another page follows.
      store.listPushConfigs(owner, taskId, after, limit + 1),
    );
    if (found === undefined) {
      throw taskNotFound(taskId);
    }
    const configs = found.slice(0, limit);
    answerCounterOf(context)(weighMessage(configs));
    const end = configs.at(-1);
    const more = found.length > limit && end !== undefined;
    return {
      configs: configs.map((config) => showPushConfig(config, push)),
      nextPageToken: more ? formatPageToken([end.id], scope) : "",
    };
  };
}

/** DeleteTaskPushNotificationConfig: removes a webhook for good; a missing one is no error (spec §3.1.10). */
export function deletePushConfig(
  engine: TaskEngine,
  store: TaskStore,
  push: PushSender | undefined,
): Operation<"deleteTaskPushNotificationConfig"> {
  return async ({ taskId, id }, context) => {
    const caller = callerOf(context);
    const { owner, share } = caller;
    if (!(await engine.inConfigTurn(caller, () => store.deletePushConfig(owner, taskId, id, share)))) {
      throw taskNotFound(taskId);
    }
    push?.configChanged({ owner, taskId, id });
    return {};
  };
}

/**
 * A config in the form in which it is stored: with an id, the caller's own or a new one (requirement A-51). That of an older
 * caller may have none: then it gets the id of its task.
 *
 * @param push undefined when the agent sends no push notifications
 * @param path prefix of field names in errors
 * @throws ConnectError PUSH_NOTIFICATION_NOT_SUPPORTED; InvalidArgument when it is too large, or its url cannot be
 *   called or is not permitted
 */
export function acceptPushConfig(
  config: TaskPushNotificationConfig,
  push: PushSender | undefined,
  path = "",
): TaskPushNotificationConfig {
  if (push === undefined) {
    const what = path === "" ? "" : `: leave out ${path.slice(0, -1)}`;
    throw a2aError("PUSH_NOTIFICATION_NOT_SUPPORTED", `this agent sends no push notifications${what}`);
  }
  const { length } = toBinary(TaskPushNotificationConfigSchema, config);
  if (length > push.maxConfigBytes) {
    const description = `has ${length} bytes in protobuf, and the limit of a push config is ${push.maxConfigBytes}`;
    throw invalidParams({ field: path.slice(0, -1), description });
  }
  const problem = findUrlProblem(config.url) ?? push.refuseUrl(config.url);
  if (problem !== undefined) {
    throw invalidParams({ field: `${path}url`, description: problem });
  }
  const unsendable = findUnsendableField(config);
  if (unsendable !== undefined) {
    const description = "must be text that an HTTP header can carry: Latin-1 without control characters";
    throw invalidParams({ field: path + unsendable, description });
  }
  return { ...config, id: config.id === "" && !isOlderConfig(config) ? crypto.randomUUID() : config.id };
}

/** A config in the form for callers: without its secrets if the sender hides them (requirement N-9). */
function showPushConfig(
  config: TaskPushNotificationConfig,
  push: PushSender | undefined,
): TaskPushNotificationConfig {
  if (push?.redactCredentials !== true) {
    return config;
  }
  const { authentication, ...rest } = config;
  const shown =
    authentication === undefined ? {} : { authentication: { ...authentication, credentials: "" } };
  return { ...rest, ...shown, token: "" };
}

function findUrlProblem(text: string): string | undefined {
  const url = parseHttpUrl(text);
  if (url === undefined) {
    return "must be an absolute http or https URL, with a host of at most 255 characters";
  }
  return url.username === "" && url.password === ""
    ? undefined
    : "must have no user and no password: that is what authentication is for";
}
