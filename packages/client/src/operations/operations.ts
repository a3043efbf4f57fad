import { findA2AError } from "@a2a-connect/core";
import { toTimestamp } from "@a2a-connect/core/internal";
import { type Task, type TaskPushNotificationConfig, TaskState } from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import type { AgentClient, Pages, TaskPage } from "../agent-client.ts";
import type { CallOptions, ListTasksOptions, PushConfigInput } from "../call-options.ts";
import { repeatCall } from "../calls/repeat-call.ts";
import { type ClientContext, cardOf, renewCard, signalOf } from "../client-context.ts";
import { RequirementError } from "../errors.ts";
import { explained, nameMissingTask } from "../failure.ts";
import { checkTask } from "../follow/task-status.ts";
import { createPushConfig } from "../send/send-request.ts";
import { createPages } from "./pages.ts";

/** What an operation needs for its call. */
interface RpcOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** GetTask; see AgentClient. */
export function getTask(
  context: ClientContext,
  taskId: string,
  options: CallOptions & { readonly historyLength?: number } = {},
): Promise<Task> {
  const { historyLength } = options;
  const request = { id: taskId, ...(historyLength === undefined ? {} : { historyLength }) };
  const call = async (rpcOptions: RpcOptions) =>
    checkTask(await context.rpc.getTask(request, rpcOptions), taskId);
  return repeat(context, options, call, taskId);
}

/** CancelTask; see AgentClient. */
export function cancelTask(
  context: ClientContext,
  taskId: string,
  options: CallOptions & { readonly metadata?: JsonObject } = {},
): Promise<Task> {
  const { rpc } = context;
  const { metadata } = options;
  const request = { id: taskId, ...(metadata === undefined ? {} : { metadata }) };
  const cancel = async (call: RpcOptions, attempt: number) => {
    try {
      return checkTask(await rpc.cancelTask(request, call), taskId);
    } catch (error) {
      if (attempt === 1 || findA2AError(error)?.reason !== "TASK_NOT_CANCELABLE") {
        throw error;
      }
      const task = checkTask(await rpc.getTask({ id: taskId }, call), taskId);
      if (task.status?.state !== TaskState.CANCELED) {
        throw error;
      }
      return task; // an attempt whose answer was lost canceled it
    }
  };
  return repeat(context, options, cancel, taskId);
}

/** The operations that may be repeated: all but sends (see AgentClient). */
export function repeatableOperations(
  context: ClientContext,
): Pick<
  AgentClient,
  | "getTask"
  | "listTasks"
  | "cancelTask"
  | "createPushConfig"
  | "getPushConfig"
  | "listPushConfigs"
  | "deletePushConfig"
> {
  const { rpc } = context;
  return {
    getTask: (taskId, options) => getTask(context, taskId, options),
    cancelTask: (taskId, options) => cancelTask(context, taskId, options),
    listTasks: (options) => listTasks(context, options),
    createPushConfig: (taskId, config, options = {}) =>
      explained(() => createWebhook(context, taskId, config, options)),
    getPushConfig: (taskId, id, options = {}) =>
      push(context, options, (call) => rpc.getTaskPushNotificationConfig({ taskId, id }, call)),
    listPushConfigs: (taskId, options = {}) =>
      createPages(
        async (pageToken) => {
          const request = { taskId, pageSize: options.pageSize ?? 0, pageToken };
          const { configs, nextPageToken } = await push(context, options, (call) =>
            rpc.listTaskPushNotificationConfigs(request, call),
          );
          return { page: configs, nextPageToken };
        },
        (configs) => configs,
      ),
    deletePushConfig: async (taskId, id, options = {}) => {
      await push(context, options, (call) => rpc.deleteTaskPushNotificationConfig({ taskId, id }, call));
    },
  };
}

function listTasks(context: ClientContext, options: ListTasksOptions = {}): Pages<Task, TaskPage> {
  const { signal: _, headers: __, since, pageToken: first, ...filter } = options;
  const request = { ...filter, ...(since && { statusTimestampAfter: toTimestamp(since) }) };
  return createPages(
    async (pageToken) => {
      const page = await repeat(context, options, (call) =>
        context.rpc.listTasks({ ...request, pageToken }, call),
      );
      return { page, nextPageToken: page.nextPageToken };
    },
    ({ tasks }) => tasks,
    first,
  );
}

async function createWebhook(
  context: ClientContext,
  taskId: string,
  config: PushConfigInput,
  options: CallOptions,
): Promise<TaskPushNotificationConfig> {
  await renewCard(context, signalOf(context, options), taskId); // the call tells the agent a token and an address
  // The config gets its id here, so that a repeat replaces it instead of adding another one (requirement A-53).
  const named = createPushConfig({ ...config, id: config.id ?? context.settings.randomId() }, taskId);
  return await push(context, options, (call) => context.rpc.createTaskPushNotificationConfig(named, call));
}

async function push<T>(
  context: ClientContext,
  options: CallOptions,
  call: (options: RpcOptions) => Promise<T>,
): Promise<T> {
  if (cardOf(context).capabilities?.pushNotifications !== true) {
    throw new RequirementError("The agent's card declares no push notifications.", ["pushNotifications"], {
      hint: "Follow the task by stream or by polling instead.",
    });
  }
  return repeat(context, options, call);
}

/** A call that may be repeated. @param taskId of the task that it is about, for the error */
function repeat<T>(
  context: ClientContext,
  options: CallOptions,
  call: (options: RpcOptions, attempt: number) => Promise<T>,
  taskId?: string,
): Promise<T> {
  const { settings } = context;
  const signal = signalOf(context, options);
  const rpcOptions = { signal, timeoutMs: settings.requestTimeoutMs, headers: options.headers ?? {} };
  return explained(async () => {
    try {
      return await repeatCall((attempt) => call(rpcOptions, attempt), settings, signal);
    } catch (error) {
      throw taskId === undefined ? error : nameMissingTask(error, taskId);
    }
  });
}
