import type { AddCommand } from "../command.ts";
import type { CommandContext } from "../command-context.ts";
import type { CreatePushConfigFlags } from "../task/push-configs.ts";
import { addTaskPushConfigListen } from "./task-push-config-listen.ts";

/** `a2a task push-config …`: the webhooks of a task (a2a-cli §7.1), and a receiver to try them with. */
export const addTaskPushConfig: AddCommand = (task, host) => {
  const group = task.command("push-config").description("Webhooks of a task: who is told of its events");
  for (const add of [addCreate, addGet, addList, addDelete, addTaskPushConfigListen]) {
    add(group, host);
  }
};

const addCreate: AddCommand = (group, host) => {
  const command = group
    .command("create")
    .description("Register a webhook")
    .argument("<task>", "id of the task")
    .requiredOption("--url <url>", "where the agent is to send events")
    .option("--id <id>", "id of the config (default: the agent's choice)")
    .option("--token <token>", "comes back in X-A2A-Notification-Token")
    .option("--auth-scheme <scheme>", "how the agent is to authenticate, such as Bearer")
    .option("--auth-credentials <text>", "what it is to authenticate with; shows in process lists");
  host.agentOptions(command);
  host.action(command, async (context: CommandContext, taskId: string, flags: CreatePushConfigFlags) => {
    const { createPushConfig } = await import("../task/push-configs.ts");
    await createPushConfig(context, taskId, flags);
  });
};

const addGet: AddCommand = (group, host) => {
  const command = group
    .command("get")
    .description("Show a webhook")
    .argument("<task>", "id of the task")
    .argument("<id>", "id of the config");
  host.agentOptions(command);
  host.action(command, async (context: CommandContext, taskId: string, id: string) => {
    const { getPushConfig } = await import("../task/push-configs.ts");
    await getPushConfig(context, taskId, id);
  });
};

const addList: AddCommand = (group, host) => {
  const command = group
    .command("list")
    .description("List the webhooks of a task")
    .argument("<task>", "id of the task");
  host.agentOptions(command);
  host.action(command, async (context: CommandContext, taskId: string) => {
    const { listPushConfigs } = await import("../task/push-configs.ts");
    await listPushConfigs(context, taskId);
  });
};

const addDelete: AddCommand = (group, host) => {
  const command = group
    .command("delete")
    .description("Delete a webhook; one that is gone already is no error")
    .argument("<task>", "id of the task")
    .argument("<id>", "id of the config");
  host.agentOptions(command);
  host.action(command, async (context: CommandContext, taskId: string, id: string) => {
    const { deletePushConfig } = await import("../task/push-configs.ts");
    await deletePushConfig(context, taskId, id);
  });
};
