import type { AddCommand } from "../command.ts";
import type { CommandContext } from "../command-context.ts";
import { hostOption, portOption } from "../serve/port-option.ts";
import type { ListenFlags } from "../task/push-listen.ts";

/** `a2a task push-config listen`: a webhook on this machine that prints what it is sent. */
export const addTaskPushConfigListen: AddCommand = (group, host) => {
  const command = group
    .command("listen")
    .description(
      "Print notifications as they are delivered, until Ctrl-C; with a task, registered for it as long as this runs",
    )
    .argument("[task]", "id of the task to be notified of")
    .addOption(portOption(0))
    .addOption(hostOption())
    .option("--public-url <url>", "where the agent reaches this webhook, when that is elsewhere (a tunnel)");
  host.agentOptions(command);
  host.action(command, async (context: CommandContext, taskId: string | undefined, flags: ListenFlags) => {
    const { listenForPush } = await import("../task/push-listen.ts");
    await listenForPush(context, taskId, flags);
  });
};
