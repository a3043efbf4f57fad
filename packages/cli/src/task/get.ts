import { isSettled } from "@a2a-connect/core";
import type { Task } from "@a2a-connect/proto";
import type { CommandContext } from "../context.ts";
import { type ExitStateOptions, exitByState } from "./exit-state.ts";
import { detach, followToEnd, pollingOf, stateOf } from "./following.ts";
import { printTask } from "./print.ts";
import { reportTask } from "./report.ts";

/** The options that `task get` has beside those of every command that talks to an agent. */
export interface GetTaskFlags extends ExitStateOptions {
  /** Messages, at most; undefined: as many as the agent gives. */
  readonly history?: number;
}

/**
 * Prints a task as it is, or with `--wait` as it is when it has ended or waits for somebody.
 *
 * @throws CliError TIMEOUT; whatever the client throws
 */
export async function getTask(context: CommandContext, taskId: string, flags: GetTaskFlags): Promise<void> {
  const agent = await context.openAgent();
  const options = {
    signal: context.signal,
    ...(flags.history === undefined ? {} : { historyLength: flags.history }),
  };
  const found = await agent.getTask(taskId, options);
  if (context.settings.waitRequested !== true || isSettled(stateOf(found))) {
    return await showTask(context, found, flags);
  }
  const stream = agent.follow(taskId, {
    signal: context.signal,
    ...pollingOf(context.settings),
    until: "settled",
  });
  if ((await followToEnd(context, stream, { taskId, announce: true })) === "detached") {
    const left = stream.task ?? found;
    await printTask(context, left);
    return await detach(context, left, stream.lastEventId);
  }
  await showTask(context, await agent.getTask(taskId, options), flags); // with the history that was asked for
}

async function showTask(context: CommandContext, task: Task, flags: GetTaskFlags): Promise<void> {
  exitByState(context, flags, stateOf(task));
  await printTask(context, task, flags.history === undefined ? {} : { history: true });
  await reportTask(context, task);
}
