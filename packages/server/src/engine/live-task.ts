import { a2aError, canTransition, isTerminal, readLifecycleReport } from "@a2a-connect/core";
import {
  applyStep,
  copyTask,
  findArtifact,
  type Holding,
  shareTask,
  stateOf,
} from "@a2a-connect/core/internal";
import { type Message, type Part, type StreamResponse, type Task, TaskState } from "@a2a-connect/proto";
import { Code, ConnectError } from "@connectrpc/connect";
import type { AgentDefinition } from "../agent/agent-definition.ts";
import { readSkill } from "../agent/skill-selection.ts";
import type { LogTail, Owner, TaskIndex } from "../store/task-store.ts";
import { AgentMistake } from "./agent-mistake.ts";
import { OutputRoom } from "./capacity/output-room.ts";
import { alwaysStoredBytes } from "./capacity/stored-bytes.ts";
import { type Command, encodeCommand } from "./command.ts";
import type { EngineContext } from "./engine-context.ts";
import { CommittedEvent, type StatusInit, statusEvent, type TaskName } from "./events.ts";
import { taskBytes } from "./memory-weight.ts";
import { type LoadedTask, readTask, taskNotFound } from "./read-task.ts";
import type { SeenTask } from "./task-handle.ts";
import { type EncodedStep, encodeEvent, encodeInput, type PendingEntry, TaskLog } from "./task-log.ts";
import { type Intake, TaskMessages } from "./task-messages.ts";
import { TaskReaders } from "./task-readers.ts";
import { ArtifactLedger, SnapshotPolicy } from "./task-weight.ts";
import { TaskTimers } from "./timers.ts";

/** Where a task comes from. */
export interface Origin {
  /** The definition that runs it. */
  readonly agent: AgentDefinition;
  readonly owner: Owner;
  /** What the task takes of the memory for tasks: that of the caller that needs it there. */
  readonly memory: Holding;
  /** The caller that has created it; undefined: not known. What is stored of it counts for that caller. */
  readonly caller: string | undefined;
}

/**
 * One task in memory: it takes all its messages and events one after the other, and its readers follow it here.
 *
 * It decides by what it has *accepted*. Everything that callers can *see* (the fold, the tail, waiters) changes only
 * when a commit has returned: durable before visible. One commit runs at a time, and what is accepted meanwhile goes
 * into the next.
 */
export class LiveTask {
  readonly owner: Owner;
  readonly name: TaskName;
  /** The definition under which the task was created, which runs it. */
  readonly agent: AgentDefinition;
  /** Gives callers its committed events. */
  readonly readers: TaskReaders;
  /** What it takes of the memory for tasks; ends when it leaves memory. */
  readonly memory: Holding;
  /** See `Origin`. */
  readonly caller: string | undefined;
  /** The messages that it takes after its first. */
  readonly messages: TaskMessages;
  /** When its executor may put out more. */
  readonly output: OutputRoom;
  readonly #timers: TaskTimers;
  readonly #context: EngineContext;
  readonly #snapshots = new SnapshotPolicy();

  /** The fold of everything committed; undefined until the creation is. */
  #task: Task | undefined;
  /** The copy of it that callers have, as long as one of them does. */
  #seen: WeakRef<SeenTask> | undefined;
  /** Of what came beside messages, such as the metadata of requests: the log keeps it, and of a queued message memory does, too. */
  #detailBytes = 0;
  readonly #log: TaskLog;
  #acceptedState: TaskState;
  readonly #artifacts: ArtifactLedger;
  #claiming: Promise<void> | undefined;

  readonly #lostController = new AbortController();
  #onOutput: (() => void) | undefined;
  #onCommit: (() => void) | undefined;

