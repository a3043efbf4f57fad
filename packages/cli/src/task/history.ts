import type { AgentClient } from "@a2a-connect/client";
import { isTerminal } from "@a2a-connect/core";
import { formatMessage } from "@a2a-connect/core/internal";
import { StreamResponseSchema, type Task } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import type { CommandContext } from "../context.ts";
import { renderEvent, renderTask } from "../render/task.ts";
import { detach, followToEnd, pollingOf, stateOf } from "./following.ts";
import { taskDocument } from "./print.ts";

/**
 * Prints the events of a task from the first one to the last one there is, each with its number. In `json` one
 * StreamResponse a line under `--stream` (the n-th line is event n), else the Task with its whole history.
 *
 * Where the agent does not number its events there is no replay: the messages of the history stand in.
 *
 * @throws CliError TIMEOUT; whatever the client throws
 */
export async function printHistory(context: CommandContext, taskId: string): Promise<void> {
  const { output, signal } = context;
  const agent = await context.openAgent();
  const task = await agent.getTask(taskId, { signal });
  if (output.format === "json" && !output.streaming) {
    return await output.document(taskDocument(task));
  }
  if (!(await replay(context, agent, task))) {
    await output.note("the agent does not number its events: this is what was said");
    await printMessages(context, task);
  }
}

/** @returns whether there was something to replay */
async function replay(context: CommandContext, agent: AgentClient, task: Task): Promise<boolean> {
  const { output, signal, settings } = context;
  const last = isTerminal(stateOf(task))
    ? Number.POSITIVE_INFINITY
    : await findLastEvent(context, agent, task);
  if (last === undefined) {
    return false;
  }
  const stream = agent.follow(task.id, { signal, ...pollingOf(settings), after: 0, until: "terminal" });
  let numbered = true;
  const end = await followToEnd(context, stream, {
    taskId: task.id,
    onEvent: async (event) => {
      const number = stream.lastEventId;
      numbered = number !== undefined;
      if (numbered) {
        await output.field("Event", number);
        await output.document(formatMessage(StreamResponseSchema, event));
        await renderEvent(output, event);
      }
    },
    isEnd: async () => !numbered || (stream.lastEventId ?? 0) >= last,
  });
  if (end === "detached") {
    await detach(context, task, stream.lastEventId);
  }
  return numbered;
}

/** Number of the last event of a task that has not ended; undefined where events have none. */
async function findLastEvent(
  context: CommandContext,
  agent: AgentClient,
  { id: taskId }: Task,
): Promise<number | undefined> {
  const stream = agent.follow(taskId, { signal: context.signal, ...pollingOf(context.settings) });
  // The first message is the task with everything that has happened folded into it.
  await followToEnd(context, stream, { taskId, isEnd: async () => true });
  return stream.lastEventId;
}

async function printMessages({ output }: CommandContext, task: Task): Promise<void> {
  await output.document(
    formatMessage(
      StreamResponseSchema,
      create(StreamResponseSchema, { payload: { case: "task", value: task } }),
    ),
  );
  await renderTask(output, task, { history: true });
}
