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
 * The events of a task, each once and in order, over however many connections it takes. To be iterated once.
 *
 * Where a server cannot say what was missed while the connection was gone, the difference of the task before and after
 * stands in: the same parts and the last state, in fewer events.
 */
export interface TaskStream extends AsyncIterable<StreamResponse> {
  /**
   * The task as of the last event delivered; undefined before the first, and after a direct Message. Its history is what
   * the events tell: messages that callers send to a task are no events (`getTask` has them). With `after` it is made of
   * the events since.
   */
  readonly task: Task | undefined;
  /** Id of the last event delivered, where the server numbers them: the `after` to come back with. */
  readonly lastEventId: number | undefined;
}

/** One result after another over all pages; `pages()` gives them as they come. To be iterated once. */
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
 * An agent, as its caller sees it. Operations reject with ConnectErrors (`findA2AError` names them) and with the
 * AgentErrors of this package.
 */
export interface AgentClient extends AsyncDisposable {
  /** The card in use: after `getExtendedCard` the extended one, until the public one changes. */
  readonly card: AgentCard;
  /** What is odd about the card: what an older one was read as. */
  readonly cardWarnings: readonly string[];
  /** The interface in use. */
  readonly interface: AgentInterface;
  /**
   * The generated client below all this, with version, extensions, tenant and headers set. Its calls go to the interface that is
   * in use when they begin; they do not look whether the card has changed.
   */
  readonly rpc: Client<typeof A2AService>;

  /** Hands over work and sees it through to its result (docs/client.md). */
  run(input: Input, options?: RunOptions): Promise<RunResult>;
  /** Sees a task through that is there already: the second half of a run whose process has ended. */
  resume(taskId: string, options?: ResumeOptions): Promise<RunResult>;
  /** Sends a message and gives what follows, up to where the task has settled; a direct Message is one event. */
  stream(input: Input, options?: SendOptions & FollowOptions): TaskStream;
  /** Follows a task that is there. */
  follow(taskId: string, options?: FollowOptions): TaskStream;

  /** Sends a message. Blocks until the task has settled unless `returnImmediately`. */
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
  /** Readers of a task's artifacts, as `run` gives them: with this client's limits, fetch and platform. */
  readArtifacts(task: Task): readonly ArtifactReader[];
  /**
   * The card for callers that have said who they are. It is checked as the public one is (REQUIRED fields, then `verifyCard`,
   * then `inspect`) and from then on it is `card`, until the public one changes; one that is refused never is. `requires` and
   * `expect` are about the public one and not applied to it, and calls go on over the interface in use.
   *
   * @throws RequirementError when the public card declares none, CardInvalidError when it lacks something, CardRefusedError or
   *   UntrustedOutputError when it, or the public one, is refused
   */
  getExtendedCard(options?: CallOptions): Promise<AgentCard>;

  /** Ends all connections. Tasks go on. */
  close(): Promise<void>;
}
