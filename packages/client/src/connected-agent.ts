import { isTerminal } from "@a2a-connect/core";
import type {
  A2AService,
  AgentCard,
  AgentInterface,
  SendMessageResponse,
  StreamResponse,
  Task,
  TaskStatus,
} from "@a2a-connect/proto";
import { type Client, Code, ConnectError } from "@connectrpc/connect";
import type { AgentClient, TaskStream } from "./agent-client.ts";
import type { AgentLink } from "./agent-link.ts";
import type { CallOptions, FollowOptions, Input, SendOptions } from "./call-options.ts";
import { checkInputModes } from "./card/input-modes.ts";
import type { ClientSettings, Connection } from "./connection.ts";
import { type ArtifactReader, createArtifactReader } from "./content/artifact-reader.ts";
import { inspectContent } from "./content/inspect-interceptor.ts";
import { CardRefusedError } from "./errors.ts";
import { ExtendedCards } from "./extended-cards.ts";
import { type Following, followEvents } from "./follow/follow-events.ts";
import { choosePollInterval, type PollOptions } from "./follow/poll-schedule.ts";
import { TrackedStream } from "./follow/task-stream.ts";
import { TaskTracker } from "./follow/task-tracker.ts";
import { WakeUp } from "./follow/wake-up.ts";
import { fileFetch } from "./interface/file-fetch.ts";
import { AgentOperations } from "./operations/agent-operations.ts";
import type { ConnectOptions } from "./options.ts";
import { sendAndListen } from "./run/push-events.ts";
import { type OpenedRun, type RunHost, runTask } from "./run/run-task.ts";
import type { ResumeOptions, RunOptions, RunResult } from "./run/run-types.ts";
import { type Sending, sendAndFollow } from "./send/send-and-follow.ts";
import { sendOnce } from "./send/send-once.ts";
import { createSendRequest, toInputMessage } from "./send/send-request.ts";

/** What our own calls add to the caller's options for following. */
type OwnFollowing = Pick<Following, "tracker" | "wakeUp" | "signal" | "until" | "staleStatus">;

/** The parts of a connected agent. */
export interface ConnectedAgentParts {
  readonly options: ConnectOptions;
  readonly settings: ClientSettings;
  readonly link: AgentLink;
}

/** The one implementation of AgentClient; see there. */
export class ConnectedAgent extends AgentOperations implements AgentClient, Connection {
  readonly settings: ClientSettings;
  readonly #options: ConnectOptions;
  readonly #closed = new AbortController();
  readonly #link: AgentLink;
  readonly #extended: ExtendedCards;

  constructor({ options, settings, link }: ConnectedAgentParts) {
    super();
    this.#options = options;
    this.settings = settings;
    this.#link = link;
    this.#extended = new ExtendedCards(link, options, settings);
  }

  get card(): AgentCard {
    return this.#extended.card ?? this.#link.current.resolved.card;
  }

  get cardWarnings(): readonly string[] {
    return this.#link.current.resolved.warnings;
  }

  get interface(): AgentInterface {
    return this.#link.current.interface().interface;
  }

  get protocolVersion(): string {
    return this.#link.current.interface().protocolVersion;
  }

  get honoursKeys(): boolean {
    return this.#link.current.honoursKeys;
  }

  get rpc(): Client<typeof A2AService> {
    return this.#link.rpc;
  }

