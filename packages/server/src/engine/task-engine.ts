import { nextSlice } from "@a2a-connect/bindings/server";
import { a2aError, isTerminal } from "@a2a-connect/core";
import { type Reader, ReadTurns, type SharedBudget, untilAborted } from "@a2a-connect/core/internal";
import { type TaskPushNotificationConfig, TaskState } from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import type { AgentDefinition } from "../agent/agent-definition.ts";
import { copyGrant, type Grant } from "../agent/grant.ts";
import { ServedAgent } from "../agent/served-agent.ts";
import type { TaskQuery, TaskRef, TaskView } from "../store/task-store.ts";
import { AbandonedCode } from "./capacity/abandoned-code.ts";
import type { CallerBudgets } from "./capacity/caller-budgets.ts";
import { KnownCallers } from "./capacity/known-callers.ts";
import { ReadBacks } from "./capacity/read-backs.ts";
import { alwaysStoredBytes } from "./capacity/stored-bytes.ts";
import { TaskReadTurns } from "./capacity/task-read-turns.ts";
import { createJournalCodec } from "./durable/journal-codec.ts";
import type { EngineContext } from "./engine-context.ts";
import { EventPages } from "./event-pages.ts";
import { Executions } from "./executions.ts";
import { assertEventExists, type Caller, HeldTasks, LiveTasks } from "./live-tasks.ts";
import { weighDetails } from "./memory-weight.ts";
import { type CountBytes, taskNotFound } from "./read-task.ts";
import { Sends } from "./sends.ts";
import type { EndedTaskReader, SeenTask, TaskHandle } from "./task-handle.ts";
import { type ListedTasks, TaskLists } from "./task-lists.ts";
import { TaskReaders } from "./task-readers.ts";
import { type SourceFor, TaskReads } from "./task-reads.ts";
import { WakeTimers } from "./wake-timers.ts";
import { findWakes } from "./wakes.ts";

/** The options of an engine are its context without what the engine adds itself, and what its callers have together. */
export interface TaskEngineOptions
  extends Omit<
    EngineContext,
    | "onTimer"
    | "tailBudget"
    | "stored"
    | "wakes"
    | "memoryTurns"
    | "stopTurns"
    | "beginTurns"
    | "operations"
    | "abandoned"
    | "eventPages"
    | "reads"
    | "readBacks"
    | "journalCodec"
    | "served"
  > {
  readonly budgets: CallerBudgets;
}

/** Memory up to which a push config does not count that waits to be stored. */
const shortConfigBytes = 1024;

/**
 * Runs tasks: takes messages, starts executions, answers cancels, wakes timers. It makes no decision about a single
 * task's state (its `LiveTask` does) and knows no wire.
 */
export class TaskEngine {
  /** Takes messages. */
  readonly sends: Sends;
  /** Of all gets and lists together one slice is decoded in a turn of the event loop; their callers take turns. */
  readonly #reads: TaskReads;
  readonly #lists: TaskLists;
  readonly #context: EngineContext;
  readonly #tasks: LiveTasks;
  readonly #executions: Executions;
  readonly #timers: WakeTimers;
  readonly #held: HeldTasks;
  readonly #followers: SharedBudget;
  readonly #active: SharedBudget;
  readonly #configTurns: ReadTurns;

