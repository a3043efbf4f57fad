import { findA2AError } from "@a2a-connect/core";
import {
  type A2AService,
  type AgentCard,
  type Task,
  type TaskPushNotificationConfig,
  TaskState,
} from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type { Pages, TaskPage } from "../agent-client.ts";
import type { CallOptions, ListTasksOptions, PushConfigInput } from "../call-options.ts";
import type { ClientSettings } from "../connection.ts";
import { RequirementError } from "../errors.ts";
import { explainFailure } from "../failure.ts";
import { checkTask } from "../follow/task-status.ts";
import { repeatCall } from "../send/repeat-call.ts";
import { createPushConfig } from "../send/send-request.ts";
import { createPages } from "./pages.ts";

/** What an operation needs for its call. */
interface RpcOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** The operations that may be repeated: all but sends (see AgentClient). */
export abstract class AgentOperations {
  abstract readonly card: AgentCard;
  abstract readonly rpc: Client<typeof A2AService>;
  abstract readonly settings: ClientSettings;

  getTask(taskId: string, options: CallOptions & { readonly historyLength?: number } = {}): Promise<Task> {
    const { historyLength } = options;
    const request = { id: taskId, ...(historyLength === undefined ? {} : { historyLength }) };
    return this.repeat(options, async (call) => checkTask(await this.rpc.getTask(request, call), taskId));
  }

  listTasks(options: ListTasksOptions = {}): Pages<Task, TaskPage> {
    const { contextId, status, since, pageSize, historyLength, includeArtifacts } = options;
    const request = {
      ...(contextId === undefined ? {} : { contextId }),
      ...(status === undefined ? {} : { status }),
      ...(since === undefined ? {} : { statusTimestampAfter: timestampFromDate(since) }),
      ...(pageSize === undefined ? {} : { pageSize }),
      ...(historyLength === undefined ? {} : { historyLength }),
      ...(includeArtifacts === undefined ? {} : { includeArtifacts }),
    };
    return createPages(
      async (pageToken) => {
        const page = await this.repeat(options, (call) =>
          this.rpc.listTasks({ ...request, pageToken }, call),
        );
        return { page, nextPageToken: page.nextPageToken };
      },
      ({ tasks }) => tasks,
      options.pageToken,
    );
  }

  cancelTask(taskId: string, options: CallOptions & { readonly metadata?: JsonObject } = {}): Promise<Task> {
    const { metadata } = options;
    const request = { id: taskId, ...(metadata === undefined ? {} : { metadata }) };
    return this.repeat(options, async (call, attempt) => {
      try {
        return checkTask(await this.rpc.cancelTask(request, call), taskId);
      } catch (error) {
        const canceled = attempt > 1 ? await this.#findCanceled(error, taskId, call) : undefined;
        if (canceled === undefined) {
          throw error;
        }
        return canceled; // an attempt whose answer was lost canceled it
      }
    });
  }

  createPushConfig(
    taskId: string,
    config: PushConfigInput,
    options: CallOptions = {},
  ): Promise<TaskPushNotificationConfig> {
    return this.unwrapped(async () => {
      await this.renewCard(this.signalOf(options), taskId); // the call tells the agent a token and an address
      // The config gets its id here, so that a repeat replaces it instead of adding another one (requirement A-53).
      const named = createPushConfig({ ...config, id: config.id ?? this.settings.randomId() }, taskId);
      return await this.#push(options, (call) => this.rpc.createTaskPushNotificationConfig(named, call));
    });
  }

  getPushConfig(taskId: string, id: string, options: CallOptions = {}): Promise<TaskPushNotificationConfig> {
    return this.#push(options, (call) => this.rpc.getTaskPushNotificationConfig({ taskId, id }, call));
  }

  listPushConfigs(
    taskId: string,
    options: CallOptions & { readonly pageSize?: number } = {},
  ): Pages<TaskPushNotificationConfig, readonly TaskPushNotificationConfig[]> {
    const { pageSize = 0 } = options;
    return createPages(
      async (pageToken) => {
        const request = { taskId, pageSize, pageToken };
        const { configs, nextPageToken } = await this.#push(options, (call) =>
          this.rpc.listTaskPushNotificationConfigs(request, call),
        );
        return { page: configs, nextPageToken };
      },
      (configs) => configs,
    );
  }

  async deletePushConfig(taskId: string, id: string, options: CallOptions = {}): Promise<void> {
    await this.#push(options, (call) => this.rpc.deleteTaskPushNotificationConfig({ taskId, id }, call));
  }

  /**
   * Call it before sending what only a trusted agent may know.
   *
   * @param taskId of the task that it is about
   * @throws CardRefusedError, UntrustedOutputError or CardDriftError when the agent's card is refused or does not meet
   *   the requirements
   */
  protected abstract renewCard(signal: AbortSignal, taskId?: string): Promise<void>;

  /** Aborts with the call's own signal, and when the client is closed. */
  protected abstract signalOf(options: CallOptions): AbortSignal;

  /** A call that may be repeated. */
  protected repeat<T>(
    options: CallOptions,
    call: (options: RpcOptions, attempt: number) => Promise<T>,
  ): Promise<T> {
    const signal = this.signalOf(options);
    const settings = { signal, timeoutMs: this.settings.requestTimeoutMs, headers: options.headers ?? {} };
    return this.unwrapped(() => repeatCall((attempt) => call(settings, attempt), this.settings, signal));
  }

  async #findCanceled(failure: unknown, taskId: string, call: RpcOptions): Promise<Task | undefined> {
    if (findA2AError(failure)?.reason !== "TASK_NOT_CANCELABLE") {
      return undefined;
    }
    const task = checkTask(await this.rpc.getTask({ id: taskId }, call), taskId);
    return task.status?.state === TaskState.CANCELED ? task : undefined;
  }

  #push<T>(options: CallOptions, call: (options: RpcOptions) => Promise<T>): Promise<T> {
    if (this.card.capabilities?.pushNotifications !== true) {
      return Promise.reject(
        new RequirementError("The agent's card declares no push notifications.", ["pushNotifications"], {
          hint: "Follow the task by stream or by polling instead.",
        }),
      );
    }
    return this.repeat(options, call);
  }

  protected async unwrapped<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw explainFailure(error);
    }
  }
}
