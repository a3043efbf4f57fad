import type {
  A2AService,
  AgentCard,
  AgentInterface,
  Part,
  SendMessageResponse,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
  TaskState,
} from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import type { ArtifactReader } from "./content/artifact-reader.ts";
import type { ResumeOptions, RunOptions, RunResult } from "./run/run-types.ts";

/** What a caller hands over: words, parts, or a message's worth of both. */
export type Input = string | readonly Part[] | InputMessage;

/** A message before it has its id. */
export interface InputMessage {
  readonly parts: string | readonly Part[];
  /** Goes on with a conversation: a new task in it. */
  readonly contextId?: string;
  /** Goes on with a task: the answer to its question. */
  readonly taskId?: string;
  readonly referenceTaskIds?: readonly string[];
  readonly metadata?: JsonObject;
  readonly extensions?: readonly string[];
  /** Default a UUID. */
  readonly messageId?: string;
}

/** What every call may be told. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Sent with this call. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** How a message is sent. */
export interface SendOptions extends CallOptions {
  /** Id of the skill that is to do it (lifecycle extension). Its input modes are checked. */
  readonly skill?: string;
  /** Media types that the caller can use. Default any. */
  readonly acceptedOutputModes?: readonly string[];
  readonly historyLength?: number;
  /** Metadata of the request, beside the message's own. */
  readonly metadata?: JsonObject;
  /** A webhook for the task. */
  readonly pushConfig?: PushConfigInput;
  /**
   * Names this send, so that it may be repeated. Default: one of ours where the card says that the agent honours keys
   * (`idempotencyKeys` of the lifecycle extension), else none, and then the message is sent only once.
   */
  readonly idempotencyKey?: string;
}

/** A webhook, as it is registered. */
export interface PushConfigInput {
  readonly url: string;
  readonly id?: string;
  /** Comes back in `X-A2A-Notification-Token`. */
  readonly token?: string;
  readonly authentication?: { readonly scheme: string; readonly credentials?: string };
}

/** How a task is followed. */
export interface FollowOptions extends CallOptions {
  /** The last event that is known: what comes after it is delivered. `0`: everything since the creation. */
  readonly after?: number;
  /**
   * Where it ends: `terminal` with the task, `settled` as soon as it has ended or waits for somebody.
   * Default `terminal`.
   */
  readonly until?: "settled" | "terminal";
  /** Interval of polls where there are no streams, at least 2,000 unless `allowFastPolling`. Default 2 s. */
  readonly pollIntervalMs?: number;
  /** Permits intervals below 2 s; tells `onWarning`. */
  readonly allowFastPolling?: boolean;
}

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

/** Which tasks are listed. */
export interface ListTasksOptions extends CallOptions {
  readonly contextId?: string;
  readonly status?: TaskState;
  /** Those whose status is of this time or later. */
  readonly since?: Date;
  /** Tasks a page, 1 to 100. Default the server's. */
  readonly pageSize?: number;
  /** Where to begin: a `nextPageToken`. */
  readonly pageToken?: string;
  readonly historyLength?: number;
  readonly includeArtifacts?: boolean;
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
