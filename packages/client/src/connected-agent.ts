import { findA2AError, isTerminal } from "@a2a-connect/core";
import {
  type A2AService,
  type AgentCard,
  AgentCardSchema,
  type AgentInterface,
  type SendMessageResponse,
  type StreamResponse,
  type Task,
  type TaskPushNotificationConfig,
  type TaskStatus,
} from "@a2a-connect/proto";
import { type JsonObject, toJsonString } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Client, Code, ConnectError } from "@connectrpc/connect";
import type {
  AgentClient,
  CallOptions,
  FollowOptions,
  Input,
  ListTasksOptions,
  Pages,
  PushConfigInput,
  SendOptions,
  TaskPage,
  TaskStream,
} from "./agent-client.ts";
import { describeChanges } from "./card/card-changes.ts";
import type { CardResolver, ResolvedCard } from "./card/card-resolver.ts";
import { checkInputModes } from "./card/input-modes.ts";
import type { ClientSettings, Connection } from "./connection.ts";
import { type ArtifactReader, createArtifactReader } from "./content/artifact-reader.ts";
import { inspectContent } from "./content/inspect-interceptor.ts";
import { CardDriftError, InputModeError, RequirementError, TaskRejectedError } from "./errors.ts";
import { explainFailure } from "./failure.ts";
import { checkTask } from "./follow/check-task.ts";
import { type Following, followEvents } from "./follow/follow-events.ts";
import { choosePollInterval, type PollOptions } from "./follow/poll-schedule.ts";
import { TrackedStream } from "./follow/task-stream.ts";
import { TaskTracker } from "./follow/task-tracker.ts";
import { WakeUp } from "./follow/wake-up.ts";
import { createPages } from "./operations/pages.ts";
import type { ConnectOptions } from "./options.ts";
import { sendAndListen } from "./run/push-events.ts";
import { runTask } from "./run/run-task.ts";
import type { RunOptions, RunResult } from "./run/run-types.ts";
import { repeatCall } from "./send/repeat-call.ts";
import { type Sending, sendAndFollow } from "./send/send-and-follow.ts";
import { sendOnce } from "./send/send-once.ts";
import { createPushConfig, createSendRequest, toInputMessage } from "./send/send-request.ts";

/** One card, and the interface of it that is used. */
export interface Link {
  readonly resolved: ResolvedCard;
  readonly rpc: Client<typeof A2AService>;
  /** In use now: after another one could not be reached it is the next. */
  readonly interface: () => { readonly interface: AgentInterface; readonly protocolVersion: string };
  readonly honoursKeys: boolean;
  close(): void;
}

/** What a connected agent is made of. */
export interface ConnectedAgentParts {
  readonly options: ConnectOptions;
  readonly settings: ClientSettings;
  readonly resolver: CardResolver;
  readonly link: Link;
  /** Makes a link of another card; checks it first. */
  readonly relink: (resolved: ResolvedCard) => Promise<Link>;
  /** Judges and inspects an extended card. */
  readonly judgeCard: (card: AgentCard, text: string) => Promise<void>;
}

interface RpcOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** The one implementation of AgentClient; see there. */
export class ConnectedAgent implements AgentClient, Connection {
  readonly settings: ClientSettings;
  readonly #options: ConnectOptions;
  readonly #resolver: CardResolver;
  readonly #relink: ConnectedAgentParts["relink"];
  readonly #judgeCard: ConnectedAgentParts["judgeCard"];
  readonly #closed = new AbortController();
  #link: Link;
  #extendedCard: AgentCard | undefined;

  constructor({ options, settings, resolver, link, relink, judgeCard }: ConnectedAgentParts) {
    this.#options = options;
    this.settings = settings;
    this.#resolver = resolver;
    this.#link = link;
    this.#relink = relink;
    this.#judgeCard = judgeCard;
  }

  get card(): AgentCard {
    return this.#extendedCard ?? this.#link.resolved.card;
  }

  get cardWarnings(): readonly string[] {
    return this.#link.resolved.warnings;
  }

  get interface(): AgentInterface {
    return this.#link.interface().interface;
  }

  get protocolVersion(): string {
    return this.#link.interface().protocolVersion;
  }

  get honoursKeys(): boolean {
    return this.#link.honoursKeys;
  }

