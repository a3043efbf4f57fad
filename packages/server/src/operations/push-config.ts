import { a2aError, invalidParams } from "@a2a-connect/core";
import { type TaskPushNotificationConfig, TaskPushNotificationConfigSchema } from "@a2a-connect/proto";
import { toBinary } from "@bufbuild/protobuf";
import { findUnsendableField } from "../push/notification.ts";
import type { PushSender } from "../push/push-sender.ts";

/**
 * A config in the form in which it is stored: with an id, the caller's own or a new one (requirement A-51).
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
  const problem = findUrlProblem(config.url) ?? push.refuseUrl(config.url);
  if (problem !== undefined) {
    throw invalidParams({ field: `${path}url`, description: problem });
  }
  const { length } = toBinary(TaskPushNotificationConfigSchema, config);
  if (length > push.maxConfigBytes) {
    const description = `has ${length} bytes in protobuf, and the limit of a push config is ${push.maxConfigBytes}`;
    throw invalidParams({ field: path.slice(0, -1), description });
  }
  const unsendable = findUnsendableField(config);
  if (unsendable !== undefined) {
    const description = "must be text that an HTTP header can carry: Latin-1 without control characters";
    throw invalidParams({ field: path + unsendable, description });
  }
  return { ...config, id: config.id === "" ? crypto.randomUUID() : config.id };
}

/** A config in the form for callers: without its secrets if the sender hides them (requirement N-9). */
export function showPushConfig(
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
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    return "must be an absolute http or https URL";
  }
  return url.username === "" && url.password === ""
    ? undefined
    : "must have no user and no password: that is what authentication is for";
}
