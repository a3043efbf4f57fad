import type { AgentClient, InputMessage, SendOptions } from "@a2a-connect/client";
import { findA2AError } from "@a2a-connect/core";
import { formatMessage } from "@a2a-connect/core/internal";
import {
  type Message,
  type SendMessageResponse,
  SendMessageResponseSchema,
  type Task,
} from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { defined } from "../json.ts";
import { readParts } from "../message-parts.ts";
import { orderParts, type PartOptions } from "../message-parts-flags.ts";
import { printEvent, renderMessage, renderTask } from "../render/task.ts";
import { detach, followToEnd, notePolling, pollingOf, stateOf, unanswered } from "../task/following.ts";
import { type ExitStateOptions, exitByState, reportTask } from "../task/report.ts";

/** The options that `send` has beside those of every command that talks to an agent. */
export interface SendFlags extends PartOptions, ExitStateOptions {
  readonly skill?: string;
}

/** One send, connected. */
interface Sending {
  readonly context: CommandContext;
  readonly agent: AgentClient;
  readonly input: InputMessage;
  readonly options: SendOptions;
  readonly flags: SendFlags;
}

/**
 * Sends a message, waits for what comes of it as the settings say, and prints it: in `json` a SendMessageResponse, or
 * the events where they are streamed.
 *
 * @throws CliError USAGE, TIMEOUT; whatever the client throws
 */
export async function send(
  context: CommandContext,
  words: readonly string[],
  flags: SendFlags,
): Promise<void> {
  const { settings, io, output, signal } = context;
  if (settings.stream && !settings.wait) {
    throw usageError(
      "--stream follows the task and --async does not wait for it",
      "leave one of them out; --wait overrides a configured --async",
    );
  }
  const { contextId, taskId, metadata } = settings;
  const parts = await readParts(orderParts(words, flags), io, signal);
  const input = { parts, ...defined({ contextId, taskId, metadata }) };
  const agent = await context.openAgent();
  const options = { signal, ...defined({ skill: flags.skill }) };
  const sending: Sending = { context, agent, input, options, flags };
  try {
    await (settings.wait ? sendAndFollow(sending) : sendAndLeave(sending));
  } catch (error) {
    if (taskId !== undefined && findA2AError(error) !== undefined) {
      // a2a-cli §8.1
      await output.note(`task ${taskId} was not continued, and no other was begun; see --debug`);
    }
    throw error;
  }
}

/** `--async`: the task as it is when the message was taken. */
async function sendAndLeave({ context, agent, input, options, flags }: Sending): Promise<void> {
  const sent = agent.sendMessage(input, { ...options, returnImmediately: true });
  const response = await sent.catch((error: unknown) => {
    throw context.signal.aborted ? unanswered(context) : error;
  });
  await printResponse(context, response);
  await conclude(context, response, flags);
}

/** Follows what comes of the message, over a stream or by polls, to where the task has ended or waits. */
async function sendAndFollow({ context, agent, input, options, flags }: Sending): Promise<void> {
  const { output, settings } = context;
  if (settings.stream) await notePolling(context, agent);
  const stream = agent.stream(input, { ...options, ...pollingOf(settings), until: "settled" });
  let reply: Message | undefined;
  const end = await followToEnd(context, stream, {
    announce: !settings.stream,
    onEvent: async (event) => {
      if (event.payload.case === "message") reply = event.payload.value;
      if (settings.stream) await printEvent(output, event);
    },
  });
  const response = toResponse(stream.task, reply);
  if (end === "detached" && response.payload.case === undefined) throw unanswered(context);
  if (!settings.stream) await printResponse(context, response);
  await (end === "ended"
    ? conclude(context, response, flags)
    : detach(context, stream.task, stream.lastEventId));
}

function toResponse(task: Task | undefined, message: Message | undefined): SendMessageResponse {
  const response = create(SendMessageResponseSchema);
  if (task !== undefined) {
    response.payload = { case: "task", value: task };
  } else if (message !== undefined) {
    response.payload = { case: "message", value: message };
  }
  return response;
}

async function printResponse({ output }: CommandContext, response: SendMessageResponse): Promise<void> {
  switch (response.payload.case) {
    case "task":
      await renderTask(output, response.payload.value);
      break;
    case "message":
      await renderMessage(output, response.payload.value);
      break;
    case undefined:
      return; // a stream without events has thrown
  }
  await output.document(formatMessage(SendMessageResponseSchema, response));
}

/** What to do next, and the exit status. */
async function conclude(
  context: CommandContext,
  { payload }: SendMessageResponse,
  flags: SendFlags,
): Promise<void> {
  if (payload.case === "task") {
    await reportTask(context, payload.value);
    exitByState(context, flags, stateOf(payload.value));
  }
}
