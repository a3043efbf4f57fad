import { invalidParams } from "@a2a-connect/core";
import type { SendMessageRequest, TaskPushNotificationConfig } from "@a2a-connect/proto";
import type { HandlerContext } from "@connectrpc/connect";
import type { SendInput } from "../engine/task-engine.ts";
import type { PushSender } from "../push/push-sender.ts";
import { assertHistoryLength } from "./history-length.ts";
import { extensionsOf, ownerOf, speaksDraft } from "./operation.ts";
import { acceptPushConfig } from "./push-config.ts";

/** What both sends hand to the engine. @throws ConnectError for a push config that cannot be kept */
export function toSendInput(
  { message, configuration, metadata }: SendMessageRequest,
  context: HandlerContext,
  push: PushSender | undefined,
): SendInput {
  if (message === undefined) {
    throw invalidParams({ field: "message", description: "is required" });
  }
  assertHistoryLength("configuration.historyLength", configuration?.historyLength);
  return {
    owner: ownerOf(context),
    message,
    metadata,
    acceptedOutputModes: configuration?.acceptedOutputModes ?? [],
    extensions: extensionsOf(context),
    pushConfigs: inlineConfigs(configuration?.taskPushNotificationConfig, push),
    ifGenerationMatch: speaksDraft(context) ? configuration?.ifGenerationMatch : undefined,
  };
}

function inlineConfigs(
  config: TaskPushNotificationConfig | undefined,
  push: PushSender | undefined,
): readonly TaskPushNotificationConfig[] {
  if (config === undefined) {
    return [];
  }
  const field = "configuration.taskPushNotificationConfig";
  const accepted = acceptPushConfig(config, push, `${field}.`);
  if (config.taskId !== "") {
    throw invalidParams({
      field: `${field}.taskId`,
      description: "must be empty: the config is for the task of this message",
    });
  }
  return [accepted];
}
