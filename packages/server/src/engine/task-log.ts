import { countFirst, decodeMessage, encodeMessage, type TaskStep } from "@a2a-connect/core/internal";
import {
  type Message,
  MessageSchema,
  type StreamResponse,
  StreamResponseSchema,
  type TaskPushNotificationConfig,
} from "@a2a-connect/proto";
import { Code, ConnectError } from "@connectrpc/connect";
import type {
  EntryKind,
  LogEntry,
  LogEvent,
  LogTail,
  Owner,
  Snapshot,
  TaskIndex,
  TaskKey,
} from "../store/task-store.ts";
import type { EngineContext } from "./engine-context.ts";
import type { TaskName } from "./events.ts";
import { weighStep } from "./memory-weight.ts";

/** A step of the fold with its encoding, made once when it is accepted. */
export interface EncodedStep {
  readonly step: TaskStep;
  readonly kind: EntryKind;
  readonly payload: Uint8Array;
  /** What it takes in memory, about, in bytes. */
  readonly weight: number;
}

const eventKinds = { task: "task", statusUpdate: "status", artifactUpdate: "artifact" } as const;

/** An event of a task, encoded for the log. */
export function encodeEvent(response: StreamResponse): EncodedStep {
  const { payload } = response;
  if (payload.case === undefined || payload.case === "message") {
    throw new Error("a log contains only tasks and their updates");
  }
  return encoded(payload, eventKinds[payload.case], encodeMessage(StreamResponseSchema, response));
}

/** A caller's message, encoded for the log. */
export function encodeInput(message: Message): EncodedStep {
  return encoded({ case: "input", value: message }, "input", encodeMessage(MessageSchema, message));
}

function encoded(step: TaskStep, kind: EntryKind, payload: Uint8Array): EncodedStep {
  return { step, kind, payload, weight: weighStep(step, payload.length).weight };
}

/** The wire event that an entry holds. */
export function decodeEvent(event: LogEvent): StreamResponse {
  return decodeMessage(StreamResponseSchema, event.payload);
}

/** An entry that was accepted, on its way to the store. */
export interface PendingEntry extends EncodedStep {
  readonly entry: LogEntry;
  /** What callers see of it; undefined for what they never see. */
  readonly response: StreamResponse | undefined;
}

/** Whose log it is. */
interface LogPlace {
  readonly owner: Owner;
  readonly name: TaskName;
  /** The caller whose task it is; undefined: not known. */
  readonly share: string | undefined;
}

/** What a log needs of its task. */
interface LoggedTask {
  /** The row of the task, after everything accepted. */
  index(): TaskIndex;
  /** What is to be stored with a batch; undefined when no snapshot is due. @param sequence of its last entry */
  snapshot(batch: readonly PendingEntry[], sequence: number): Promise<Snapshot> | undefined;
  /** A batch is durable. */
  publish(batch: readonly PendingEntry[], withSnapshot: boolean): void;
  /** A commit has failed. */
  lose(error: unknown): void;
}

const none: readonly PendingEntry[] = [];

interface Flushing {
  readonly sequence: number;
  readonly resolve: () => void;
  readonly reject: (why: ConnectError) => void;
}

/**
 * The way of a task's entries to the store. One commit runs at a time, and what is accepted meanwhile goes into the
 * next.
 */
export class TaskLog {
  readonly #context: EngineContext;
  readonly #place: LogPlace;
  readonly #task: LoggedTask;
  #accepted: LogTail = { sequence: 0, generation: 0 };
  #committed: LogTail = this.#accepted;
  /** 0: not claimed by this process yet. */
  #fence: number;
  #pending: PendingEntry[] = [];
  /** What the running commit has. */
  #underWay: readonly PendingEntry[] = none;
  #pendingBytes = 0;
  #configs: readonly TaskPushNotificationConfig[] = [];
  #keys: readonly TaskKey[] = [];
  /** Those who wait for the entry of a sequence, in its order. */
  readonly #flushing: Flushing[] = [];
  #committing = false;
  #committedAt = 0;
  /** Ends the wait for more chunks. */
  #hurry: (() => void) | undefined;
  #takenOver = false;
  #failure: ConnectError | undefined;

  /** @param isNew whether this process creates the task; another one is claimed before its first write */
  constructor(context: EngineContext, place: LogPlace, isNew: boolean, task: LoggedTask) {
    this.#context = context;
    this.#place = place;
    this.#task = task;
    this.#fence = isNew ? 1 : 0;
  }

  /** The task was read from the store, with everything up to here. */
  load(tail: LogTail): void {
    this.#committed = tail;
    this.#accepted = tail;
  }

  /** This process may write from now on. */
  claim(fence: number): void {
    this.#fence = fence;
  }

  get isClaimed(): boolean {
    return this.#fence !== 0;
  }

  /** Whether a commit was refused, because another process has claimed the task. */
  get takenOver(): boolean {
    return this.#takenOver;
  }

  /** The end of what was accepted, committed or not. */
  get accepted(): LogTail {
    return this.#accepted;
  }

  /** The end of what is durable. */
  get committed(): LogTail {
    return this.#committed;
  }