  constructor(options: TaskEngineOptions) {
    const { store, budgets, ...given } = options;
    const clockFor = (share: string | undefined) => ({ nextTurn: () => nextSlice(share, "read") });
    const wakes = findWakes(options.clock);
    const callers = new KnownCallers(options.nameOwner);
    const callerOf = (task: TaskRef) => this.#tasks.callerOf(task);
    this.#timers = new WakeTimers({ ...options, callerOf }, (task, onPutOff) =>
      this.#executions.wake(task, onPutOff),
    );
    this.#context = {
      ...given,
      store,
      served: new ServedAgent(options.agent),
      onTimer: (task, wakeAt) => this.#timers.note(task, wakeAt),
      journalCodec: createJournalCodec(options.agent.journalTypes),
      tailBudget: budgets.tails,
      stored: budgets.stored,
      wakes,
      memoryTurns: budgets.memoryTurns,
      stopTurns: budgets.stopTurns,
      beginTurns: budgets.beginTurns,
      operations: budgets.operations,
      abandoned: new AbandonedCode(budgets.active, options.clock, () => budgets.tellRoom()),
      eventPages: new EventPages(store, budgets.eventPages, clockFor, wakes.reads),
      reads: {
        tasks: new TaskReadTurns(store, { pace: wakes.reads }),
        lists: new ReadTurns(2, { pace: wakes.reads }),
        // Not shared by agents: a store may hang. Most journals have their turn of `readBacks` by then; other reads have one page.
        loads: new ReadTurns(4, { pace: wakes.reads }),
      },
      readBacks: new ReadBacks(budgets.active, options.clock, budgets.readBackLines),
    };
    this.#followers = budgets.followers;
    this.#active = budgets.active;
    this.#configTurns = new ReadTurns(2, { pace: wakes.reads });
    this.#tasks = new LiveTasks(this.#context, budgets, callers);
    this.#held = new HeldTasks(this.#tasks, this.#followers);
    const sourceFor: SourceFor = (share) => ({ store, clock: clockFor(share) });
    this.#reads = new TaskReads(sourceFor, store);
    this.#lists = new TaskLists(this.#context, sourceFor);
    this.#executions = new Executions(this.#context, this.#tasks);
    this.sends = new Sends(this.#context, this.#tasks, this.#held, this.#executions, budgets.active);
  }

  /**
   * Reads what `start` reads first of each kind, and changes nothing.
   *
   * @throws the error of the store: with a start that fails after it has taken up tasks, these would be interrupted
   */
  async checkStore(): Promise<void> {
    const { store } = this.#context;
    for (const hasTimer of [false, true]) await store.unfinished({ hasTimer, after: undefined, limit: 1 });
    await store.due(Number.MAX_SAFE_INTEGER, 1, undefined);
  }

  /**
   * Takes up the unfinished tasks of an earlier process (see `Recovery`) and sets the timers. Call it before serving.
   */
  async start(): Promise<void> {
    await this.#executions.recoverAll();
    await this.#timers.start();
  }

  /**
   * The agent has another card from now on; nothing else of it may differ. New tasks get the skills of that card. Tasks whose
   * skill is gone from it go on until the process ends.
   */
  useCard(agent: AgentDefinition): void {
    this.#context.served.useCard(agent);
    this.#executions.useCard(agent);
  }

  /**
   * The owner's task, with at least what the view has.
   *
   * @param count gets the number of bytes that the task takes in memory; may throw
   * @throws ConnectError TASK_NOT_FOUND
   */
  async get(caller: Caller, taskId: string, view: TaskView, count: CountBytes): Promise<SeenTask> {
    const { owner } = caller;
    const live = this.#tasks.peek(owner, taskId);
    if (live?.exists === true) {
      count(live.bytes);
      return live.seen();
    }
    const { tasks } = this.#context.reads;
    return tasks.read({ owner, taskId }, caller, () => this.#reads.read(caller, taskId, view, count));
  }

  /**
   * The owner's task as soon as its generation is above `generation` or it has ended; after `timeoutMs` the current
   * task (requirement R-3).
   *
   * @throws ConnectError TASK_NOT_FOUND, CAPACITY, or why `signal` aborted
   */
  async getNewer(
    caller: Caller,
    taskId: string,
    generation: bigint,
    {
      timeoutMs,
      signal,
      count,
    }: { readonly timeoutMs: number; readonly signal: AbortSignal; readonly count: CountBytes },
  ): Promise<SeenTask> {
    const { live, release } = await this.#held.acquire(caller, taskId);
    const expiry = new AbortController();
    const stopTimer = this.#context.clock.schedule(timeoutMs, () => expiry.abort());
    try {
      await live.readers.newerThan(generation, AbortSignal.any([signal, expiry.signal]), caller.share);
    } catch (error) {
      if (!expiry.signal.aborted || signal.aborted) {
        throw error;
      }
    } finally {
      stopTimer();
      release();
    }
    count(live.bytes);
    return live.seen();
  }

  /** One page of the owner's tasks, folded. @param count as for `get` */
  list(query: TaskQuery, reader: Reader, count: CountBytes): Promise<ListedTasks> {
    return this.#context.reads.lists.run(reader, () => this.#lists.page(query, reader.share, count));
  }

  /**
   * A task to read. Without `lastEventId`: the current task, then its later events. With it, for a reader that has the
   * events up to there: the events after it, also when the task has ended.
   *
   * @throws ConnectError TASK_NOT_FOUND; InvalidArgument when there is no such event yet; UNSUPPORTED_OPERATION when
   *   the task has ended and no event was named
   */
  async subscribe(
    caller: Caller,
    taskId: string,
    lastEventId?: number,
  ): Promise<TaskHandle | EndedTaskReader> {
    const rest = lastEventId === undefined ? undefined : await this.#endedRest(caller, taskId, lastEventId);
    if (rest !== undefined) return rest;
    const held = await this.#held.acquire(caller, taskId);
    if (lastEventId === undefined && held.live.ended) {
      held.release();
      throw a2aError("UNSUPPORTED_OPERATION", "the task has ended: there is nothing to subscribe to", {
        taskId,
      });
    }
    return this.#held.attach(held, lastEventId ?? held.live.generation, lastEventId);
  }

  /**
   * The events of an ended task that its caller still lacks, read from the log page by page: the task itself, which may be
   * large, is not read. Undefined for a task that goes on or is in memory.
   */
  async #endedRest(
    caller: Caller,
    taskId: string,
    lastEventId: number,
  ): Promise<EndedTaskReader | undefined> {
    const { store, reads } = this.#context;
    const { owner, share } = caller;
    if (this.#tasks.peek(owner, taskId) !== undefined) return;
    const stored = await reads.tasks.short.run(caller, () => store.weigh(owner, taskId));
    if (stored === undefined) throw taskNotFound(taskId);
    const { index, tail } = stored;
    if (!isTerminal(index.state)) return;
    assertEventExists(lastEventId, tail.generation);
    const follower = this.#followers.open(share);
    follower.add(1);
    const readers = new TaskReaders(this.#context, owner, { taskId, contextId: index.contextId });
    readers.load(tail.generation, index.state);
    return {
      takeFirst: () => undefined,
      accepted: lastEventId,
      cursor: lastEventId,
      eventsAfter: (generation, signal) => readers.eventsAfter(generation, signal, share),
      release: () => follower.end(),
    };
  }

  /**
   * Reads or writes push configs when it is the caller's turn. A list may have 1.6 MB, and the store reads it in one piece, before
   * the reads of tasks that come later.
   *
   * @param bytes of a config that the call has meanwhile; a short one does not count, as its header takes more
   * @throws ConnectError CAPACITY; why the signal of a call that waited aborted; what `work` throws
   */
  async inConfigTurn<Result>(reader: Reader, work: () => Promise<Result>, bytes = 0): Promise<Result> {
    const waiting = this.#active.open(reader.share);
    if (bytes > shortConfigBytes) waiting.add(bytes);
    try {
      return await this.#configTurns.run(reader, work);
    } finally {
      waiting.end();
    }
  }

  /**
   * Stores a push config of the caller's task.
   *
   * @returns false when there is no such task
   * @throws ConnectError CAPACITY when the caller has stored its part of what there is room for
   */
  async putPushConfig({ owner, share }: Caller, config: TaskPushNotificationConfig): Promise<boolean> {
    const { store, stored } = this.#context;
    stored.assertRoom(share, this.#context);
    const isStored = await store.putPushConfig(owner, config, share);
    if (isStored) stored.countConfigs(share, [config], this.#context);
    return isStored;
  }

  /**
   * Cancels the task and returns it. It always answers: an executor that ignores its signal is abandoned after the
   * agent's grace period.
   *
   * @param metadata of the request; counts as memory of its caller until the task has ended
   * @throws ConnectError TASK_NOT_FOUND; TASK_NOT_CANCELABLE when it has ended, or ends in another way meanwhile; CAPACITY
   */
  async cancel(
    caller: Caller,
    taskId: string,
    metadata: JsonObject | undefined,
    count: CountBytes,
  ): Promise<SeenTask> {
    const bytes = weighDetails({ metadata });
    if (bytes > alwaysStoredBytes) this.#context.stored.assertRoom(caller.share, this.#context);
    const waiting = this.#active.open(caller.share);
    waiting.add(bytes);
    try {
      return await this.#cancel(caller, taskId, metadata, count);
    } finally {
      waiting.end();
    }
  }

  async #cancel(
    caller: Caller,
    taskId: string,
    metadata: JsonObject | undefined,
    count: CountBytes,
  ): Promise<SeenTask> {
    const { live, release } = await this.#held.acquire(caller, taskId);
    try {
      await untilAborted(live.claim(caller.share), caller.signal?.());
      const ended = isTerminal(live.acceptedState);
      await this.#executions.stop(live, "canceled", metadata);
      const seen = live.seen();
      if (ended || seen.task.status?.state !== TaskState.CANCELED) {
        throw notCancelable(taskId);
      }
      count(live.bytes);
      return seen;
    } finally {
      release();
    }
  }

  /**
   * Continues a task that waits for credentials with what it was granted. Resolves when that is durable: the task takes
   * it once.
   *
   * @throws TypeError naming the member of the grant that is not valid; ConnectError TASK_NOT_FOUND, CAPACITY, or
   *   UNSUPPORTED_OPERATION when the task does not wait for credentials
   */
  async grant({ owner, taskId }: TaskRef, given: Grant): Promise<void> {
    const grant = copyGrant(given);
    const share = this.#tasks.callerOf({ owner, taskId });
    const { live, release } = await this.#held.acquire({ owner, share }, taskId);
    try {
      await live.claim(share);
      await this.sends.goOn(live, live.messages.grant(grant), share);
    } finally {
      await live
        .flushed()
        .catch(() => {})
        .finally(release);
    }
  }

  /** The store has removed the tasks that ended before a time: they leave memory, too, even if they have readers. */
  forget(endedBefore: number): void {
    this.#tasks.forget(endedBefore);
  }

  /**
   * Ignores timers, lets running executors go on for `graceMs`, then tells them to stop, and waits until their work is
   * durable.
   */
  async close(graceMs: number): Promise<void> {
    this.#timers.close();
    await this.#executions.close(graceMs);
  }
}

function notCancelable(taskId: string): ConnectError {
  return a2aError("TASK_NOT_CANCELABLE", "the task has already ended", { taskId });
}
