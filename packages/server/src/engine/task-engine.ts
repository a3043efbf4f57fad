import { nextSlice } from "@a2a-connect/bindings/server";
import { a2aError, findA2AError, invalidParams, isInterrupted, isTerminal } from "@a2a-connect/core";
import {
  isLarge,
  lastEventIdHeader,
  type Reader,
  ReadTurns,
  type SharedBudget,
} from "@a2a-connect/core/internal";
import { type Message, MessageSchema, TaskSchema, TaskState } from "@a2a-connect/proto";
import { create, equals, type JsonObject } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import type { AgentDefinition } from "../agent/agent-definition.ts";
import { copyGrant, type Grant } from "../agent/grant.ts";
import { ServedAgent } from "../agent/served-agent.ts";
import {
  assertInputModes,
  type DurableSelection,
  isDurable,
  isRemoved,
  readLifecycleRequest,
  type SkillSelection,
  selectSkill,
  selectSkillById,
  skillMetadata,
  type TurnSelection,
} from "../agent/skill-selection.ts";
import type {
  KeyedTask,
  Owner,
  StoredTask,
  TaskPage,
  TaskQuery,
  TaskRef,
  TaskView,
} from "../store/task-store.ts";
import { createActiveBytes, createFollowers } from "./capacity/caller-budgets.ts";
import { ownerShare } from "./capacity/shares.ts";
import type { CallDetails } from "./command.ts";
import { type QueuedMessage, readJournal } from "./durable/journal.ts";
import { createJournalCodec } from "./durable/journal-codec.ts";
import type { EngineContext } from "./engine-context.ts";
import { submittedStatus, taskEvent } from "./events.ts";
import { callInput, Executions } from "./executions.ts";
import { KeyedSends } from "./keyed-sends.ts";
import { EventBudget } from "./live-tail.ts";
import { type Intake, LiveTask } from "./live-task.ts";
import { LiveTasks } from "./live-tasks.ts";
import { readTask, type TaskSource, taskNotFound } from "./read-task.ts";
import type { SeenTask } from "./task-handle.ts";
import { type EndedTaskReader, QueuedHandle, type Sent, type TaskHandle } from "./task-handle.ts";
import { TaskReaders } from "./task-readers.ts";
import { readDeadline } from "./task-timers.ts";
import { TurnExecution } from "./turn-execution.ts";
import { WakeTimers } from "./wake-timers.ts";
import { weighMessage } from "./weight.ts";

/** Who calls; its share is that of the slots and the memory, too. */
export interface Caller extends Reader {
  readonly owner: Owner;
}

/** A skill, and the scopes that it asks its callers for. */
interface SkillScopes {
  readonly id: string;
  readonly scopes: readonly string[];
}

/** A caller's message and its options. */
export interface SendInput extends Caller, Intake {
  readonly message: Message;
  readonly metadata: JsonObject | undefined;
  readonly acceptedOutputModes: readonly string[];
  readonly extensions: readonly string[];
  /** What the caller's credentials say beyond its identity. */
  readonly caller?: CallDetails["caller"];
  /** Throws when the caller may not send messages to the skill. */
  readonly assertSkill?: ((skill: SkillScopes) => void) | undefined;
  /** The generation of the named task that the caller knows; undefined accepts any (requirement R-4). */
  readonly ifGenerationMatch?: bigint | undefined;
  /** The last event that the caller has of the stream which this request opened before (requirement A-36). */
  readonly lastEventId?: number | undefined;
  /**
   * Reserves room for the push configs at the task that the message names, until the returned function is called;
   * throws when there is none.
   */
  readonly reserveConfigs?: (() => Promise<() => void>) | undefined;
}

/** A page of tasks as the store has it, and as callers may see it. */
interface ListedTasks {
  readonly tasks: readonly SeenTask[];
  readonly page: TaskPage;
}

/** A task that is in memory for a call, until it is released. */
interface Held {
  readonly reader: Reader;
  readonly live: LiveTask;
  readonly release: () => void;
}