  /** Whether an executor should wait before it yields more. */
  get isFull(): boolean {
    const { maxUncommitted, maxUncommittedBytes } = this.#context.limits;
    return this.#pending.length >= maxUncommitted || this.#pendingBytes >= maxUncommittedBytes;
  }

  /** Resolves when everything accepted so far is durable and callers can see it. @throws ConnectError the reason of `fail` */
  flushed(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const { sequence } = this.#accepted;
    if (this.#committed.sequence >= sequence) return Promise.resolve();
    this.#hurry?.();
    return new Promise((resolve, reject) => this.#flushing.push({ sequence, resolve, reject }));
  }

  /** What was accepted and is not durable yet never will be. */
  fail(why: ConnectError): void {
    this.#failure = why;
    for (const { reject } of this.#flushing.splice(0)) reject(why);
  }

  /** Goes into the same commit as what was appended just before, because no code awaits in between. */
  register(configs: readonly TaskPushNotificationConfig[], keys: readonly TaskKey[]): void {
    this.#configs = [...this.#configs, ...configs];
    this.#context.stored.countConfigs(this.#place.share, configs, this.#context);
    this.#keys = [...this.#keys, ...keys];
  }

  /** Adds an entry, which goes into the next commit. @param response what callers see of it */
  append(encoded: EncodedStep, response: StreamResponse | undefined): void {
    const { kind, payload } = encoded;
    const sequence = this.#accepted.sequence + 1;
    const generation = response === undefined ? undefined : this.#accepted.generation + 1;
    this.#accepted = { sequence, generation: generation ?? this.#accepted.generation };
    this.#pending.push({ ...encoded, response, entry: { sequence, generation, kind, payload } });
    this.#pendingBytes += payload.length;
    this.#context.stored.accept(this.#place.share, payload.length, this.#context);
    if (kind !== "artifact" || this.isFull) {
      this.#hurry?.();
    }
    if (!this.#committing) {
      this.#committing = true;
      void this.#commitAll();
    }
  }

  async #commitAll(): Promise<void> {
    const { clock } = this.#context;
    try {
      // In this way a short turn of an agent (created, working, an artifact, completed) is one commit.
      await clock.nextTurn();
      while (this.#pending.length > 0) {
        await this.#gatherChunks();
        const batch = this.#pending;
        this.#underWay = batch;
        this.#pending = [];
        this.#pendingBytes = 0;
        this.#committedAt = clock.now();
        const { tail, withSnapshot } = await this.#commit(batch);
        this.#settle(batch);
        this.#underWay = none;
        // With no await in between: no code must see one of these without the others.
        this.#committed = tail;
        this.#task.publish(batch, withSnapshot);
        const durable = countFirst(this.#flushing, ({ sequence }) => sequence <= tail.sequence);
        for (const { resolve } of this.#flushing.splice(0, durable)) resolve();
      }
    } catch (error) {
      this.#task.lose(error);
      this.#settle([...this.#underWay, ...this.#pending]);
    } finally {
      this.#committing = false;
    }
  }

  #settle(entries: readonly PendingEntry[]): void {
    this.#context.stored.settle(entries, this.#context);
  }

  /**
   * Lets chunks that follow each other closely share a commit: the next commit waits for `chunkIntervalMs`, unless
   * there is something else to commit or the executor waits for room.
   */
  async #gatherChunks(): Promise<void> {
    const { clock, limits } = this.#context;
    const onlyChunks = !this.isFull && this.#pending.every(({ kind }) => kind === "artifact");
    if (onlyChunks && clock.now() - this.#committedAt < limits.chunkIntervalMs) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const cancel = clock.schedule(limits.chunkIntervalMs, resolve);
      this.#hurry = resolve;
      await promise;
      this.#hurry = undefined;
      cancel();
    }
  }

  async #commit(
    batch: readonly PendingEntry[],
  ): Promise<{ readonly tail: LogTail; readonly withSnapshot: boolean }> {
    const [pushConfigs, keys] = [this.#configs, this.#keys];
    this.#configs = [];
    this.#keys = [];
    const sequence = batch.at(-1)?.entry.sequence ?? this.#committed.sequence;
    const generation = batch.findLast(({ entry }) => entry.generation !== undefined)?.entry.generation;
    const index = this.#task.index(); // before it waits: more may be accepted then
    const snapshot = await this.#task.snapshot(batch, sequence);
    const result = await this.#context.store.commit({
      owner: this.#place.owner,
      taskId: this.#place.name.taskId,
      expectedSequence: this.#committed.sequence,
      fence: this.#fence,
      entries: batch.map(({ entry }) => entry),
      index,
      snapshot,
      pushConfigs,
      keys,
      share: this.#place.share,
    });
    if ("refused" in result) {
      this.#takenOver = true; // also for a key that is taken: `KeyedSends` then gives the caller the first task
      throw new ConnectError("another server has taken over this task; try again", Code.Unavailable);
    }
    if (result.deliveryDue) {
      const { owner, name, share } = this.#place;
      this.#context.onDeliveryDue({ owner, taskId: name.taskId, share });
    }
    const tail = { sequence, generation: generation ?? this.#committed.generation };
    return { tail, withSnapshot: snapshot !== undefined };
  }
}
