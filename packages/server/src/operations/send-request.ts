import { invalidParams } from "@a2a-connect/core";
import type { SendMessageRequest, TaskPushNotificationConfig } from "@a2a-connect/proto";
import type { HandlerContext } from "@connectrpc/connect";
import type { SendInput } from "../engine/sends.ts";
import { skillGuardKey } from "../gates/auth-gate.ts";
import type { PushSender } from "../push/push-sender.ts";
import { callerOf, credentialsOf, extensionsOf, speaksDraft } from "./operation.ts";
import { acceptPushConfig } from "./push-config.ts";
import { assertHistoryLength } from "./show-task.ts";

/**
 * The engine's input for both kinds of send. @throws ConnectError for a push config that cannot be stored
 */
export function toSendInput(
  { message, configuration, metadata }: SendMessageRequest,
  context: HandlerContext,
  push: PushSender | undefined,
): SendInput {
  if (message === undefined) {
    throw invalidParams({ field: "message", description: "is required" });
  }
  assertHistoryLength("configuration.historyLength", configuration?.historyLength);
  const caller = callerOf(context);
  const { owner, share } = caller;
  const config = acceptInlineConfig(configuration?.taskPushNotificationConfig, push);
  return {
    ...caller,
    message,
    metadata,
    acceptedOutputModes: configuration?.acceptedOutputModes ?? [],
    extensions: extensionsOf(context),
    caller: credentialsOf(context),
    assertSkill: context.values.get(skillGuardKey),
    pushConfigs: config === undefined ? [] : [config],
    onRegister:
      config && push && ((taskId) => push.noteCaller({ owner, taskId, id: config.id || taskId }, share)),
    reserveConfigs:
      config &&
      push &&
      (() => push.reserve({ owner, taskId: message.taskId, id: config.id || message.taskId })),
    ifGenerationMatch: speaksDraft(context) ? configuration?.ifGenerationMatch : undefined,
  };
}

function acceptInlineConfig(
  config: TaskPushNotificationConfig | undefined,
  push: PushSender | undefined,
): TaskPushNotificationConfig | undefined {
  if (config === undefined) {
    return undefined;
  }
  const field = "configuration.taskPushNotificationConfig";
  const accepted = acceptPushConfig(config, push, `${field}.`);
  if (config.taskId !== "") {
    throw invalidParams({
      field: `${field}.taskId`,
      description: "must be empty: the config is for the task of this message",
    });
  }
  return accepted;
}
