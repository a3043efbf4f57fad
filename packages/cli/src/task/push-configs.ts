import type { AgentClient } from "@a2a-connect/client";
import type { PushConfigInput } from "@a2a-connect/client/internal";
import { a2aError } from "@a2a-connect/core";
import { formatMessage } from "@a2a-connect/core/internal";
import {
  ListTaskPushNotificationConfigsResponseSchema,
  type TaskPushNotificationConfig,
  TaskPushNotificationConfigSchema,
} from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { CliError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";

/** The options that `task push-config create` has beside those of every command that talks to an agent. */
export interface CreatePushConfigFlags {
  readonly url: string;
  readonly id?: string;
  readonly token?: string;
  readonly authScheme?: string;
  readonly authCredentials?: string;
}

/** Registers a webhook and prints it. */
export async function createPushConfig(
  context: CommandContext,
  taskId: string,
  flags: CreatePushConfigFlags,
): Promise<void> {
  const input = toInput(flags);
  const agent = await openPushingAgent(context);
  await printConfig(context, await agent.createPushConfig(taskId, input, { signal: context.signal }));
}

/** Prints a webhook. */
export async function getPushConfig(context: CommandContext, taskId: string, id: string): Promise<void> {
  const agent = await openPushingAgent(context);
  await printConfig(context, await agent.getPushConfig(taskId, id, { signal: context.signal }));
}

/** Prints all webhooks of a task: in `json` one ListTaskPushNotificationConfigsResponse, or a line each. */
export async function listPushConfigs(context: CommandContext, taskId: string): Promise<void> {
  const { output, signal } = context;
  const agent = await openPushingAgent(context);
  const configs: TaskPushNotificationConfig[] = [];
  for await (const config of agent.listPushConfigs(taskId, { signal })) {
    if (output.format === "text" || output.streaming) {
      await printConfig(context, config);
    }
    configs.push(config);
  }
  if (!output.streaming) {
    const response = create(ListTaskPushNotificationConfigsResponseSchema, { configs });
    await output.document(formatMessage(ListTaskPushNotificationConfigsResponseSchema, response));
  }
  await output.field("Total", configs.length);
}

/** Deletes a webhook. In `json` the answer is the protocol's: an empty object. */
export async function deletePushConfig(context: CommandContext, taskId: string, id: string): Promise<void> {
  const { output, signal } = context;
  const agent = await openPushingAgent(context);
  await agent.deletePushConfig(taskId, id, { signal });
  await output.document({});
  await output.field("Deleted", id);
  await output.field("Task", taskId);
}

/**
 * Connects to the agent, if its card says that it sends notifications (a2a-cli §13.3).
 *
 * @throws ConnectError PUSH_NOTIFICATION_NOT_SUPPORTED
 */
export async function openPushingAgent(context: CommandContext): Promise<AgentClient> {
  const agent = await context.openAgent();
  if (agent.card.capabilities?.pushNotifications !== true) {
    throw a2aError(
      "PUSH_NOTIFICATION_NOT_SUPPORTED",
      "the agent's card does not declare push notifications; follow its tasks with a2a task subscribe",
    );
  }
  return agent;
}

function toInput({ url, id, token, authScheme, authCredentials }: CreatePushConfigFlags): PushConfigInput {
  if (!URL.canParse(url)) {
    throw new CliError("A2ACLI_ERR_USAGE", `--url ${url} is no URL`, { hint: "https://example.com/hook" });
  }
  if (authScheme === undefined && authCredentials !== undefined) {
    throw new CliError("A2ACLI_ERR_USAGE", "--auth-credentials needs --auth-scheme");
  }
  const credentials = authCredentials === undefined ? {} : { credentials: authCredentials };
  return {
    url,
    ...(id === undefined ? {} : { id }),
    ...(token === undefined ? {} : { token }),
    ...(authScheme === undefined ? {} : { authentication: { scheme: authScheme, ...credentials } }),
  };
}

/** What is secret in it stays so in `text`; `json` is the protocol's own message. */
async function printConfig({ output }: CommandContext, config: TaskPushNotificationConfig): Promise<void> {
  const { id, taskId, url, token, authentication } = config;
  await output.document(formatMessage(TaskPushNotificationConfigSchema, config));
  await output.field("Config", id);
  await output.field("Task", taskId);
  await output.field("URL", url);
  await output.field("Token", token === "" ? undefined : "set");
  await output.field("Authentication", authentication?.scheme);
}
