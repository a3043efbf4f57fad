import type { AgentClient } from "@a2a-connect/client";
import { findA2AError, formatTaskState, isInterrupted, isSettled, isTerminal } from "@a2a-connect/core";
import { formatMessage, stateOf, statusOfEvent } from "@a2a-connect/core/internal";
import {
  type StreamResponse,
  StreamResponseSchema,
  type Task,
  TaskSchema,
  TaskState,
  TaskStatusSchema,
} from "@a2a-connect/proto";
import { create, equals } from "@bufbuild/protobuf";
import type { CommandContext } from "../context.ts";
import { defined } from "../json.ts";
import { EventPrinter } from "../render/event-printer.ts";
import { renderTask } from "../render/task-text.ts";
import { detach } from "./early-end.ts";
import { followingOf, followToEnd, notePolling } from "./following.ts";
import { type ExitStateOptions, exitByState, printTask, reportTask } from "./report.ts";

interface GetTaskFlags extends ExitStateOptions {
  /** Messages, at most; undefined: as many as the agent gives. */
  readonly history?: number;
}

/** Prints a task as it is, or with `--wait` as it is when it has ended or waits for an answer. */
export async function getTask(context: CommandContext, taskId: string, flags: GetTaskFlags): Promise<void> {
  const agent = await context.openAgent();
  const options = { signal: context.signal, ...defined({ historyLength: flags.history }) };
  const found = await agent.getTask(taskId, options);
  if (context.settings.wait !== true || isSettled(stateOf(found))) {
    return await showTask(context, found, flags);
  }
  const stream = agent.follow(taskId, { ...followingOf(context), until: "settled" });
  if ((await followToEnd(context, stream, { taskId, announce: true })) === "detached") {
    const left = stream.task ?? found;
    await printTask(context, left);
    return await detach(context, left, stream.lastEventId);
  }
  await showTask(context, await agent.getTask(taskId, options), flags); // with the history that was asked for
}

async function showTask(context: CommandContext, task: Task, flags: GetTaskFlags): Promise<void> {
  exitByState(context, flags, stateOf(task));
  await printTask(context, task, flags.history === undefined ? undefined : true);
  await reportTask(context, task);
}

/** Cancels a task and prints it. One that is canceled already is no error, so that a repeat does no harm. */
export async function cancelTask(
  context: CommandContext,
  taskId: string,
  flags: ExitStateOptions,
): Promise<void> {
  const { settings, signal, output } = context;
  const agent = await context.openAgent();
  const canceling = agent.cancelTask(taskId, { signal, ...defined({ metadata: settings.metadata }) });
  const task = await canceling.catch(async (error: unknown) => {
    if (findA2AError(error)?.reason !== "TASK_NOT_CANCELABLE") throw error;
    const found = await agent.getTask(taskId, { signal });
    if (stateOf(found) === TaskState.CANCELED) return found;
    await output.note(`task ${found.id} (context ${found.contextId}) is ${formatTaskState(stateOf(found))}`);
    throw error;
  });
  await showTask(context, task, flags);
}

interface SubscribeFlags extends ExitStateOptions {
  /** Number of the last event that is known; undefined: begin with the task as it is. */
  readonly after?: number;
  readonly until: "settled" | "terminal";
}

/** Prints a task's events as they come: in `text` always, in `json` one a line under `--stream`, else only the task at the end. */
export async function subscribeToTask(
  context: CommandContext,
  taskId: string,
  flags: SubscribeFlags,
): Promise<void> {
  const { output, signal } = context;
  const agent = await context.openAgent();
  await notePolling(context, agent);
  const stream = agent.follow(taskId, {
    ...followingOf(context),
    ...defined({ after: flags.after }),
    until: "terminal", // a question of the past, among the events that are replayed, is no end
  });
  const printer = new EventPrinter(output);
  const end = await followToEnd(context, stream, {
    taskId,
    announce: output.format === "json" && !output.streaming,
    onEvent: (event) => printer.print(event),
    isEnd: async (event) =>
      flags.until === "settled" && (await isOpenQuestion(context, agent, taskId, event)),
  });
  await printer.end();
  if (end === "detached") return await detach(context, stream.task ?? { id: taskId }, stream.lastEventId);
  // Behind a cursor the stream's task is made of the later events alone.
  const task =
    flags.after === undefined && stream.task !== undefined
      ? stream.task
      : await agent.getTask(taskId, { signal });
  exitByState(context, flags, stateOf(task));
  if (!output.streaming) await output.document(formatMessage(TaskSchema, task));
  await reportTask(context, task);
}

/** Whether an event is a question that is still the task's status: it has no answer yet. */
async function isOpenQuestion(
  { signal }: CommandContext,
  agent: AgentClient,
  taskId: string,
  event: StreamResponse,
): Promise<boolean> {
  const asked = statusOfEvent(event);
  if (asked === undefined || !isInterrupted(asked.state)) return false;
  const { status } = await agent.getTask(taskId, { signal, historyLength: 0 });
  return status !== undefined && equals(TaskStatusSchema, asked, status);
}

/**
 * Prints the events of a task from the first one to the last one there is, each with its number. In `json` one
 * StreamResponse a line under `--stream` (the n-th line is event n), else the Task with its whole history.
 *
 * Where the agent does not number its events there is no replay: the messages of the history stand in.
 */
export async function printHistory(context: CommandContext, taskId: string): Promise<void> {
  const { output, signal } = context;
  const agent = await context.openAgent();
  const task = await agent.getTask(taskId, { signal });
  if (output.format === "json" && !output.streaming) {
    return await output.document(formatMessage(TaskSchema, task));
  }
  if (!(await replay(context, agent, task))) {
    await output.note("the agent does not number its events; these are the task's messages");
    const said = create(StreamResponseSchema, { payload: { case: "task", value: task } });
    await output.event(formatMessage(StreamResponseSchema, said));
    await renderTask(output, task, true);
  }
}

async function replay(context: CommandContext, agent: AgentClient, task: Task): Promise<boolean> {
  const { output } = context;
  const last = isTerminal(stateOf(task))
    ? Number.POSITIVE_INFINITY
    : await findLastEvent(context, agent, task);
  if (last === undefined) return false;
  const stream = agent.follow(task.id, { ...followingOf(context), after: 0, until: "terminal" });
  let numbered = true;
  const printer = new EventPrinter(output);
  const end = await followToEnd(context, stream, {
    taskId: task.id,
    onEvent: async (event) => {
      const number = stream.lastEventId;
      numbered = number !== undefined;
      if (numbered) {
        await printer.end();
        await output.field("Event", number);
        await printer.print(event);
      }
    },
    isEnd: async () => !numbered || (stream.lastEventId ?? 0) >= last,
  });
  await printer.end();
  if (end === "detached") await detach(context, task, stream.lastEventId);
  return numbered;
}

/** Number of the last event of a task that has not ended; undefined where events have none. */
async function findLastEvent(
  context: CommandContext,
  agent: AgentClient,
  { id: taskId }: Task,
): Promise<number | undefined> {
  const stream = agent.follow(taskId, followingOf(context));
  // The first message is the task with everything that has happened folded into it.
  await followToEnd(context, stream, { taskId, isEnd: async () => true });
  return stream.lastEventId;
}
