import { formatTaskState } from "@a2a-connect/core";
import { stateOf } from "@a2a-connect/core/internal";
import type { Task } from "@a2a-connect/proto";
import { CliError } from "../cli-error.ts";
import { lookCommand, subscribeCommand, waitCommand } from "../commands-to-copy.ts";
import type { CommandContext } from "../context.ts";
import { formatDuration } from "../settings/values.ts";

// What a command says that ends before its task does, by a Ctrl-C or `--timeout`.

/** `--timeout` has passed. @param taskId where it is known without the task */
export function timedOut(
  context: CommandContext,
  task: Task | undefined,
  taskId: string | undefined = task?.id,
): CliError {
  if (taskId === undefined) return unanswered(context);
  const { settings } = context;
  const limit = formatDuration(settings.timeoutMs ?? 0);
  const [known, state] = task
    ? [` (context ${task.contextId})`, `, ${formatTaskState(stateOf(task))}`]
    : ["", ""];
  const message = `task ${taskId}${known} has not ended within ${limit}${state}; it goes on`;
  return new CliError("A2ACLI_ERR_TIMEOUT", message, { hint: waitCommand(settings, taskId) });
}

/** A message that was given up, by a Ctrl-C or `--timeout`, before the agent named a task: whether it was taken is not known. */
export function unanswered({ io, settings }: CommandContext): CliError {
  const limit = formatDuration(settings.timeoutMs ?? 0);
  const [code, what] = io.interrupted.aborted
    ? (["A2ACLI_ERR_INTERNAL", "interrupted before the agent answered"] as const)
    : (["A2ACLI_ERR_TIMEOUT", `the agent has not answered within ${limit}`] as const);
  const hint = `to look for it: ${lookCommand(settings)}`;
  return new CliError(code, `${what}; the message may have arrived`, { hint });
}

/** Says how to come back to a task that is left to itself after a Ctrl-C. The exit status is 130 by itself. */
export async function detach(
  context: CommandContext,
  task: { readonly id: string; readonly contextId?: string } | undefined,
  lastEventId?: number,
): Promise<void> {
  const { output, settings } = context;
  if (task === undefined) {
    const { message, hint = "" } = unanswered(context);
    await output.note(message);
    return await output.note(hint);
  }
  const known = task.contextId === undefined ? "" : ` (context ${task.contextId})`;
  await output.note(`detached; task ${task.id}${known} goes on`);
  await output.note(`to follow it again: ${subscribeCommand(settings, task.id, lastEventId)}`);
}
