import type { AgentClient } from "@a2a-connect/client";
import type { PushConfigInput, PushDelivery } from "@a2a-connect/client/internal";
import { isTerminal } from "@a2a-connect/core";
import { formatMessage } from "@a2a-connect/core/internal";
import { createPushReceiver } from "@a2a-connect/node/client";
import { StreamResponseSchema } from "@a2a-connect/proto";
import { CliError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import type { Output } from "../output.ts";
import { renderEvent } from "../render/task.ts";
import { explainListenFailure } from "../serve/listen-failure.ts";
import { stateOf } from "./following.ts";
import { commandLine } from "./hints.ts";

/** The options that `task push-config listen` has beside those of every command that talks to an agent. */
export interface ListenFlags {
  readonly port?: number;
  readonly host?: string;
  /** Where the agent reaches the receiver, when that is not where it listens. */
  readonly publicUrl?: string;
}

/**
 * Prints what is delivered to a webhook on this machine, until a Ctrl-C. With a task the webhook is registered for it,
 * deleted at the end, and the end of the task is the end, too.
 *
 * @throws CliError USAGE for `-o json` without `--stream`, TIMEOUT; whatever the client throws
 */
export async function listenForPush(
  context: CommandContext,
  taskId: string | undefined,
  flags: ListenFlags,
): Promise<void> {
  const { output, signal, io } = context;
  if (output.format === "json" && !output.streaming) {
    throw new CliError("A2ACLI_ERR_USAGE", "deliveries are many, and -o json is one document", {
      hint: "add --stream: one line each",
    });
  }
  if (flags.publicUrl !== undefined && !/^https?:\/\//i.test(flags.publicUrl)) {
    throw new CliError("A2ACLI_ERR_USAGE", `--public-url ${flags.publicUrl} is no http or https URL`);
  }
  const agent = taskId === undefined ? undefined : await context.openAgent();
  await using receiver = await createPushReceiver(flags).catch((error: unknown) => {
    throw explainListenFailure(error, flags.port);
  });
  using subscription = receiver.open();
  signal.addEventListener("abort", () => subscription[Symbol.dispose](), { once: true });
  signal.throwIfAborted();
  await announce(output, subscription.config, taskId);
  await using _registration =
    agent === undefined || taskId === undefined
      ? undefined
      : await register(context, agent, taskId, subscription.config);
  for await (const delivery of subscription.deliveries) {
    await printDelivery(output, delivery);
    if (taskId !== undefined && isEnd(delivery)) {
      return;
    }
  }
  if (!io.interrupted.aborted) {
    signal.throwIfAborted(); // --timeout
  }
  context.exitWith(0); // a Ctrl-C is how this ends
}

/** Where the receiver is: what somebody else needs in order to register it. */
async function announce(
  output: Output,
  { url, token }: PushConfigInput,
  taskId: string | undefined,
): Promise<void> {
  await output.note(`listening at ${url}; Ctrl-C ends`);
  if (taskId === undefined && token !== undefined) {
    await output.note(`to register it: a2a task push-config create TASK --url ${url} --token ${token}`);
  }
}

/** Registers the webhook, for as long as it is held. */
async function register(
  { output, settings, signal }: CommandContext,
  agent: AgentClient,
  taskId: string,
  input: PushConfigInput,
): Promise<AsyncDisposable> {
  const { id } = await agent.createPushConfig(taskId, input, { signal });
  await output.note(`registered for task ${taskId} as ${id}`);
  return {
    async [Symbol.asyncDispose]() {
      try {
        await agent.deletePushConfig(taskId, id);
      } catch {
        const command = commandLine(settings, ["task", "push-config", "delete"], [taskId, id]);
        await output.warn(`the webhook is still registered: ${command}`);
      }
    },
  };
}

async function printDelivery(output: Output, { response, eventId }: PushDelivery): Promise<void> {
  await output.field("Event", eventId);
  await output.document(formatMessage(StreamResponseSchema, response));
  await renderEvent(output, response);
}

function isEnd({ response: { payload } }: PushDelivery): boolean {
  return (payload.case === "task" || payload.case === "statusUpdate") && isTerminal(stateOf(payload.value));
}
