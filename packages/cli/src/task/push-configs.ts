import type { AgentClient } from "@a2a-connect/client";
import { a2aError, isTerminal } from "@a2a-connect/core";
import { formatMessage, stateOf, statusOfEvent } from "@a2a-connect/core/internal";
import { createPushReceiver } from "@a2a-connect/node/client";
import {
  ListTaskPushNotificationConfigsResponseSchema,
  type TaskPushNotificationConfig,
  TaskPushNotificationConfigSchema,
} from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { usageError } from "../cli-error.ts";
import { commandLine } from "../commands-to-copy.ts";
import type { CommandContext } from "../context.ts";
import { defined } from "../json.ts";
import { EventPrinter } from "../render/event-printer.ts";
import { explainStart } from "../serve/run-server.ts";
import type { ServeFlags } from "../serve/serve-file.ts";
import { Listing } from "./listing.ts";

interface CreatePushConfigFlags {
  readonly url: string;
  readonly id?: string;
  readonly token?: string;
  readonly authScheme?: string;
  readonly authCredentials?: string;
}

export async function createPushConfig(
  context: CommandContext,
  taskId: string,
  { url, id, token, authScheme: scheme, authCredentials: credentials }: CreatePushConfigFlags,
): Promise<void> {
  if (!URL.canParse(url)) throw usageError(`--url ${url} is not a URL`, "https://example.com/hook");
  if (scheme === undefined && credentials !== undefined) {
    throw usageError("--auth-credentials needs --auth-scheme");
  }
  const authentication = scheme === undefined ? undefined : { scheme, ...defined({ credentials }) };
  const input = { url, ...defined({ id, token, authentication }) };
  const agent = await openPushingAgent(context);
  await printConfig(context, await agent.createPushConfig(taskId, input, { signal: context.signal }));
}

export async function getPushConfig(context: CommandContext, taskId: string, id: string): Promise<void> {
  const agent = await openPushingAgent(context);
  await printConfig(context, await agent.getPushConfig(taskId, id, { signal: context.signal }));
}

/** Prints all webhooks of a task: in `json` one ListTaskPushNotificationConfigsResponse, or a line each. */
export async function listPushConfigs(context: CommandContext, taskId: string): Promise<void> {
  const { output, signal } = context;
  const agent = await openPushingAgent(context);
  const hint = "--stream prints each webhook on a line of its own as it comes";
  const listing = new Listing<TaskPushNotificationConfig>(output, { name: "webhooks", hint });
  for await (const page of agent.listPushConfigs(taskId, { signal }).pages()) {
    if (output.format === "text" || output.streaming) {
      for (const config of page) await printConfig(context, config);
    }
    await listing.add(page);
  }
  if (!output.streaming) {
    const response = create(ListTaskPushNotificationConfigsResponseSchema, { configs: listing.kept });
    await output.document(formatMessage(ListTaskPushNotificationConfigsResponseSchema, response));
  }
  await output.field("Total", listing.count);
}

/** Deletes a webhook. In `json` the answer is the protocol's: an empty object. */
export async function deletePushConfig(context: CommandContext, taskId: string, id: string): Promise<void> {
  const { output, signal } = context;
  const agent = await openPushingAgent(context);
  await agent.deletePushConfig(taskId, id, { signal });
  await output.document({});
  await output.fields({ Deleted: id, Task: taskId });
}

/** Connects to the agent, if its card says that it sends notifications (a2a-cli §13.3). */
async function openPushingAgent(context: CommandContext): Promise<AgentClient> {
  const agent = await context.openAgent();
  if (agent.card.capabilities?.pushNotifications !== true) {
    throw a2aError(
      "PUSH_NOTIFICATION_NOT_SUPPORTED",
      "the agent's card does not declare push notifications; follow its tasks with a2a task subscribe",
    );
  }
  return agent;
}

/** What is secret in it stays so in `text`; `json` is the protocol's own message. */
async function printConfig({ output }: CommandContext, config: TaskPushNotificationConfig): Promise<void> {
  const { id, taskId, url, token, authentication } = config;
  await output.document(formatMessage(TaskPushNotificationConfigSchema, config));
  await output.fields({
    Config: id,
    Task: taskId,
    URL: url,
    Token: token && "set",
    Authentication: authentication?.scheme,
  });
}

/**
 * Prints what is delivered to a webhook on this machine, until a Ctrl-C. With a task the webhook is registered for it,
 * deleted at the end, and the end of the task is the end, too.
 */
export async function listenForPush(
  context: CommandContext,
  taskId: string | undefined,
  flags: Pick<ServeFlags, "port" | "host" | "publicUrl">,
): Promise<void> {
  const { output, signal, io } = context;
  if (output.format === "json" && !output.streaming) {
    throw usageError(
      "listen prints many deliveries, and -o json is one document",
      "add --stream for one line each",
    );
  }
  if (flags.publicUrl !== undefined && !/^https?:\/\//i.test(flags.publicUrl)) {
    throw usageError(`--public-url ${flags.publicUrl} is not an http or https URL`);
  }
  const agent = taskId === undefined ? undefined : await context.openAgent();
  await using receiver = await createPushReceiver(flags).catch((error: unknown) => {
    throw explainStart(error, flags.port);
  });
  using subscription = receiver.open();
  signal.addEventListener("abort", () => subscription[Symbol.dispose](), { once: true });
  signal.throwIfAborted();
  const { config } = subscription;
  await output.note(`listening at ${config.url}; Ctrl-C ends`);
  if (taskId === undefined && config.token !== undefined) {
    const command = `a2a task push-config create TASK --url ${config.url} --token ${config.token}`;
    await output.note(`to register it: ${command}`);
  }
  await using _registered =
    taskId === undefined || agent === undefined
      ? undefined
      : await registerFor(context, taskId, agent, config);
  const printer = new EventPrinter(output);
  for await (const delivery of subscription.deliveries) {
    await output.field("Event", delivery.eventId);
    await printer.print(delivery.response);
    await printer.end();
    if (taskId !== undefined && isTerminal(stateOf({ status: statusOfEvent(delivery.response) }))) return;
  }
  if (!io.interrupted.aborted) {
    signal.throwIfAborted(); // --timeout
  }
  context.exitWith(0); // a Ctrl-C is how this ends
}

async function registerFor(
  { output, settings, signal }: CommandContext,
  taskId: string,
  agent: AgentClient,
  config: Parameters<AgentClient["createPushConfig"]>[1],
): Promise<AsyncDisposable> {
  const { id } = await agent.createPushConfig(taskId, config, { signal });
  await output.note(`registered for task ${taskId} as ${id}`);
  return {
    async [Symbol.asyncDispose]() {
      const command = commandLine(settings, ["task", "push-config", "delete"], [taskId, id]);
      await agent
        .deletePushConfig(taskId, id)
        .catch(() => output.warn(`the webhook is still registered: ${command}`));
    },
  };
}