  private constructor(
    context: EngineContext,
    { agent, owner, memory, caller }: Origin,
    name: TaskName,
    loaded: LoadedTask | undefined,
  ) {
    this.#context = context;
    this.agent = agent;
    this.owner = owner;
    this.memory = memory;
    this.caller = caller;
    this.name = name;
    this.readers = new TaskReaders(context, owner, name);
    this.#artifacts = new ArtifactLedger(context.limits.maxTaskBytes);
    this.#log = new TaskLog(context, { owner, name, share: caller }, loaded === undefined, {
      index: () => this.#index(),
      snapshot: (batch, sequence) =>
        this.#snapshots.due(this.#task, this.#artifacts.bytes, batch, { sequence, share: caller }),
      publish: (batch, withSnapshot) => this.#publish(batch, withSnapshot),
      lose: (error) => this.#lose(error),
    });
    this.#acceptedState = TaskState.UNSPECIFIED;
    this.#timers = new TaskTimers(context.agent);
    this.messages = new TaskMessages(this);
    this.output = new OutputRoom(context, this.#log, memory);
    if (loaded !== undefined) {
      this.#load(loaded);
    }
  }

  /** A new task: `task` is its first event, SUBMITTED with the caller's message in its history. */
  static create(context: EngineContext, origin: Origin, first: StreamResponse, intake: Intake): LiveTask {
    if (first.payload.case !== "task") {
      throw new Error("the first event of a task is the task");
    }
    const { id, contextId } = first.payload.value;
    const live = new LiveTask(context, origin, { taskId: id, contextId }, undefined);
    live.#timers.setDeadline(first.payload.value);
    live.#accept(encodeEvent(first), first);
    live.register(intake, 0);
    return live;
  }

  /** A task read from the store; it is claimed before its first write. */
  static load(context: EngineContext, origin: Origin, loaded: LoadedTask): LiveTask {
    const { taskId, index } = loaded.stored;
    return new LiveTask(context, origin, { taskId, contextId: index.contextId }, loaded);
  }

  /** A copy of the task as callers may see it, for the agent's code: it may change the lists, and the task's stay. */
  copy(): Task {
    return copyTask(this.#visible());
  }

  /** The task as callers may see it, and its current generation. Until it changes, all who wait for it get one copy. */
  seen(): SeenTask {
    let seen = this.#seen?.deref();
    if (seen === undefined) {
      seen = { task: shareTask(this.#visible()), generation: this.generation };
      this.#seen = new WeakRef(seen);
    }
    return seen;
  }

  /** The parts of an artifact, with everything accepted so far; empty when the task has no artifact of that id. */
  async artifactParts(artifactId: string): Promise<readonly Part[]> {
    await this.flushed();
    return (this.#task && findArtifact(this.#task, artifactId)?.parts) ?? [];
  }

  /** Whether an artifact was sealed, and not replaced since; by everything accepted so far. */
  wasSealed(artifactId: string): boolean {
    return this.#artifacts.wasSealed(artifactId);
  }

  /** Aborts when a write was refused or failed: another process has claimed the task, or the store cannot write. */
  get lost(): AbortSignal {
    return this.#lostController.signal;
  }

  /** When it changes by itself; what is set here is stored with the next commit. */
  get timers(): Pick<TaskTimers, "wakeAt" | "questionMs" | "overdueQuestion" | "setAlarm" | "wakeBy"> {
    return this.#timers;
  }

  /** Whether another process has claimed the task and continues it. */
  get takenOver(): boolean {
    return this.#log.takenOver;
  }

  /** About its size in memory. */
  get bytes(): number {
    return this.#snapshots.headBytes + this.#snapshots.progressBytes + this.#artifacts.bytes;
  }

  /** The same without its history and the words of its last status. */
  get bytesBesideHistory(): number {
    return taskBytes + this.#snapshots.progressBytes + this.#artifacts.bytes;
  }

  /** Generation of the newest event that callers may see. */
  get generation(): number {
    return this.#log.committed.generation;
  }

  /** State after everything that was accepted, committed or not. Decisions use it. */
  get acceptedState(): TaskState {
    return this.#acceptedState;
  }

  /** Whether the last committed event ended the task. */
  get ended(): boolean {
    return isTerminal(stateOf(this.#task));
  }

  /**
   * Claims the task. After that, decisions hold, because no commit of another process can come between.
   *
   * @param share who needs it; undefined: not known
   */
  claim(share: string | undefined): Promise<void> {
    if (this.#log.isClaimed) {
      return Promise.resolve();
    }
    this.#claiming ??= this.#claim().finally(() => {
      this.#claiming = undefined;
    });
    return this.#claiming.then(() => this.#context.wakes.calls.turn(share)); // thousands of calls may have waited for it
  }

  /**
   * Emits a status. A status without a message that changes nothing is dropped (docs/architecture.md).
   *
   * @throws AgentMistake when the task would be too large, or the caller has stored its part; never for one that ends it with few words
   */
  emitStatus(init: StatusInit): void {
    const { clock, randomId } = this.#context;
    const hasWords = (init.parts ?? []).length > 0 || Object.keys(init.report ?? {}).length > 0;
    if (init.state === this.#acceptedState && !hasWords) {
      return;
    }
    const at = Math.max(clock.now(), this.#timers.statusAt);
    const event = statusEvent(this.name, init, at, randomId);
    const encoded = encodeEvent(event);
    // Its context is named twice, by 512 characters of three bytes perhaps.
    const isLong = encoded.payload.length > alwaysStoredBytes + 6 * this.name.contextId.length;
    // An accepted answer must be able to continue the task, and a task must be able to end, with few words when it has no more room.
    const isBounded = isTerminal(init.state) ? isLong : hasWords || init.state !== TaskState.WORKING;
    if (isBounded && !this.#hasRoomFor(encoded)) {
      throw new AgentMistake("the task would be too large", "task-too-large");
    }
    if (isBounded || isLong) this.#assertStored();
    this.#acceptOutput(encoded, event, this.bytes);
  }

  /** @throws AgentMistake when the caller has stored its part */
  #assertStored(): void {
    if (!this.isStoreExceeded) return;
    const words = "the tasks of the caller have stored most of what there is room for";
    throw new AgentMistake(words, "capacity");
  }

  /** Whether the caller whose task it is has stored its part of what the store has room for. */
  get isStoreExceeded(): boolean {
    return this.#context.stored.isExceeded(this.caller, this.#context);
  }

  /**
   * Emits an artifact update.
   *
   * @throws AgentMistake when the artifact is sealed, the task would be too large, or the caller has stored its part
   */
  emitArtifact(event: StreamResponse, options: { replaceable: boolean }): void {
    this.#assertStored();
    const encoded = encodeEvent(event);
    const { bytes } = this;
    if (encoded.step.case === "artifactUpdate") {
      this.#artifacts.admit(encoded.step.value, encoded.weight, options.replaceable);
    }
    this.#acceptOutput(encoded, event, bytes);
  }

  /**
   * Takes a message into its history. The caller of this method says in the same turn what the task does with it.
   *
   * @param details what is kept beside the message until its turn, in bytes
   * @throws ConnectError TASK_TOO_LARGE
   */
  acceptMessage(message: Message, details: number): void {
    const input = encodeInput(message);
    if (!this.#hasRoomFor({ weight: input.weight + this.#detailBytes + details })) {
      const { maxTaskBytes } = this.#context.limits;
      throw a2aError("TASK_TOO_LARGE", `the task would be larger than the limit of ${maxTaskBytes} bytes`);
    }
    this.#detailBytes += details;
    this.#timers.setDeadline({ history: [message] });
    this.#accept(input, undefined);
  }

  /** Stores these in the same commit as what was accepted just before. @param generation the consequences of the message begin after it */
  register({ pushConfigs, onRegister, key }: Intake, generation: number): void {
    const { taskId } = this.name;
    onRegister?.(taskId);
    this.#log.register(
      pushConfigs.map((config) => ({ ...config, taskId, id: config.id || taskId })),
      key === undefined ? [] : [{ ...key, generation }],
    );
  }

  /** Adds a note of the engine to the log; callers never see it. */
  note(command: Command): void {
    this.#acceptNote("command", encodeCommand({ ...command, at: this.#context.clock.now() }));
  }

  /** Adds a record of a durable executor's journal to the log; callers never see it. @returns its sequence */
  record(payload: Uint8Array): number {
    this.#acceptNote("journal", payload);
    this.#onOutput?.();
    return this.#log.accepted.sequence;
  }

  /** Calls `onOutput` after each event and each record that is accepted; undefined: nothing any more. */
  watchOutput(onOutput: (() => void) | undefined): void {
    this.#onOutput = onOutput;
  }

  /** Calls `onCommit` before each commit, for which it may still set the alarm; undefined: nothing any more. */
  watchCommits(onCommit: (() => void) | undefined): void {
    this.#onCommit = onCommit;
  }

  /** The end of what was accepted, committed or not. */
  get accepted(): LogTail {
    return this.#log.accepted;
  }

  /** A turn begins again: it may replace its finished artifacts. */
  unsealArtifacts(): void {
    this.#artifacts.unseal();
  }

  /** Resolves when everything accepted so far is durable and visible. @throws ConnectError when it cannot be */
  flushed(): Promise<void> {
    return this.#log.flushed();
  }

  /** Resolves at the first interrupted or terminal event after `generation`. */
  async settledAfter(generation: number, signal: AbortSignal, share: string | undefined): Promise<SeenTask> {
    await this.readers.settledAfter(generation, signal, share);
    return this.seen();
  }

  /** When the task ended (milliseconds since 1970), as committed; undefined while it has not. */
  get endedAt(): number | undefined {
    return this.ended ? this.#timers.statusAt : undefined;
  }

  /** The store has removed the task: its readers get TASK_NOT_FOUND. */
  forget(): void {
    this.#abandon(taskNotFound(this.name.taskId));
  }

  /** Whether the caller's deadline is over at `now`. Returns true once: then the timer is removed. */
  takeDeadline(now: number): boolean {
    const isOver = this.#timers.takeDeadline(now);
    if (isOver) {
      this.note({ type: "deadline-passed" });
    }
    return isOver;
  }

  /** Whether anything of the task is durable yet. */
  get exists(): boolean {
    return this.#task !== undefined;
  }

  /** The skill that was chosen when the task was created. */
  get skill(): string | undefined {
    return this.#task === undefined ? undefined : readSkill(this.#task);
  }

  #visible(): Task {
    if (this.#task === undefined) {
      throw new Error("the creation of this task has not been committed yet");
    }
    return this.#task;
  }

  /** Artifacts are counted separately; so both together may be twice the limit. */
  #hasRoomFor({ weight }: Pick<EncodedStep, "weight">): boolean {
    return this.#snapshots.headBytes + weight <= this.#context.limits.maxTaskBytes;
  }

  #acceptNote(kind: "command" | "journal", payload: Uint8Array): void {
    this.#accept({ step: { case: undefined }, kind, payload, weight: payload.length }, undefined);
  }

  /** @throws when it takes nothing any more */
  assertOpen(): void {
    this.lost.throwIfAborted();
    if (isTerminal(this.#acceptedState)) {
      throw new AgentMistake("the task has ended and accepts no more events");
    }
  }

  #accept(encoded: EncodedStep, response: StreamResponse | undefined): void {
    this.assertOpen();
    const { step } = encoded;
    const status = step.case === "task" || step.case === "statusUpdate" ? step.value.status : undefined;
    if (status !== undefined && step.case !== "task" && !canTransition(this.#acceptedState, status.state)) {
      throw new AgentMistake("the agent yielded a state to which the task cannot change");
    }
    if (status !== undefined) {
      this.#acceptedState = status.state;
      this.#timers.setStatus(status);
    }
    this.#snapshots.accept(encoded, this.#acceptedState);
    this.#log.append(encoded, response);
  }

  /** @param before what the task took, before `admit` has counted an artifact */
  #acceptOutput(encoded: EncodedStep, event: StreamResponse, before: number): void {
    this.#accept(encoded, event);
    this.memory.grow(this.bytes - before);
    this.#onOutput?.();
  }

  #index(): TaskIndex {
    this.#onCommit?.();
    return {
      contextId: this.name.contextId,
      state: this.#acceptedState,
      statusTimestamp: this.#timers.statusAt,
      wakeAt: this.#timers.wakeAt,
    };
  }

  #publish(batch: readonly PendingEntry[], withSnapshot: boolean): void {
    this.#snapshots.stored(batch, withSnapshot);
    this.#seen = undefined;
    for (const { step, weight, response, entry } of batch) {
      const before = this.#task?.status?.state;
      if (step.case !== undefined) {
        this.#task = applyStep(this.#task, step);
      }
      if (this.#context.onState !== undefined) {
        this.#noteState(before);
      }
      if (response !== undefined && entry.generation !== undefined) {
        this.readers.publish(new CommittedEvent(entry.generation, response, weight));
      }
    }
    this.#tellTimer();
    this.readers.wake();
  }

  #tellTimer(): void {
    const { owner, name, timers } = this;
    this.#context.onTimer({ owner, taskId: name.taskId }, timers.wakeAt);
  }

  #noteState(before: TaskState | undefined): void {
    const status = this.#task?.status;
    if (status !== undefined && status.state !== before) {
      const { owner, name, skill } = this;
      const reason = readLifecycleReport(status.message?.metadata).reason;
      this.#context.onState?.({ owner, ...name, skill, before, after: status.state, reason });
    }
  }

  #lose(error: unknown): void {
    this.#context.log({
      level: "error",
      message: "a task could not be written",
      taskId: this.name.taskId,
      error,
    });
    this.#abandon(
      error instanceof ConnectError ? error : new ConnectError("the task store failed", Code.Unavailable),
    );
    // The store may have written the commit, and only its answer is lost. The store then knows a webhook that is due and the
    // task's next timer, and nothing else looks at them.
    const { owner, name, caller } = this;
    this.#context.onDeliveryDue({ owner, taskId: name.taskId, share: caller });
    if (this.timers.wakeAt !== undefined) this.#tellTimer();
  }

  #abandon(why: ConnectError): void {
    this.#log.fail(why);
    this.readers.fail(why);
    this.#lostController.abort(why);
  }

  async #claim(): Promise<void> {
    const { owner } = this;
    const { taskId } = this.name;
    const { store, reads } = this.#context;
    const claimed = await store.claim(owner, taskId, this.caller);
    if (claimed !== undefined && claimed.tail.sequence !== this.#log.committed.sequence) {
      // Another process had it since it was read. Calls may wait for this, and their caller's reads must not keep them waiting.
      await reads.loads.run({ share: this.caller }, async () => {
        const stored = await store.find(owner, taskId, "full");
        if (stored === undefined) throw taskNotFound(taskId);
        this.#load(await readTask(this.#context, stored, "full"));
      });
    }
    if (claimed === undefined) throw taskNotFound(taskId);
    this.#log.claim(claimed.fence);
  }

  #load(loaded: LoadedTask): void {
    const { stored, task } = loaded;
    const { index } = stored;
    this.#task = task;
    this.#seen = undefined;
    this.#log.load(stored.tail);
    this.#acceptedState = index.state;
    if (task.status !== undefined) {
      this.#timers.setStatus(task.status);
    }
    this.#timers.setDeadline(task);
    this.#timers.setAlarm(undefined);
    if (index.wakeAt !== this.#timers.wakeAt) {
      this.#timers.setAlarm(index.wakeAt); // an executor's timer: it sets the next one when it runs again
    }
    this.#snapshots.load(loaded);
    this.#artifacts.load(loaded.task.artifacts, loaded.artifactBytes);
    this.readers.load(stored.tail.generation, index.state);
  }
}
