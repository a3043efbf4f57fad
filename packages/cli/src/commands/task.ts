import { type Command, Option } from "commander";
import { type AddCommand, wholeNumber } from "../command.ts";
import { hostOption, portOption } from "./serve.ts";

/** `a2a task …`: what acts on tasks that are there (a2a-cli §7.1, §10.3, §10.4). */
export const addTask: AddCommand = (program, setAction) => {
  const task = program.command("task").description("Look at tasks, follow them, cancel them");
  const add = (name: string, description: string): Command =>
    task.command(name).description(description).argument("<task>", "its id");
  const get = add(
    "get",
    "Show a task: state, artifacts, messages; --wait blocks until it has ended or waits for you",
  ).option("--history <n>", "messages of its history to show (default: the agent's)", wholeNumber(0));
  setAction(addExitStateOption(get), async () => (await import("../task/task.ts")).getTask);

  // `--context-id` is one of every command's options.
  const list = task
    .command("list")
    .description("List tasks, the latest first, page by page; --context-id lists those of one context")
    .option("--status <state>", "only tasks in this state, such as working or input-required")
    .option("--since <time>", "only tasks whose state changed since 2026-01-31T12:00:00Z, or in the last 24h")
    .option("--page-size <n>", "tasks a page (default: the agent's)", wholeNumber(1, 100))
    .option("--page-token <token>", "continue with this page")
    .option("--limit <n>", "tasks to list, over as many pages as that takes", wholeNumber(1))
    .addOption(new Option("--all", "all pages").conflicts("limit"))
    .option("--include-artifacts", "with their artifacts");
  setAction(list, async () => (await import("../task/list.ts")).listTasks);

  const subscribe = add(
    "subscribe",
    "Follow a task's events until it has ended or waits for you; reconnect as often as needed",
  )
    .option("--after <n>", "begin after the event with this number; 0: at the first event", wholeNumber(0))
    .addOption(
      new Option("--until <end>", "settled: it has ended or waits for you; terminal: it has ended")
        .choices(["settled", "terminal"])
        .default("settled"),
    );
  setAction(addExitStateOption(subscribe), async () => (await import("../task/task.ts")).subscribeToTask);

  // `--metadata` is one of every command's options.
  const cancel = add("cancel", "Cancel a task; --metadata goes with the request");
  setAction(addExitStateOption(cancel), async () => (await import("../task/task.ts")).cancelTask);

  const history = add(
    "history",
    "Replay a task's events from the first; if the agent does not number them, show its messages",
  );
  setAction(history, async () => (await import("../task/task.ts")).printHistory);

  const download = add(
    "download",
    "Save a task's artifacts as files; nothing is overwritten, directories in names are ignored",
  )
    .option(
      "--output-dir <directory>",
      "where to (default: a new directory task-ID in the working directory)",
    )
    .option("--artifact <id>", "only this one, by id or name");
  setAction(download, async () => (await import("../task/download.ts")).downloadArtifacts);
  addPushConfig(task, setAction);
};

/** The webhooks of a task, and a receiver to try them with. */
const addPushConfig: AddCommand = (task, setAction) => {
  const group = task.command("push-config").description("Webhooks of a task: the URLs that get its events");
  const add = (name: string, description: string): Command =>
    group.command(name).description(description).argument("<task>", "id of the task");
  const create = add("create", "Register a webhook")
    .requiredOption("--url <url>", "where the agent sends events")
    .option("--id <id>", "id of the config (default: the agent's choice)")
    .option("--token <token>", "token that the agent sends back in X-A2A-Notification-Token")
    .option("--auth-scheme <scheme>", "how the agent authenticates there, such as Bearer")
    .option("--auth-credentials <text>", "the credentials for that; they show in process lists");
  setAction(create, async () => (await import("../task/push-configs.ts")).createPushConfig);
  const get = add("get", "Show a webhook").argument("<id>", "id of the config");
  setAction(get, async () => (await import("../task/push-configs.ts")).getPushConfig);
  const list = add("list", "List the webhooks of a task");
  setAction(list, async () => (await import("../task/push-configs.ts")).listPushConfigs);
  const remove = add("delete", "Delete a webhook; a missing one is not an error").argument(
    "<id>",
    "id of the config",
  );
  setAction(remove, async () => (await import("../task/push-configs.ts")).deletePushConfig);
  const listen = group
    .command("listen")
    .description("Print notifications until Ctrl-C; with a task, register a webhook for it until then")
    .argument("[task]", "id of the task that notifications are for")
    .addOption(portOption(0))
    .addOption(hostOption())
    .option("--public-url <url>", "URL at which the agent reaches this webhook, such as that of a tunnel");
  setAction(listen, async () => (await import("../task/push-configs.ts")).listenForPush);
};

/** Adds `--exit-state`: the exit status says what became of the task, and not only that the command did its job. */
export function addExitStateOption(command: Command): Command {
  return command.option(
    "--exit-state",
    "exit with the code of the task's state: 0 completed, 20 failed, 21 canceled, 22 rejected, 23 input required, " +
      "24 auth required, 25 not ended (default: 0 in all these states)",
  );
}
