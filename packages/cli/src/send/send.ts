import type { AgentClient, InputMessage, SendOptions } from "@a2a-connect/client";
import { findA2AError } from "@a2a-connect/core";
import { formatMessage, stateOf } from "@a2a-connect/core/internal";
import { type SendMessageResponse, SendMessageResponseSchema, type Task } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { defined } from "../json.ts";
import { orderParts, type PartOptions, readParts } from "../message-parts.ts";
import { EventPrinter } from "../render/event-printer.ts";
import { renderMessage, renderTask } from "../render/task-text.ts";
import { parseTime } from "../settings/values.ts";
import { detach, unanswered } from "../task/early-end.ts";
import { followingOf, followToEnd, notePolling } from "../task/following.ts";
import { type ExitStateOptions, exitByState, reportTask } from "../task/report.ts";

export interface SendFlags extends PartOptions, ExitStateOptions {
  readonly skill?: string;
  readonly priority?: NonNullable<SendOptions["priority"]>;
  readonly deadline?: string;
}

/** Sends a message, waits for what comes of it, and prints it: in `json` a SendMessageResponse, or the events that are streamed. */
export async function send(
  context: CommandContext,
  words: readonly string[],
  flags: SendFlags,
): Promise<void> {
  const { settings, io, output, signal } = context;
  if (settings.stream && settings.wait === false) {
    throw usageError(
      "--stream and --async contradict each other: one follows the task, the other does not wait for it",
      "use one of them; --wait overrides a configured --async",
    );
  }
  const { contextId, taskId, metadata } = settings;
  const parts = await readParts(orderParts(words, flags), io, signal);
  const input = { parts, ...defined({ contextId, taskId, metadata }) };
  const { skill, priority } = flags;
  const deadline = flags.deadline === undefined ? undefined : parseTime("deadline", flags.deadline, 1);
  const agent = await context.openAgent();
  const options = { signal, ...defined({ skill, priority, deadline }) };
  try {
    const carryOut = settings.wait === false ? sendAndLeave : sendAndFollow;
    const task = await carryOut(context, agent, input, options);
    if (task === undefined) return;
    await reportTask(context, task); // what to do next
    exitByState(context, flags, stateOf(task));
  } catch (error) {
    if (taskId !== undefined && findA2AError(error) !== undefined) {
      // a2a-cli §8.1
      await output.note(
        `the agent neither continued task ${taskId} nor began another one; --debug shows its answer`,
      );
    }
    throw error;
  }
}

/** `--async`: prints the task as it is when the message was taken. @returns the task, if that is what came */
async function sendAndLeave(
  context: CommandContext,
  agent: AgentClient,
  input: InputMessage,
  options: SendOptions,
): Promise<Task | undefined> {
  const sent = agent.sendMessage(input, { ...options, returnImmediately: true });
  const response = await sent.catch((error: unknown) => {
    throw context.signal.aborted ? unanswered(context) : error;
  });
  return await printResponse(context, response);
}

/** Follows the message, over a stream or by polls, to where its task has ended or waits. @returns the task, unless it is left to itself */
async function sendAndFollow(
  context: CommandContext,
  agent: AgentClient,
  input: InputMessage,
  options: SendOptions,
): Promise<Task | undefined> {
  const { output, settings } = context;
  if (settings.stream) await notePolling(context, agent);
  const stream = agent.stream(input, { ...options, ...followingOf(context), until: "settled" });
  const response = create(SendMessageResponseSchema);
  const printer = new EventPrinter(output);
  const end = await followToEnd(context, stream, {
    announce: !settings.stream,
    onEvent: async (event) => {
      if (event.payload.case === "message") response.payload = event.payload;
      if (settings.stream) await printer.print(event);
    },
  });
  await printer.end();
  const { task, lastEventId } = stream;
  if (task !== undefined) response.payload = { case: "task", value: task };
  if (end === "detached" && response.payload.case === undefined) throw unanswered(context);
  if (!settings.stream) await printResponse(context, response);
  if (end === "ended") return task;
  await detach(context, task, lastEventId);
  return undefined;
}

/** @returns the task, if that is what it prints */
async function printResponse(
  { output }: CommandContext,
  response: SendMessageResponse,
): Promise<Task | undefined> {
  const { payload } = response;
  if (payload.case === undefined) return undefined; // a stream without events has thrown
  await (payload.case === "task" ? renderTask(output, payload.value) : renderMessage(output, payload.value));
  await output.document(formatMessage(SendMessageResponseSchema, response));
  return payload.case === "task" ? payload.value : undefined;
}
