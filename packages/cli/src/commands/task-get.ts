import type { AddCommand } from "../command.ts";
import type { CommandContext } from "../command-context.ts";
import type { GetTaskFlags } from "../task/get.ts";
import { addExitStateOption, wholeNumber } from "../task/options.ts";

/** `a2a task get`: state, artifacts and history of a task (a2a-cli §10.3). */
export const addTaskGet: AddCommand = (task, host) => {
  const command = task
    .command("get")
    .description("Show a task: its state, its artifacts, what was said; --wait until it has ended or asks")
    .argument("<task>", "its id")
    .option("--history <n>", "messages of its history to show (default: the agent's)", wholeNumber(0));
  addExitStateOption(command);
  host.agentOptions(command);
  host.action(command, async (context: CommandContext, taskId: string, flags: GetTaskFlags) => {
    const { getTask } = await import("../task/get.ts");
    await getTask(context, taskId, flags);
  });
};
