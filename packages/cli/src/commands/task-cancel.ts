import type { AddCommand } from "../command.ts";
import type { CommandContext } from "../command-context.ts";
import { addExitStateOption, type ExitStateOptions } from "../task/options.ts";

/** `a2a task cancel`: cancels a task (a2a-cli §10.4). `--metadata` is one of every command's options. */
export const addTaskCancel: AddCommand = (task, host) => {
  const command = task
    .command("cancel")
    .description("Cancel a task; --metadata goes with the request")
    .argument("<task>", "its id");
  addExitStateOption(command);
  host.agentOptions(command);
  host.action(command, async (context: CommandContext, taskId: string, flags: ExitStateOptions) => {
    const { cancelTask } = await import("../task/cancel.ts");
    await cancelTask(context, taskId, flags);
  });
};