  get rpc(): Client<typeof A2AService> {
    return this.#link.rpc;
  }

  run(input: Input, options: RunOptions = {}): Promise<RunResult> {
    const tracker = new TaskTracker(undefined, this.settings.maxTaskBytes);
    const wakeUp = new WakeUp();
    return this.#unwrapped(async () => {
      const staleStatus = await this.#staleStatus(input, this.#signal(options));
      const host = {
        clock: this.settings.clock,
        tracker,
        wakeUp,
        staleStatus,
        open: (signal: AbortSignal, deadline: Date | undefined) =>
          this.#send(
            input,
            { ...options, ...(deadline === undefined ? {} : { deadline }) },
            { tracker, wakeUp, signal, until: "terminal", staleStatus },
          ),
        answer: (answer: Input, signal: AbortSignal) => this.#answer(answer, options, signal),
        cancel: (taskId: string) => this.cancelTask(taskId),
        finalTask: (task: Task) => this.#finalTask(task, tracker),
        read: (task: Task) => this.readArtifacts(task),
      };
      try {
        return await runTask(host, { ...options, signal: this.#signal(options) });
      } catch (error) {
        throw await this.#explainRejection(error);
      }
    });
  }

  stream(input: Input, options: SendOptions & FollowOptions = {}): TaskStream {
    const tracker = new TaskTracker(options.after, this.settings.maxTaskBytes);
    const signal = this.#signal(options);
    const open = async function* (agent: ConnectedAgent): AsyncGenerator<StreamResponse, void> {
      const staleStatus = await agent.#staleStatus(input, signal);
      const until = options.until ?? "settled";
      yield* agent.#send(input, options, { tracker, wakeUp: new WakeUp(), signal, until, staleStatus });
    };
    return new TrackedStream(tracker, () => unwrapping(open(this)));
  }

  follow(taskId: string, options: FollowOptions = {}): TaskStream {
    const tracker = new TaskTracker(options.after, this.settings.maxTaskBytes);
    const following: Following = {
      taskId,
      tracker,
      until: options.until ?? "terminal",
      signal: this.#signal(options),
      wakeUp: new WakeUp(),
      ...this.#followSettings(options),
    };
    return new TrackedStream(tracker, () => unwrapping(followEvents(this, following)));
  }

  sendMessage(
    input: Input,
    options: SendOptions & { readonly returnImmediately?: boolean } = {},
  ): Promise<SendMessageResponse> {
    return this.#unwrapped(async () => {
      const { requestTimeoutMs, retry, randomId } = this.settings;
      const request = createSendRequest(input, options, randomId);
      const sending = {
        headers: options.headers ?? {},
        signal: this.#signal(options),
        key: this.#key(options),
        timeoutMs: options.returnImmediately === true ? requestTimeoutMs : retry.giveUpAfterMs,
      };
      return this.#withDrift(async () => {
        this.#check(input, options);
        return sendOnce(this, request, sending);
      });
    });
  }

  getTask(taskId: string, options: CallOptions & { readonly historyLength?: number } = {}): Promise<Task> {
    const { historyLength } = options;
    const request = { id: taskId, ...(historyLength === undefined ? {} : { historyLength }) };
    return this.#repeat(options, async (call) => checkTask(await this.rpc.getTask(request, call), taskId));
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
        const page = await this.#repeat(options, (call) =>
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
    return this.#repeat(options, async (call) => checkTask(await this.rpc.cancelTask(request, call), taskId));
  }

  createPushConfig(
    taskId: string,
    config: PushConfigInput,
    options: CallOptions = {},
  ): Promise<TaskPushNotificationConfig> {
    // Named here, so that a repeat replaces it instead of adding another one (requirement A-53).
    const named = createPushConfig({ ...config, id: config.id ?? this.settings.randomId() }, taskId);
    return this.#push(options, (call) => this.rpc.createTaskPushNotificationConfig(named, call));
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

  getExtendedCard(options: CallOptions = {}): Promise<AgentCard> {
    return this.#unwrapped(async () => {
      if (this.card.capabilities?.extendedAgentCard !== true) {
        throw new RequirementError("The agent's card declares no extended card.", ["extendedAgentCard"]);
      }
      const card = await this.#repeat(options, (call) => this.rpc.getExtendedAgentCard({}, call));
      await this.#judgeCard(card, toJsonString(AgentCardSchema, card));
      this.#extendedCard = card;
      return card;
    });
  }

  async inspectDelivery(response: StreamResponse): Promise<void> {
    if (this.#options.inspect !== undefined) {
      await inspectContent(response, this.#options.inspect);
    }
  }

  async close(): Promise<void> {
    this.#closed.abort(new ConnectError("the client was closed", Code.Canceled));
    this.#link.close();
    await this.#options.platform?.close?.();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Sends and follows, once more with the new card when the card had changed and nothing was taken. */
  async *#send(
    input: Input,
    options: SendOptions & PollOptions & { readonly deadline?: Date; readonly push?: RunOptions["push"] },
    following: Pick<Following, "tracker" | "wakeUp" | "signal" | "until" | "staleStatus">,
  ): AsyncGenerator<StreamResponse, void> {
    const sending: Sending = {
      request: createSendRequest(input, options, this.settings.randomId),
      key: this.#key(options),
      ...this.#followSettings(options),
      ...following,
    };
    const receiver = this.card.capabilities?.pushNotifications === true ? options.push : undefined;
    const send = () =>
      receiver === undefined ? sendAndFollow(this, sending) : sendAndListen(this, sending, receiver);
    try {
      this.#check(input, options);
      yield* send();
    } catch (error) {
      if (following.tracker.task !== undefined) {
        throw error;
      }
      const changes = await this.#adoptNewCard(error);
      try {
        this.#check(input, options);
        yield* send();
      } catch (again) {
        throw this.#driftError(changes, again);
      }
    }
  }

  async #answer(input: Input, options: RunOptions, signal: AbortSignal): Promise<void> {
    const { requestTimeoutMs, randomId } = this.settings;
    const request = createSendRequest(input, { returnImmediately: true }, randomId);
    const key = this.honoursKeys ? randomId() : undefined;
    const headers = options.headers ?? {};
    await sendOnce(this, request, { headers, signal, key, timeoutMs: requestTimeoutMs });
  }

  /** Parts that the skill does not take are not sent. */
  #check(input: Input, { skill }: SendOptions): void {
    if (this.#options.checkInputModes === false) {
      return;
    }
    const { parts } = toInputMessage(input);
    checkInputModes(this.card, createSendRequest({ parts }, {}, () => "-").message?.parts ?? [], skill);
  }

  /** The status that a task has before a message goes to it, where the agent might show it once more afterwards. */
  async #staleStatus(input: Input, signal: AbortSignal): Promise<TaskStatus | undefined> {
    const { taskId } = toInputMessage(input);
    if (taskId === undefined || this.honoursKeys) {
      return undefined;
    }
    const task = await this.getTask(taskId, { historyLength: 0, signal });
    // A task that has ended refuses the message, and says so itself.
    return task.status !== undefined && isTerminal(task.status.state) ? undefined : task.status;
  }

  /** Unnumbered streams may have left something out. */
  async #finalTask(task: Task, tracker: TaskTracker): Promise<Task> {
    if (tracker.position !== undefined) {
      return task;
    }
    const now = await this.getTask(task.id).catch(() => task);
    return now.status !== undefined && isTerminal(now.status.state) ? now : task;
  }

  readArtifacts(task: Task): readonly ArtifactReader[] {
    const { platform, untrusted = false } = this.#options;
    const fetch = untrusted ? platform?.guardedFetch : (this.#options.fetch ?? platform?.fetch);
    const maxBytes = this.#options.maxResponseBytes ?? 64 * 1024 * 1024;
    return task.artifacts.map((artifact) =>
      createArtifactReader(artifact, {
        maxBytes,
        ...(fetch === undefined ? {} : { fetch }),
        ...(platform?.saveFile === undefined ? {} : { saveFile: platform.saveFile }),
      }),
    );
  }

  #key({ idempotencyKey }: SendOptions): string | undefined {
    return idempotencyKey ?? (this.honoursKeys ? this.settings.randomId() : undefined);
  }

  #signal({ signal }: CallOptions): AbortSignal {
    return signal === undefined ? this.#closed.signal : AbortSignal.any([signal, this.#closed.signal]);
  }

  #followSettings(options: PollOptions & CallOptions) {
    return {
      headers: options.headers ?? {},
      pollIntervalMs:
        options.pollIntervalMs === undefined
          ? choosePollInterval({}, () => {})
          : choosePollInterval(options, this.settings.onWarning),
    };
  }

  /** A call that may be repeated. */
  #repeat<T>(options: CallOptions, call: (options: RpcOptions) => Promise<T>): Promise<T> {
    const signal = this.#signal(options);
    const settings = { signal, timeoutMs: this.settings.requestTimeoutMs, headers: options.headers ?? {} };
    return this.#unwrapped(() => repeatCall(() => call(settings), this.settings, signal));
  }

  #push<T>(options: CallOptions, call: (options: RpcOptions) => Promise<T>): Promise<T> {
    if (this.card.capabilities?.pushNotifications !== true) {
      return Promise.reject(
        new RequirementError("The agent's card declares no push notifications.", ["pushNotifications"], {
          hint: "Follow the task by stream or by polling instead.",
        }),
      );
    }
    return this.#repeat(options, call);
  }

  async #withDrift<T>(send: () => Promise<T>): Promise<T> {
    try {
      return await send();
    } catch (error) {
      const changes = await this.#adoptNewCard(error);
      try {
        return await send();
      } catch (again) {
        throw this.#driftError(changes, again);
      }
    }
  }

  /**
   * Asks for the card again when a failure looks as if it had changed.
   *
   * @returns what has changed; the new card is in use then
   * @throws `failure` when it is about something else, or the card is the same; CardDriftError when the new one will not do
   */
  async #adoptNewCard(failure: unknown): Promise<readonly string[]> {
    if (!smellsOfDrift(failure)) {
      throw failure;
    }
    const changes = await this.#findChanges();
    if (changes === undefined) {
      throw failure;
    }
    try {
      const link = await this.#relink(changes.resolved);
      this.#link.close();
      this.#link = link;
      this.#extendedCard = undefined;
    } catch (error) {
      throw this.#driftError(changes.sentences, error, changes.resolved.card);
    }
    this.settings.onWarning(`The agent's card has changed: ${changes.sentences.join(" ")}`);
    return changes.sentences;
  }

  async #findChanges(): Promise<
    { readonly resolved: ResolvedCard; readonly sentences: readonly string[] } | undefined
  > {
    const resolved = await this.#resolver.refresh(this.#closed.signal).catch(() => undefined);
    const sentences = resolved === undefined ? [] : describeChanges(this.#link.resolved.card, resolved.card);
    return resolved === undefined || sentences.length === 0 ? undefined : { resolved, sentences };
  }

  #driftError(changes: readonly string[], cause: unknown, card: AgentCard = this.card): CardDriftError {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new CardDriftError(
      `The agent's card has changed, and the call does not fit it any more: ${changes.join(" ")} ${reason}`,
      changes,
      card,
      { hint: "Connect again, and adapt the call to the new card.", cause },
    );
  }

  /** A task that was rejected for want of its skill, when the card has changed meanwhile. */
  async #explainRejection(error: unknown): Promise<unknown> {
    if (!(error instanceof TaskRejectedError) || error.reason !== "unsupported-skill") {
      return error;
    }
    const changes = await this.#findChanges();
    return changes === undefined ? error : this.#driftError(changes.sentences, error, changes.resolved.card);
  }

  async #unwrapped<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw explainFailure(error);
    }
  }
}

async function* unwrapping<T>(events: AsyncGenerator<T, void>): AsyncGenerator<T, void> {
  try {
    yield* events;
  } catch (error) {
    throw explainFailure(error);
  }
}

/** Failures of a submission that a changed card explains. None of them has left a task behind. */
function smellsOfDrift(error: unknown): boolean {
  if (error instanceof RequirementError || error instanceof InputModeError) {
    return true;
  }
  const reason = findA2AError(error)?.reason;
  return (
    reason === "CONTENT_TYPE_NOT_SUPPORTED" ||
    reason === "VERSION_NOT_SUPPORTED" ||
    reason === "EXTENSION_SUPPORT_REQUIRED" ||
    (error instanceof ConnectError && error.code === Code.Unimplemented)
  );
}
