import { invalidParams } from "@a2a-connect/core";
import type { TaskPushNotificationConfig } from "@a2a-connect/proto";
import type { PushSender } from "../push/push-sender.ts";

/**
 * A config as it is stored: with an id, the caller's own or a new one (requirement A-51).
 *
 * @param path prefix of field names in errors
 * @throws ConnectError InvalidArgument when its url is none, or is not allowed
 */
export function acceptPushConfig(
  config: TaskPushNotificationConfig,
  push: PushSender,
  path = "",
): TaskPushNotificationConfig {
  const problem = isHttpUrl(config.url)
    ? push.refuseUrl(config.url)
    : "must be an absolute http or https URL";
  if (problem !== undefined) {
    throw invalidParams({ field: `${path}url`, description: problem });
  }
  return { ...config, id: config.id === "" ? crypto.randomUUID() : config.id };
}

function isHttpUrl(url: string): boolean {
  return URL.canParse(url) && ["http:", "https:"].includes(new URL(url).protocol);
}
