import type { AgentClient } from "@a2a-connect/client";
import { findA2AError, formatTaskState } from "@a2a-connect/core";
import { type Task, TaskState } from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import type { CommandContext } from "../context.ts";
import { type ExitStateOptions, exitByState } from "./exit-state.ts";
import { stateOf } from "./following.ts";
import { printTask } from "./print.ts";
import { reportTask } from "./report.ts";

/**
 * Cancels a task and prints it. One that is canceled already is no error, so that a repeat does no harm.
 *
 * @throws ConnectError TASK_NOT_CANCELABLE when it has ended in another way; the state is told before
 */
export async function cancelTask(
  context: CommandContext,
  taskId: string,
  flags: ExitStateOptions,
): Promise<void> {
  const agent = await context.openAgent();
  const task = await cancelOnce(context, agent, taskId);
  exitByState(context, flags, stateOf(task));
  await printTask(context, task);
  await reportTask(context, task);
}

async function cancelOnce(
  { settings, signal, output }: CommandContext,
  agent: AgentClient,
  taskId: string,
): Promise<Task> {
  const { metadata } = settings;
  try {
    return await agent.cancelTask(taskId, {
      signal,
      ...(metadata === undefined ? {} : { metadata: metadata as JsonObject }), // it was parsed from JSON
    });
  } catch (error) {
    if (findA2AError(error)?.reason !== "TASK_NOT_CANCELABLE") {
      throw error;
    }
    const task = await agent.getTask(taskId, { signal });
    if (stateOf(task) === TaskState.CANCELED) {
      return task;
    }
    await output.note(`task ${task.id} (context ${task.contextId}) is ${formatTaskState(stateOf(task))}`);
    throw error;
  }
}
