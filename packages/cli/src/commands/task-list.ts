import { Option } from "commander";
import type { AddCommand } from "../command.ts";
import type { CommandContext } from "../command-context.ts";
import type { ListTasksFlags } from "../task/list.ts";
import { wholeNumber } from "../task/options.ts";

/** `a2a task list`: the tasks that the caller may see, page by page. `--context-id` is one of every command's options. */
export const addTaskList: AddCommand = (task, host) => {
  const command = task
    .command("list")
    .description("List tasks, the latest first, page by page; --context-id lists those of one context")
    .option("--status <state>", "only tasks in this state, such as working or input-required")
    .option(
      "--since <time>",
      "only tasks whose state is of this time or later: 2026-01-31T12:00:00Z, or 24h for the last day",
    )
    .option("--page-size <n>", "tasks a page (default: the agent's)", wholeNumber(1, 100))
    .option("--page-token <token>", "go on with this page")
    .addOption(
      new Option("--limit <n>", "tasks to list, over as many pages as that takes").argParser(wholeNumber(1)),
    )
    .addOption(new Option("--all", "all pages").conflicts("limit"))
    .option("--include-artifacts", "with their artifacts");
  host.agentOptions(command);
  host.action(command, async (context: CommandContext, flags: ListTasksFlags) => {
    const { listTasks } = await import("../task/list.ts");
    await listTasks(context, flags);
  });
};