/** Counts bytes that an answer keeps in memory until the caller has read it; throws when there is no room for them. */
export type HoldBytes = (bytes: number) => void;

/** The options of an engine are its context without what the engine adds itself. */
export type TaskEngineOptions = Omit<
  EngineContext,
  "onWakeTime" | "tailBudget" | "pageBudget" | "reads" | "journalCodec" | "served"
>;

/**
 * Runs tasks: takes messages, starts executions, answers cancels, wakes timers. It makes no decision about a single
 * task's state (its `LiveTask` does) and knows no wire.
 */
export class TaskEngine {
  /** Reads tasks for gets and lists: of all of them together one slice is decoded in a turn of the event loop. */
  readonly #reading: TaskSource;
  readonly #context: EngineContext;
  readonly #tasks: LiveTasks;
  readonly #executions: Executions;
  readonly #timers: WakeTimers;
  readonly #keyedSends: KeyedSends;
  readonly #active: SharedBudget;
  readonly #followers: SharedBudget;

  constructor(options: TaskEngineOptions) {
    this.#timers = new WakeTimers(options, (task) => this.#executions.wake(task));
    this.#context = {
      ...options,
      served: new ServedAgent(options.agent),
      onWakeTime: (at) => this.#timers.note(at),
      journalCodec: createJournalCodec(options.agent.journalTypes),
      tailBudget: new EventBudget(options.limits.maxTotalTailBytes),
      pageBudget: new EventBudget(options.limits.maxTotalTailBytes),
      reads: { tasks: new ReadTurns(4), events: new ReadTurns(4), lists: new ReadTurns(2) },
    };
    this.#active = createActiveBytes(options.limits);
    this.#followers = createFollowers(options.limits);
    this.#tasks = new LiveTasks(this.#context, this.#active);
    this.#keyedSends = new KeyedSends(options);
    this.#reading = { store: this.#context.store, clock: { nextTurn: nextSlice } };
    this.#executions = new Executions(this.#context, this.#tasks);
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
   * Starts a task, or continues the one that the message names. Resolves when that is durable, or with the agent's
   * direct Message. The caller must release a returned handle.
   *
   * With a key, the message is taken once: a repeat gets the first one's result (docs/idempotency.md).
   *
   * @throws ConnectError TASK_NOT_FOUND, UNSUPPORTED_OPERATION, CONTENT_TYPE_NOT_SUPPORTED, CAPACITY, InvalidArgument,
   *   IDEMPOTENCY_CONFLICT, or Internal when the executor failed before there was a task
   */
  send(input: SendInput): Promise<Sent> {
    const { owner, key } = input;
    return key === undefined
      ? this.#take(input)
      : this.#keyedSends.send(
          { owner, key },
          () => this.#take(input),
          (result) => this.#repeat(input, result),
        );
  }

  /**
   * The owner's task, with at least what the view has.
   *
   * @param hold gets the number of bytes that the task takes in memory; may throw
   * @throws ConnectError TASK_NOT_FOUND
   */
  async get(caller: Caller, taskId: string, view: TaskView, hold: HoldBytes): Promise<SeenTask> {
    const { owner } = caller;
    const live = this.#tasks.peek(owner, taskId);
    if (live?.exists === true) {
      hold(live.bytes);
      return live.seen();
    }
    return this.#context.reads.tasks.run(caller, async () => {
      const stored = await this.#context.store.find(owner, taskId, view);
      if (stored === undefined) {
        throw taskNotFound(taskId);
      }
      return this.#see(stored, view, hold);
    });
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
      hold,
    }: { readonly timeoutMs: number; readonly signal: AbortSignal; readonly hold: HoldBytes },
  ): Promise<SeenTask> {
    const { live, release } = await this.#acquire(caller, taskId);
    const expiry = new AbortController();
    const stopTimer = this.#context.clock.schedule(timeoutMs, () => expiry.abort());
    try {
      await live.newerThan(generation, AbortSignal.any([signal, expiry.signal]));
    } catch (error) {
      if (!expiry.signal.aborted || signal.aborted) {
        throw error;
      }
    } finally {
      stopTimer();
      release();
    }
    hold(live.bytes);
    return live.seen();
  }

  /** One page of the owner's tasks, folded. @param hold as for `get` */
  list(query: TaskQuery, reader: Reader, hold: HoldBytes): Promise<ListedTasks> {
    return this.#context.reads.lists.run(reader, () => this.#list(query, hold));
  }

  async #list(query: TaskQuery, hold: HoldBytes): Promise<ListedTasks> {
    const page = await this.#context.store.list(query);
    const tasks: SeenTask[] = [];
    for (const stored of page.tasks) {
      try {
        tasks.push(await this.#see(stored, query.view, hold));
      } catch (error) {
        if (!(error instanceof ConnectError)) tasks.push(this.#seeDamaged(stored, error));
        else if (findA2AError(error)?.reason !== "TASK_NOT_FOUND") throw error; // it may have expired meanwhile
      }
    }
    return { tasks, page };
  }

  /** The facts about a task in the store's index, so that one damaged log does not fail the caller's whole list. */
  #seeDamaged({ taskId, index, tail }: StoredTask, error: unknown): SeenTask {
    const message = "a task cannot be read: its list shows it without its history and artifacts";
    this.#context.log({ level: "error", message, taskId, error });
    const { contextId, state, statusTimestamp } = index;
    const status = { state, timestamp: timestampFromMs(statusTimestamp) };
    return { task: create(TaskSchema, { id: taskId, contextId, status }), generation: tail.generation };
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
    const held = await this.#acquire(caller, taskId);
    if (lastEventId === undefined && held.live.ended) {
      held.release();
      throw a2aError("UNSUPPORTED_OPERATION", "the task has ended: there is nothing to subscribe to", {
        taskId,
      });
    }
    return this.#attach(held, lastEventId ?? held.live.generation, lastEventId);
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
    const stored = await reads.tasks.run(caller, () => store.find(owner, taskId, "summary"));
    if (stored === undefined) throw taskNotFound(taskId);
    const { index, tail } = stored;
    if (!isTerminal(index.state)) return;
    assertEventExists(lastEventId, tail.generation);
    const follower = this.#followers.open(share);
    follower.add(1);
    const readers = new TaskReaders(this.#context, owner, { taskId, contextId: index.contextId });
    readers.load(tail.generation, index.state);
    return {
      first: undefined,
      accepted: lastEventId,
      cursor: lastEventId,
      eventsAfter: (generation, signal) => readers.eventsAfter(generation, signal, share),
      release: () => follower.end(),
    };
  }

  /**
   * The handle of a message that was taken before, whether the task has ended or not.
   *
   * @param accepted generation after which the message's consequences begin
   * @param lastEventId the last event that the caller has; undefined for a caller that begins with the current task
   * @throws ConnectError InvalidArgument when there is no event `lastEventId` yet
   */
  #attach(held: Held, accepted: number, lastEventId: number | undefined): TaskHandle {
    const { live, release } = held;
    if (lastEventId === undefined) {
      return this.#handle(held, accepted, live.seen());
    }
    try {
      assertEventExists(lastEventId, live.generation);
    } catch (error) {
      release();
      throw error;
    }
    return this.#handle(held, accepted, undefined, lastEventId);
  }

  /**
   * Cancels the task and returns it. It always answers: an executor that ignores its signal is abandoned after the
   * agent's grace period.
   *
   * @throws ConnectError TASK_NOT_FOUND; TASK_NOT_CANCELABLE when it has ended, or ends in another way meanwhile
   */
  async cancel(
    caller: Caller,
    taskId: string,
    metadata: JsonObject | undefined,
    hold: HoldBytes,
  ): Promise<SeenTask> {
    const { live, release } = await this.#acquire(caller, taskId);
    try {
      await live.claim();
      const ended = isTerminal(live.acceptedState);
      await this.#executions.stop(live, "canceled", metadata);
      const seen = live.seen();
      if (ended || seen.task.status?.state !== TaskState.CANCELED) {
        throw notCancelable(taskId);
      }
      hold(live.bytes);
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
    const share = ownerShare(owner);
    const { live, release } = await this.#acquire({ owner, share }, taskId);
    try {
      await live.claim();
      await this.#goOn(live, live.grant(grant), share);
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

  async #take(input: SendInput): Promise<Sent> {
    const { key, lastEventId } = input;
    if (lastEventId !== undefined && (key === undefined || lastEventId > 0)) {
      throw invalidParams({
        field: lastEventIdHeader,
        description: "resumes a stream that was opened with the same idempotency key, and there is none",
      });
    }
    if (isLarge(input.message)) {
      await nextSlice(); // testing it took long, and so do weighing and encoding it
      weighMessage(input.message); // what it finds is kept for the weighing below
      await nextSlice();
    }
    if (input.message.taskId === "") {
      return this.#begin(input);
    }
    const release = await input.reserveConfigs?.();
    try {
      return await this.#continue(input);
    } finally {
      release?.();
    }
  }

  /** What a repeated request is given. One that created its task begins with its creation, as the first did. */
  async #repeat(input: SendInput, result: KeyedTask): Promise<Sent> {
    const { taskId, generation } = result;
    const lastEventId = input.lastEventId ?? (generation === 0 ? 0 : undefined);
    const held = await this.#acquire(input, taskId);
    const { live } = held;
    const handle = this.#attach(held, generation, lastEventId);
    const message = { ...input.message, contextId: live.name.contextId };
    return message.taskId === "" ? handle : new QueuedHandle(handle, () => this.#assertTaken(live, message));
  }

  /**
   * Whether the turn for a message that was taken before, maybe by another process, has begun. The log knows: a task
   * that is read anew has no queue in memory.
   *
   * @throws ConnectError UNSUPPORTED_OPERATION when it was queued, and the task has ended without it
   */
  async #assertTaken(live: LiveTask, message: Message): Promise<void> {
    if (!live.ended) {
      return;
    }
    const { store, journalCodec } = this.#context;
    const { untaken } = await readJournal(store, journalCodec, live.owner, live.name.taskId);
    const queued = untaken.find((each) => equals(MessageSchema, each.message, message));
    if (queued !== undefined) {
      live.requeue([queued]);
      live.assertTaken(queued.sequence);
    }
  }

  async #begin(input: SendInput): Promise<Sent> {
    const { owner, message } = input;
    const { randomId, clock, served } = this.#context;
    const agent = served.current;
    const selection = selectSkill(agent, message);
    assertSkill(input, selection);
    assertInputModes(message, selection.inputModes);
    const name = { taskId: randomId(), contextId: message.contextId || randomId() };
    const named = { ...message, ...name };
    const active = this.#active.open(input.share);
    let isCreated = false;
    const end = () => {
      if (!isCreated) active.end();
    };
    const createTask = () => {
      const metadata = skillMetadata(selection.skill);
      const task = create(TaskSchema, {
        id: name.taskId,
        contextId: name.contextId,
        status: submittedStatus(clock.now()),
        history: [named],
        ...(metadata === undefined ? {} : { metadata }),
      });
      const live = LiveTask.create(this.#context, agent, owner, taskEvent(task), input);
      this.#tasks.adopt(live, active);
      isCreated = true;
      if (runsAgain(selection) && hasDetails(input)) {
        live.note({ type: "call", ...detailsOf(input) });
      }
      return live;
    };
    active.add(weighMessage(message));
    try {
      if (isDurable(selection)) {
        this.#executions.assertRoom({ skill: selection.skill, share: input.share }); // a task that exists cannot be refused with an error any more
        return await this.#beginDurable(createTask(), selection, named, input);
      }
      return await this.#beginTurn({ owner, name }, selection, named, input, createTask);
    } finally {
      end();
    }
  }

  /** A durable task exists before its executor runs. */
  async #beginDurable(
    live: LiveTask,
    selection: DurableSelection,
    message: Message,
    input: SendInput,
  ): Promise<Sent> {
    const execution = this.#executions.createDurable(live, selection, message, detailsOf(input), input.share);
    this.#executions.track(live, execution);
    if (this.#isLate(message)) {
      execution.abort("deadline"); // its code is never called
    }
    const place = this.#executions.start(execution);
    if (typeof place === "object" && !isTerminal(live.acceptedState)) {
      live.emitStatus(place.refused);
      execution.giveUp();
    }
    await live.flushed();
    return this.#handle(this.#heldHere(live, input), 0, undefined);
  }

  /** A turn becomes a task when it says something that is none of a direct Message. */
  async #beginTurn(
    place: Pick<LiveTask, "owner" | "name">,
    selection: TurnSelection,
    message: Message,
    input: SendInput,
    createTask: () => LiveTask,
  ): Promise<Sent> {
    const execution: TurnExecution = new TurnExecution(this.#context, {
      input: {
        ...callInput(place, selection, message, detailsOf(input)),
        task: undefined,
        attempt: 1,
        grant: undefined,
      },
      code: selection.code,
      outputModes: selection.outputModes,
      priority: readLifecycleRequest(message).priority,
      share: input.share,
      live: undefined,
      createTask: () => {
        const live = createTask();
        this.#executions.track(live, execution);
        return live;
      },
    });
    if (this.#isLate(message)) {
      execution.abort("deadline"); // its code is never called
    }
    const started = this.#executions.start(execution);
    if (typeof started === "object") {
      execution.createTask().emitStatus(started.refused);
      execution.giveUp();
    } else if (started === "queued") {
      const live = execution.createTask();
      if (!runsAgain(selection) && hasDetails(input)) {
        live.note({ type: "call", ...detailsOf(input) }); // it may begin in another process
      }
      execution.wait();
    }
    const outcome = await execution.outcome();
    return outcome.kind === "message"
      ? outcome
      : this.#handle(this.#heldHere(outcome.live, input), 0, undefined);
  }

  /** Whether the message's deadline is over before any work. */
  #isLate(message: Message): boolean {
    const deadline = readDeadline({ history: [message] });
    return deadline !== undefined && deadline <= this.#context.clock.now();
  }

  async #continue(input: SendInput): Promise<Sent> {
    const { message } = input;
    const held = await this.#acquire(input, message.taskId);
    const { live, release } = held;
    try {
      const { contextId } = live.name;
      if (message.contextId !== "" && message.contextId !== contextId) {
        throw invalidParams({
          field: "message.contextId",
          description: "is not the context of message.taskId",
        });
      }
      await live.claim();
      live.assertGeneration(input.ifGenerationMatch);
      live.assertGoing();
      const selection = selectSkillById(live.agent, live.skill);
      const { code, inputModes } = selection;
      assertSkill(input, selection);
      const isQueued = code.whileWorking === "queue" && !isInterrupted(live.acceptedState);
      if (!isQueued) {
        live.assertInterrupted();
      }
      readLifecycleRequest(message);
      if (!isRemoved(live.agent, live.skill)) {
        assertInputModes(message, inputModes); // a missing skill has no list of modes
      }
      this.#tasks.grow(live, weighMessage(message));
      const named = { ...message, contextId };
      return isQueued ? await this.#queue(held, named, input) : await this.#answer(held, named, input);
    } catch (error) {
      // The refusal depends on accepted entries: the caller must not learn of them before they are durable.
      await live.flushed().finally(release);
      throw error;
    }
  }

  /** The task waits for this message. */
  async #answer(held: Held, message: Message, input: SendInput): Promise<TaskHandle> {
    const { live } = held;
    const { answer, generation } = live.answer(message, input, input.ifGenerationMatch);
    if (runsAgain(selectSkillById(live.agent, live.skill)) && hasDetails(input)) {
      live.note({ type: "call", ...detailsOf(input) });
    }
    const seen = await this.#goOn(live, { ...answer, details: detailsOf(input) }, input.share);
    return this.#handle(held, generation, seen);
  }

  /** The executor goes on with an accepted answer, when that is durable. @returns the task as of the answer */
  async #goOn(live: LiveTask, answer: QueuedMessage, share: string | undefined): Promise<SeenTask> {
    const free = this.#executions.reserve(live);
    try {
      await live.flushed();
      const seen = live.seen();
      // A cancel or a deadline may have come first.
      if (!isTerminal(live.acceptedState)) {
        this.#executions.answer(live, answer, share);
      }
      return seen;
    } finally {
      free();
    }
  }

  /** The task is at work, and its code takes messages meanwhile. */
  async #queue(held: Held, message: Message, input: SendInput): Promise<TaskHandle> {
    const { live } = held;
    const details = detailsOf(input);
    const { queued, generation } = live.enqueue(message, input, details, input.ifGenerationMatch);
    await live.flushed();
    const seen = live.seen();
    if (!isTerminal(live.acceptedState)) {
      this.#executions.deliver(live, queued);
    }
    return new QueuedHandle(this.#handle(held, generation, seen), () => live.assertTaken(queued.sequence));
  }

  async #see(stored: StoredTask, view: TaskView, hold: HoldBytes): Promise<SeenTask> {
    const { task } = await readTask(this.#reading, stored, view, hold);
    return { task, generation: stored.tail.generation };
  }

  /** A task that exists, for a caller. @throws ConnectError TASK_NOT_FOUND, CAPACITY */
  async #acquire(caller: Caller, taskId: string): Promise<Held> {
    const follower = this.#followers.open(caller.share);
    follower.add(1);
    let live: LiveTask | undefined;
    try {
      live = await this.#tasks.acquire(caller.owner, taskId, caller);
    } finally {
      if (live === undefined) follower.end();
    }
    if (live === undefined) {
      throw taskNotFound(taskId);
    }
    const { release } = this.#heldHere(live, caller);
    return {
      live,
      reader: caller,
      release: () => {
        follower.end();
        release();
      },
    };
  }

  /** A task that was created by this call. */
  #heldHere(live: LiveTask, reader: Reader): Held {
    return { live, reader, release: () => this.#tasks.release(live) };
  }

  /** @param first the current task; undefined when only the events after `cursor` are wanted */
  #handle(
    { live, reader, release }: Held,
    accepted: number,
    first: SeenTask | undefined,
    cursor = 0,
  ): TaskHandle {
    return {
      kind: "task",
      accepted,
      first,
      cursor: first?.generation ?? cursor,
      seen: () => live.seen(),
      weigh: () => live.bytes,
      settled: (signal) => live.settledAfter(accepted, signal),
      eventsAfter: (generation, signal) => live.eventsAfter(generation, signal, reader.share),
      release,
    };
  }
}

/** Whether the code of a skill may run a second time over one message. */
function runsAgain({ code }: SkillSelection): boolean {
  return code.kind === "durable" || code.recovery === "restart";
}

/** @throws ConnectError PermissionDenied */
function assertSkill(input: SendInput, { skill: id, scopes }: SkillSelection): void {
  if (id !== undefined) {
    input.assertSkill?.({ id, scopes });
  }
}

function detailsOf({ metadata, acceptedOutputModes, extensions, caller }: SendInput): CallDetails {
  return { metadata, acceptedOutputModes, extensions, caller };
}

function hasDetails({ metadata, acceptedOutputModes, extensions, caller }: SendInput): boolean {
  return (
    metadata !== undefined || acceptedOutputModes.length > 0 || extensions.length > 0 || caller !== undefined
  );
}

/** @throws ConnectError InvalidArgument */
function assertEventExists(lastEventId: number, generation: number): void {
  if (lastEventId > generation) {
    throw invalidParams({
      field: lastEventIdHeader,
      description: `there is no event ${lastEventId} of this task yet`,
    });
  }
}

function notCancelable(taskId: string): ConnectError {
  return a2aError("TASK_NOT_CANCELABLE", "the task has already ended", { taskId });
}
