import { Option } from "commander";
import type { AddCommand } from "../command.ts";
import type { CommandContext } from "../command-context.ts";
import { addExitStateOption, wholeNumber } from "../task/options.ts";
import type { SubscribeFlags } from "../task/subscribe.ts";

/** `a2a task subscribe`: the events of a task as they come. */
export const addTaskSubscribe: AddCommand = (task, host) => {
  const command = task
    .command("subscribe")
    .description("Follow a task's events, over as many connections as it takes, until it has ended or asks")
    .argument("<task>", "its id")
    .option("--after <n>", "begin after the event of this number; 0: with the first one", wholeNumber(0))
    .addOption(
      new Option("--until <end>", "settled: it has ended or waits for somebody; terminal: it has ended")
        .choices(["settled", "terminal"])
        .default("settled"),
    );
  addExitStateOption(command);
  host.agentOptions(command);
  host.action(command, async (context: CommandContext, taskId: string, flags: SubscribeFlags) => {
    const { subscribeToTask } = await import("../task/subscribe.ts");
    await subscribeToTask(context, taskId, flags);
  });
};
