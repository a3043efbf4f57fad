import type { AddCommand } from "../command.ts";
import type { CommandContext } from "../command-context.ts";

/** `a2a task history`: everything that has happened to a task, event by event. */
export const addTaskHistory: AddCommand = (task, host) => {
  const command = task
    .command("history")
    .description("Replay a task from its first event, numbered; where the agent numbers none, what was said")
    .argument("<task>", "its id");
  host.agentOptions(command);
  host.action(command, async (context: CommandContext, taskId: string) => {
    const { printHistory } = await import("../task/history.ts");
    await printHistory(context, taskId);
  });
};