  run(input: Input, options: RunOptions = {}): Promise<RunResult> {
    return this.unwrapped(() =>
      this.#conduct(options, input, (following, { deadline, onTaken }) =>
        this.#send(
          input,
          { ...options, ...(deadline === undefined ? {} : { deadline }) },
          following,
          onTaken,
        ),
      ),
    );
  }

  resume(taskId: string, options: ResumeOptions = {}): Promise<RunResult> {
    return this.unwrapped(() =>
      this.#conduct(options, undefined, (following) =>
        followEvents(this, { taskId, ...this.#followSettings(options), ...following }),
      ),
    );
  }

  async #conduct(
    options: ResumeOptions,
    input: Input | undefined,
    open: (following: OwnFollowing, run: OpenedRun) => AsyncGenerator<StreamResponse, void>,
  ): Promise<RunResult> {
    const { clock, maxTaskBytes } = this.settings;
    const tracker = new TaskTracker(undefined, maxTaskBytes);
    const wakeUp = new WakeUp();
    const headers = options.headers ?? {};
    const prepare = (signal: AbortSignal) =>
      input === undefined ? undefined : this.#prepareSend(input, { headers, signal });
    const host: RunHost = {
      clock,
      tracker,
      wakeUp,
      staleStatus: undefined,
      async *open(signal, run) {
        host.staleStatus = await prepare(signal);
        yield* open({ tracker, wakeUp, signal, until: "terminal", staleStatus: host.staleStatus }, run);
      },
      answer: (answer, signal) => this.#answer(answer, headers, signal),
      cancel: (taskId, signal) => this.cancelTask(taskId, { headers, signal }),
      cancelOnce: (taskId, timeoutMs) => {
        const limitMs = Math.min(timeoutMs, this.settings.requestTimeoutMs);
        return this.rpc.cancelTask({ id: taskId }, { headers, timeoutMs: limitMs });
      },
      currentStatus: (taskId, signal) =>
        this.getTask(taskId, { historyLength: 0, headers, signal }).then(
          ({ status }) => status,
          () => undefined, // the response contains it
        ),
      finalTask: (task, signal) => this.#finalTask(task, tracker, { headers, signal }),
      read: (task) => this.readArtifacts(task),
    };
    try {
      return await runTask(host, { ...options, signal: this.signalOf(options) });
    } catch (error) {
      throw await this.#link.explainRejection(error, this.#closed.signal);
    }
  }

  stream(input: Input, options: SendOptions & FollowOptions = {}): TaskStream {
    const tracker = new TaskTracker(options.after, this.settings.maxTaskBytes);
    const open = async function* (
      agent: ConnectedAgent,
      signal: AbortSignal,
    ): AsyncGenerator<StreamResponse, void> {
      const staleStatus = await agent.#prepareSend(input, { headers: options.headers ?? {}, signal });
      const until = options.until ?? "settled";
      yield* agent.#send(input, options, { tracker, wakeUp: new WakeUp(), signal, until, staleStatus });
    };
    return new TrackedStream(tracker, this.signalOf(options), (signal) => open(this, signal));
  }

  follow(taskId: string, options: FollowOptions = {}): TaskStream {
    const tracker = new TaskTracker(options.after, this.settings.maxTaskBytes);
    const following: Omit<Following, "signal"> = {
      taskId,
      tracker,
      until: options.until ?? "terminal",
      wakeUp: new WakeUp(),
      ...this.#followSettings(options),
    };
    return new TrackedStream(tracker, this.signalOf(options), (signal) =>
      followEvents(this, { ...following, signal }),
    );
  }

  sendMessage(
    input: Input,
    options: SendOptions & { readonly returnImmediately?: boolean } = {},
  ): Promise<SendMessageResponse> {
    return this.unwrapped(async () => {
      const { requestTimeoutMs, retry, randomId } = this.settings;
      const request = createSendRequest(input, options, randomId);
      const signal = this.signalOf(options);
      const sending = {
        headers: options.headers ?? {},
        signal,
        timeoutMs: options.returnImmediately === true ? requestTimeoutMs : retry.giveUpAfterMs,
      };
      await this.renewCard(signal, toInputMessage(input).taskId);
      return this.#withDrift(signal, async () => {
        this.#check(input, options);
        return sendOnce(this, request, { ...sending, key: this.#key(options) });
      });
    });
  }

  getExtendedCard(options: CallOptions = {}): Promise<AgentCard> {
    return this.unwrapped(() => this.#extended.get(this.signalOf(options), options.headers));
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

  /**
   * Sends and follows. When the card had changed and the agent took nothing, it sends once more with the new card. The
   * known card was renewed before.
   */
  async *#send(
    input: Input,
    options: SendOptions & PollOptions & { readonly deadline?: Date; readonly push?: RunOptions["push"] },
    following: OwnFollowing,
    onTaken?: (task: Task) => Promise<void>,
  ): AsyncGenerator<StreamResponse, void> {
    const { tracker } = following;
    if (toInputMessage(input).taskId === undefined) {
      tracker.position ??= 0; // no event of a new task is known
    }
    const settings = {
      request: createSendRequest(input, options, this.settings.randomId),
      ...this.#followSettings(options),
      ...following,
    };
    const send = () => {
      const sending: Sending = { ...settings, key: this.#key(options) };
      const receiver = this.card.capabilities?.pushNotifications === true ? options.push : undefined;
      return receiver === undefined
        ? sendAndFollow(this, sending)
        : sendAndListen(this, sending, receiver, onTaken);
    };
    const used = this.#link.current;
    try {
      this.#check(input, options);
      yield* send();
    } catch (error) {
      if (tracker.taskId !== undefined) {
        throw error; // the agent took it
      }
      const changes = await this.#link.adoptNewCard(error, used, following.signal);
      try {
        this.#check(input, options);
        yield* send();
      } catch (again) {
        throw this.#link.driftError(changes, again);
      }
    }
  }

  async #answer(input: Input, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void> {
    const { requestTimeoutMs, randomId } = this.settings;
    await this.renewCard(signal, toInputMessage(input).taskId);
    const request = createSendRequest(input, { returnImmediately: true }, randomId);
    const key = this.honoursKeys ? randomId() : undefined;
    await sendOnce(this, request, { headers, signal, key, timeoutMs: requestTimeoutMs });
  }

  /** Parts that the skill does not accept are not sent. */
  #check(input: Input, { skill }: SendOptions): void {
    if (this.#options.checkInputModes === false) {
      return;
    }
    const { parts } = toInputMessage(input);
    checkInputModes(this.card, createSendRequest({ parts }, {}, () => "-").message?.parts ?? [], skill);
  }

  /**
   * Call it before a message is sent whose task is followed by a stream.
   *
   * @returns the task's current status, in case the agent sends it once more afterwards
   */
  async #prepareSend(
    input: Input,
    options: CallOptions & { readonly signal: AbortSignal },
  ): Promise<TaskStatus | undefined> {
    const { taskId } = toInputMessage(input);
    await this.renewCard(options.signal, taskId);
    if (taskId === undefined || this.honoursKeys) {
      return undefined;
    }
    const task = await this.getTask(taskId, { ...options, historyLength: 0 });
    // A task that has ended refuses the message with an error of its own.
    return task.status !== undefined && isTerminal(task.status.state) ? undefined : task.status;
  }

  /** Streams without numbers may have lost events. */
  async #finalTask(task: Task, tracker: TaskTracker, options: CallOptions): Promise<Task> {
    if (tracker.isExact) {
      return task;
    }
    const now = await this.getTask(task.id, options).catch(() => task);
    return now.status !== undefined && isTerminal(now.status.state) ? now : task;
  }

  readArtifacts(task: Task): readonly ArtifactReader[] {
    const { platform, maxResponseBytes = 64 * 1024 * 1024 } = this.#options;
    const services = {
      saveFile: platform?.saveFile,
      fetch: fileFetch(this.#options, this.#link.current.resolved.url),
      maxBytes: maxResponseBytes,
      idleTimeoutMs: this.settings.idleTimeoutMs,
      clock: this.settings.clock,
      signal: this.#closed.signal,
    };
    return task.artifacts.map((artifact) => createArtifactReader(artifact, services));
  }

  protected async renewCard(signal: AbortSignal, taskId?: string): Promise<void> {
    try {
      await this.#link.renew(signal);
      await this.#extended.renew(signal);
    } catch (error) {
      throw taskId === undefined ? error : withTask(error, taskId);
    }
  }

  #key({ idempotencyKey }: SendOptions): string | undefined {
    return idempotencyKey ?? (this.honoursKeys ? this.settings.randomId() : undefined);
  }

  protected signalOf({ signal }: CallOptions): AbortSignal {
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

  async #withDrift<T>(signal: AbortSignal, send: () => Promise<T>): Promise<T> {
    const used = this.#link.current;
    try {
      return await send();
    } catch (error) {
      const changes = await this.#link.adoptNewCard(error, used, signal);
      try {
        return await send();
      } catch (again) {
        throw this.#link.driftError(changes, again);
      }
    }
  }
}

/** The error for a message to a task whose agent's card is refused; other errors stay as they are. */
function withTask(error: unknown, taskId: string): unknown {
  if (!(error instanceof CardRefusedError)) {
    return error;
  }
  const { message, hint, cause } = error;
  const further = `Task ${taskId} can be followed and canceled all the same; resume task ${taskId} once the card is trusted again.`;
  return new CardRefusedError(`${message} Nothing was sent to task ${taskId}, which is still there.`, {
    taskId,
    hint: hint === undefined ? further : `${hint} ${further}`,
    cause,
  });
}
