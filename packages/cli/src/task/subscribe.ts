import type { AgentClient } from "@a2a-connect/client";
import { isInterrupted } from "@a2a-connect/core";
import { formatMessage } from "@a2a-connect/core/internal";
import {
  type StreamResponse,
  StreamResponseSchema,
  type TaskStatus,
  TaskStatusSchema,
} from "@a2a-connect/proto";
import { equals } from "@bufbuild/protobuf";
import type { CommandContext } from "../context.ts";
import { renderEvent } from "../render/task.ts";
import { type ExitStateOptions, exitByState } from "./exit-state.ts";
import { detach, followToEnd, notePolling, pollingOf, stateOf } from "./following.ts";
import { taskDocument } from "./print.ts";
import { reportTask } from "./report.ts";

/** The options that `task subscribe` has beside those of every command that talks to an agent. */
export interface SubscribeFlags extends ExitStateOptions {
  /** Number of the last event that is known; undefined: begin with the task as it is. */
  readonly after?: number;
  readonly until: "settled" | "terminal";
}

/**
 * Prints a task's events as they come: in `text` always, in `json` one a line under `--stream`, else only the task as it
 * is at the end.
 *
 * @throws CliError TIMEOUT; whatever the client throws
 */
export async function subscribeToTask(
  context: CommandContext,
  taskId: string,
  flags: SubscribeFlags,
): Promise<void> {
  const { output, signal, settings } = context;
  const agent = await context.openAgent();
  await notePolling(context, agent);
  const stream = agent.follow(taskId, {
    signal,
    ...pollingOf(settings),
    ...(flags.after === undefined ? {} : { after: flags.after }),
    until: "terminal", // a question of the past, among the events that are replayed, is no end
  });
  const end = await followToEnd(context, stream, {
    taskId,
    announce: output.format === "json" && !output.streaming,
    onEvent: async (event) => {
      if (output.streaming) {
        await output.document(formatMessage(StreamResponseSchema, event));
      }
      await renderEvent(output, event);
    },
    isEnd: async (event) =>
      flags.until === "settled" && (await isOpenQuestion(context, agent, taskId, event)),
  });
  if (end === "detached") {
    return await detach(context, stream.task ?? { id: taskId }, stream.lastEventId);
  }
  // Behind a cursor the stream's task is made of the later events alone.
  const task =
    flags.after === undefined && stream.task !== undefined
      ? stream.task
      : await agent.getTask(taskId, { signal });
  exitByState(context, flags, stateOf(task));
  if (!output.streaming) {
    await output.document(taskDocument(task));
  }
  await reportTask(context, task);
}

/** Whether an event is a question that is still the task's status: nobody has answered it since. */
async function isOpenQuestion(
  { signal }: CommandContext,
  agent: AgentClient,
  taskId: string,
  event: StreamResponse,
): Promise<boolean> {
  const asked = statusOf(event);
  if (asked === undefined || !isInterrupted(asked.state)) {
    return false;
  }
  const { status } = await agent.getTask(taskId, { signal, historyLength: 0 });
  return status !== undefined && equals(TaskStatusSchema, asked, status);
}

function statusOf({ payload }: StreamResponse): TaskStatus | undefined {
  return payload.case === "task" || payload.case === "statusUpdate" ? payload.value.status : undefined;
}
