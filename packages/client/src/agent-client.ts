import type {
  A2AService,
  AgentCard,
  AgentInterface,
  SendMessageResponse,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
} from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import type {
  CallOptions,
  FollowOptions,
  Input,
  ListTasksOptions,
  PushConfigInput,
  SendOptions,
} from "./call-options.ts";
import type { ArtifactReader } from "./content/artifact-reader.ts";
import type { ResumeOptions, RunOptions, RunResult } from "./run/run-types.ts";

/**
 * The events of a task, each once and in order, over any number of connections. Iterate over it once.
 *
 * Some servers cannot say which events a client missed while it had no connection. Then the client delivers the
 * difference of the task before and after: the same parts and the last state, in fewer events.
 */
export interface TaskStream extends AsyncIterable<StreamResponse> {
  /**
   * The task as of the last delivered event; undefined before the first, and after a direct Message. Its history
   * follows from the events: messages that callers send to a task are not events (`getTask` has them). With `after` it
   * contains only the events since.
   */
  readonly task: Task | undefined;
  /** Id of the last delivered event, if the server numbers events: the `after` with which to continue. */
  readonly lastEventId: number | undefined;
}

/** The results of all pages, one after the other; `pages()` returns them page by page. Iterate over it once. */
export interface Pages<Item, Page> extends AsyncIterable<Item> {
  pages(): AsyncIterable<Page>;
}

/** One page of tasks. */
export interface TaskPage {
  readonly tasks: readonly Task[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
}

/**
 * An agent as a client uses it. Operations reject with ConnectErrors (`findA2AError` names them) and with the
 * AgentErrors of this package.
 */
export interface AgentClient extends AsyncDisposable {
  /** The card in use: after `getExtendedCard` the extended card, until the public one changes. */
  readonly card: AgentCard;
  /** What was unusual about the card: how an older card was read. */
  readonly cardWarnings: readonly string[];
  /** The interface in use. */
  readonly interface: AgentInterface;
  /**
   * The generated client under these methods, with version, extensions, tenant and headers set. Its calls go to the
   * interface that is in use when they begin. They do not look for a changed card.
   */
  readonly rpc: Client<typeof A2AService>;

  /** Sends a message and follows its task to the result (docs/client.md). */
  run(input: Input, options?: RunOptions): Promise<RunResult>;
  /** Follows an existing task to its result: the second half of a run whose process has ended. */
  resume(taskId: string, options?: ResumeOptions): Promise<RunResult>;
  /** Sends a message and returns the events that follow, until the task has settled; a direct Message is one event. */
  stream(input: Input, options?: SendOptions & FollowOptions): TaskStream;
  /**
   * Sends a message and returns the text of its artifacts while it is written, else that of the agent's answer. It ends and fails as
   * `run` does. Leaving the iteration early ends only the iteration; the task goes on. Iterate over it once.
   */
  streamText(input: Input, options?: RunOptions): AsyncIterable<string>;
  /** Follows an existing task. */
  follow(taskId: string, options?: FollowOptions): TaskStream;

  /** Sends a message. Waits until the task has settled unless `returnImmediately` is set. */
  sendMessage(
    input: Input,
    options?: SendOptions & { readonly returnImmediately?: boolean },
  ): Promise<SendMessageResponse>;
  getTask(taskId: string, options?: CallOptions & { readonly historyLength?: number }): Promise<Task>;
  listTasks(options?: ListTasksOptions): Pages<Task, TaskPage>;
  cancelTask(taskId: string, options?: CallOptions & { readonly metadata?: JsonObject }): Promise<Task>;
  createPushConfig(
    taskId: string,
    config: PushConfigInput,
    options?: CallOptions,
  ): Promise<TaskPushNotificationConfig>;
  getPushConfig(taskId: string, id: string, options?: CallOptions): Promise<TaskPushNotificationConfig>;
  listPushConfigs(
    taskId: string,
    options?: CallOptions & { readonly pageSize?: number },
  ): Pages<TaskPushNotificationConfig, readonly TaskPushNotificationConfig[]>;
  deletePushConfig(taskId: string, id: string, options?: CallOptions): Promise<void>;
  /** Readers of a task's artifacts, as in the result of `run`: with this client's limits, fetch and platform. */
  readArtifacts(task: Task): readonly ArtifactReader[];
  /**
   * The card for callers with credentials. The client tests it like the public one (REQUIRED fields, then `verifyCard`,
   * then `inspect`). From then on it is `card`, until the public one changes. The client never uses an extended card
   * that was refused. `requires` and `expect` are about the public card and do not apply to it. Calls still use the
   * current interface.
   *
   * @throws RequirementError when the public card declares no extended card, CardInvalidError when a field is missing,
   *   CardRefusedError or UntrustedOutputError when it, or the public card, is refused
   */
  getExtendedCard(options?: CallOptions): Promise<AgentCard>;

  /** Ends all connections. Tasks go on. */
  close(): Promise<void>;
}
