import { findA2AError, isInterrupted, isSettled, isTerminal } from "@a2a-connect/core";
import { callUnawaited } from "@a2a-connect/core/internal";
import type { Message } from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { AgentDefinition } from "../agent/agent-definition.ts";
import {
  type DurableSelection,
  isDurable,
  isRemoved,
  readLifecycleRequest,
  runsAgain,
  type SkillSelection,
  selectSkillById,
  type TurnSelection,
} from "../agent/skill-selection.ts";
import type { CallInput } from "../agent/task-tools.ts";
import type { TaskRef } from "../store/task-store.ts";
import { Scheduler, type StartResult } from "./capacity/scheduler.ts";
import { StopLines } from "./capacity/stop-lines.ts";
import { type CallDetails, hasDetails, type StopCause } from "./command.ts";
import { DurableExecution } from "./durable/durable-execution.ts";
import { type Journal, type QueuedMessage, readJournal } from "./durable/journal.ts";
import { RunAttempts } from "./durable/run-attempts.ts";
import {
  capacityEnding,
  endings,
  skillRemovedEnding,
  skillUnavailableEnding,
  timeoutEnding,
} from "./endings.ts";
import type { EngineContext } from "./engine-context.ts";
import type { StatusInit } from "./events.ts";
import { defaultCancelGraceMs, type Execution } from "./execution.ts";
import type { LiveTask } from "./live-task.ts";
import type { LiveTasks } from "./live-tasks.ts";
import { weighDetails } from "./memory-weight.ts";
import { LoadFailure, Recovery } from "./recovery.ts";
import { RunningExecutions } from "./running-executions.ts";
import { TurnExecution, type TurnPlan } from "./turn-execution.ts";
import type { TakeUp } from "./unfinished-tasks.ts";

/** How long after a failed write the server takes up a task again, and how long after each further failure. */
const recoveryDelayMs = 1_000;

/**
 * How often a turn begins at most (`recovery: "restart"`): a turn that ends the process each time must not begin for
 * ever.
 */
const maxAttempts = 5;

/** A task that is created when its first turn needs it. */
interface NewTask extends Pick<LiveTask, "owner" | "name"> {
  readonly create: () => LiveTask;
}

/** What a turn is about. */
interface TurnStart {
  readonly selection: TurnSelection;
  readonly message: Message;
  readonly details: CallDetails;
  /** The caller whose slot it takes. */
  readonly share?: string | undefined;
  /** See `TurnInput`. Default 1. */
  readonly attempt?: number;
  /** Whether the message is the one that the task was created with. Default false. */
  readonly isFirst?: boolean;
}

/** Starts, resumes, stops and recovers what agents do; at most one execution works on a task. */
export class Executions {
  readonly #context: EngineContext;
  readonly #tasks: LiveTasks;
  readonly #scheduler: Scheduler;
  readonly #recovery: Recovery;
  /** The newest execution of each task. */
  readonly #byTask = new Map<string, Execution>();
  readonly #running: RunningExecutions;
  readonly #attempts: RunAttempts;
  readonly #retries = new Set<() => void>();
  /** Tasks on which an execution will begin when an accepted entry is durable. */
  readonly #reserved = new Set<string>();
  /** Tasks whose log says that their executor was told to stop. */
  readonly #toldToStop = new WeakSet<LiveTask>();
  readonly #stops: StopLines;
  #closed = false;

  constructor(context: EngineContext, tasks: LiveTasks) {
    this.#context = context;
    this.#tasks = tasks;
    this.#scheduler = new Scheduler(context);
    this.#stops = new StopLines(context.clock, context.wakes.executors);
    this.#running = new RunningExecutions(context);
    this.#attempts = new RunAttempts(context.clock);
    const takeUp: TakeUp = (task, onPutOff) => this.recover(task, onPutOff);
    this.#recovery = new Recovery(context, tasks, takeUp, (share) => this.#running.dropResting(share));
    tasks.watchLost((live) => this.#takeUpLost(live));
  }

  /** The agent has another card, and so perhaps skills of another capacity. */
  useCard(agent: AgentDefinition): void {
    this.#scheduler.useCard(agent);
  }

  /**
   * Starts the first execution of a new task, now or when there is a slot.
   *
   * @returns whether it runs or waits; `refused`: why its task is REJECTED instead, before any work
   * @throws ConnectError CAPACITY when the queue of this process is full
   */
  start(execution: Execution): Exclude<StartResult, "refused"> | { readonly refused: StatusInit } {
    const { skill } = execution;
    if (this.#isOff(skill)) {
      return { refused: skillUnavailableEnding(skill) };
    }
    const place = this.#scheduler.start(execution);
    if (place === "refused") {
      return { refused: capacityEnding(this.#scheduler.retryAfterSeconds(skill)) };
    }
    this.#running.add(execution);
    return place;
  }

  /** Whether `start` would accept work of this skill. @throws ConnectError CAPACITY when `start` would throw that */
  assertRoom(work: Pick<Execution, "skill" | "share">): void {
    if (!this.#isOff(work.skill)) {
      this.#scheduler.assertRoom(work);
    }
  }

  /** Records that the execution works on this task, and keeps the task in memory until the execution is done. */
  track(live: LiveTask, execution: Execution): void {
    const { taskId } = live.name;
    this.#tasks.retain(live);
    this.#byTask.set(taskId, execution);
    void execution.done.then(() => {
      if (this.#byTask.get(taskId) === execution) {
        this.#byTask.delete(taskId);
        callUnawaited(
          () => this.#takeNext(live),
          (error) => this.#warn("a queued message could not be taken", taskId, error),
        );
      }
      this.#tasks.release(live);
      if (execution.needsRecovery || (live.lost.aborted && !live.takenOver)) {
        this.#recoverSoon({ owner: live.owner, taskId });
      }
    });
  }

  /** Makes the execution of a turn. It is tracked when its task is there, or has been created. */
  createTurn(
    task: LiveTask | NewTask,
    { selection, message, details, share, attempt = 1, isFirst = false }: TurnStart,
  ): TurnExecution {
    const isNew = "create" in task;
    const plan: TurnPlan = {
      input: {
        ...callInput(task, selection, message, details),
        task: isNew || isFirst ? undefined : task.copy(),
        attempt,
        grant: details.grant,
      },
      code: selection.code,
      outputModes: selection.outputModes,
      priority: readLifecycleRequest(message).priority,
      share,
      call: isNew && !runsAgain(selection) && hasDetails(details) ? details : undefined,
      onTask: (live, turn) => this.track(live, turn),
    };
    return new TurnExecution(this.#context, plan, isNew ? task.create : task);
  }

  /**
   * Makes the execution of a durable task.
   *
   * @param call the details of the call that created the task just now; undefined: its journal has them
   * @param share the caller whose slots it takes
   */
  createDurable(
    live: LiveTask,
    selection: DurableSelection,
    message: Message,
    call: CallDetails | undefined,
    share: string | undefined,
  ): DurableExecution {
    const isAfterStart = call === undefined && !this.#recovery.isDone;
    const execution = new DurableExecution(this.#context, {
      live,
      code: selection.code,
      skill: selection.skill,
      input: (details) => callInput(live, selection, message, details),
      outputModes: selection.outputModes,
      priority: readLifecycleRequest(message).priority,
      share,
      call,
      openAttempt: (run, before) => this.#attempts.create(run, before, isAfterStart),
      askForPlace: () => void this.#scheduler.start(execution, "always"),
      hurry: () => this.#scheduler.hurry(execution),
      withdraw: () => void this.#scheduler.withdraw(execution),
      onRest: () => {
        const isOver = this.#context.memoryTurns.areDue(live.memory);
        this.#running.rest(execution, !this.#recovery.isFullFor(execution.share) && !isOver);
      },
    });
    return execution;
  }

  /**
   * An answer was accepted and is not durable yet: until then no other execution may begin on the task.
   *
   * @returns call it when the answer is durable, or never will be
   */
  reserve(live: LiveTask): () => void {
    const { taskId } = live.name;
    this.#reserved.add(taskId);
    return () => this.#reserved.delete(taskId);
  }

  /**
   * The caller has answered the task's question, or it was granted what it asked for: its executor goes on, or the task ends when the executor is missing.
   *
   * @param share the caller whose slot it takes
   */
  answer(live: LiveTask, answer: QueuedMessage, share: string | undefined): void {
    if (isRemoved(live.agent, live.skill)) {
      this.#failRemoved(live);
      return;
    }
    const selection = this.#select(live);
    if (!isDurable(selection)) {
      const { message, details = {} } = answer;
      this.#startTurn(live, { selection, message, details, share });
      return;
    }
    const execution = this.#findDurable(live);
    if (execution === undefined) {
      this.#resumeDurable(live, selection, share);
    } else {
      execution.answer(answer);
    }
  }

  /** A message was queued for a task at work. */
  deliver(live: LiveTask, queued: QueuedMessage): void {
    const selection = this.#select(live);
    if (!isDurable(selection)) {
      this.#ensureTurn(live);
      return;
    }
    const execution = this.#findDurable(live);
    if (execution === undefined) {
      this.#resumeDurable(live, selection);
    } else {
      execution.deliver(queued);
    }
  }

  /**
   * Ends a task that has not ended. A running executor is told to stop, and may still end the task in another way.
   *
   * @throws ConnectError `Unavailable` when the server shuts down or the store cannot be read; what is noted by then ends the task later
   */
  async stop(live: LiveTask, cause: "canceled" | "deadline", metadata?: JsonObject): Promise<void> {
    const { stopTurns } = this.#context;
    let hasTurn = false;
    try {
      while (!isTerminal(live.acceptedState)) {
        const selection = this.#select(live);
        let execution = this.#byTask.get(live.name.taskId);
        const isWaiting = isInterrupted(live.acceptedState) || this.#withdraw(execution);
        if (isWaiting || (execution === undefined && !isDurable(selection))) {
          live.emitStatus(endings[cause]);
          execution?.giveUp(cause, metadata);
          continue;
        }
        if (this.#closed) {
          throw new ConnectError("the server is shutting down; try again", Code.Unavailable);
        }
        live.lost.throwIfAborted();
        if (execution !== undefined && !hasTurn && !this.#toldToStop.has(live)) {
          await Promise.race([stopTurns.begin(live.memory), execution.done]);
          hasTurn = true;
          continue;
        }
        if (!this.#toldToStop.has(live)) {
          live.note({ type: "stop", cause, metadata }); // the first of several cancels counts
          this.#toldToStop.add(live);
        }
        if (
          execution instanceof DurableExecution &&
          execution.isUnread &&
          !execution.isStopping &&
          this.#scheduler.withdraw(execution)
        ) {
          execution.abort("shutdown"); // it has no place yet: it is read back in the line of those that are to stop
        } else if (execution !== undefined) {
          execution.abort(cause, metadata);
        } else if (isDurable(selection)) {
          execution = await this.#readBackInTurn(live, selection, { cause, metadata });
        }
        await execution?.done;
        if (execution?.needsRecovery && !isTerminal(live.acceptedState)) {
          throw new ConnectError("the task could not be read; try again", Code.Unavailable);
        }
      }
    } finally {
      stopTurns.end(live.memory);
    }
    await live.flushed();
  }

  /** Does what is due when a timer of the task fires. @param onPutOff see `recover` */
  async wake(task: TaskRef, onPutOff: () => void): Promise<void> {
    const { taskId } = task;
    const live = await this.#recovery.acquire(task, onPutOff);
    if (live === undefined) {
      return;
    }
    try {
      const now = this.#context.clock.now();
      const overdue = live.timers.overdueQuestion(now);
      if (live.takeDeadline(now)) {
        // Not awaited: an executor may take its grace period, and other timers are due.
        this.#tasks.retain(live);
        void this.stop(live, "deadline")
          .catch((error: unknown) => this.#warn("a task could not be stopped at its deadline", taskId, error))
          .finally(() => this.#tasks.release(live));
      } else if (overdue !== undefined) {
        live.emitStatus(timeoutEnding(overdue, live.timers.questionMs ?? 0));
        this.#byTask.get(taskId)?.giveUp();
      } else if (!isTerminal(live.acceptedState) && isRemoved(live.agent, live.skill)) {
        this.#failRemoved(live);
      } else if (!isTerminal(live.acceptedState)) {
        this.#wakeExecutor(live, now);
        // The commit sets the next timer. Without it this timer would stay due for ever.
        live.note({ type: "timer-moved" });
      }
      await live.flushed();
    } finally {
      this.#tasks.release(live);
    }
  }

  /** Takes up the unfinished tasks of an earlier process, as many as there is room for; the rest follows later. */
  recoverAll(): Promise<void> {
    return this.#recovery.recoverAll();
  }

  /**
   * Takes up a task without an execution, in the way that its code allows. Tries again while the store fails.
   *
   * @param onPutOff called when it waits until other tasks leave room
   */
  async recover(task: TaskRef, onPutOff: () => void = () => {}): Promise<void> {
    const { taskId } = task;
    try {
      const live = await this.#recovery.acquire(task, onPutOff);
      if (live === undefined) {
        return; // its creation was never written, or it has ended
      }
      try {
        if (!isSettled(live.acceptedState) && !this.#byTask.has(taskId)) {
          await this.#takeUp(live);
          await live.flushed();
        }
      } finally {
        this.#tasks.release(live);
      }
    } catch (error) {
      if (findA2AError(error)?.reason !== "TASK_NOT_FOUND") {
        this.#warn("an unfinished task could not be taken up", taskId, error);
        if (!(error instanceof LoadFailure)) {
          this.#recoverSoon(task);
        }
      }
    }
  }

  /**
   * Lets running executors go on for `graceMs`, then tells them to stop, and waits until their work is durable. Work
   * that can go on after a restart is left unfinished.
   */
  async close(graceMs: number): Promise<void> {
    this.#closed = true;
    for (const cancelRetry of this.#retries) {
      cancelRetry();
    }
    this.#recovery.close();
    this.#attempts.close();
    await this.#running.close(graceMs);
  }

  #isOff(skill: string | undefined): skill is string {
    return skill !== undefined && this.#context.skills.disabled.includes(skill);
  }

  /** Removes an execution that has not begun from the queue. */
  #withdraw(execution: Execution | undefined): boolean {
    return execution !== undefined && !execution.begun && this.#scheduler.withdraw(execution);
  }

  #select(live: LiveTask): SkillSelection {
    return selectSkillById(live.agent, live.skill);
  }

  #findDurable(live: LiveTask): DurableExecution | undefined {
    const execution = this.#byTask.get(live.name.taskId);
    return execution instanceof DurableExecution && !execution.isGone ? execution : undefined;
  }

  /** A sleep may be over, also one beside an unanswered question. */
  #wakeExecutor(live: LiveTask, now: number): void {
    const selection = this.#select(live);
    if (isDurable(selection)) {
      const execution = this.#findDurable(live) ?? this.#resumeDurable(live, selection);
      execution.wake(now);
    } else {
      live.timers.setAlarm(undefined); // a durable executor has set it, which this code has replaced
      if (this.#isFree(live)) void this.recover({ owner: live.owner, taskId: live.name.taskId });
    }
  }

  async #takeUp(live: LiveTask): Promise<void> {
    const selection = this.#select(live);
    const { taskId } = live.name;
    if (isDurable(selection)) {
      this.#resumeDurable(live, selection);
      return;
    }
    const free = this.reserve(live); // the turn for a message that is queued meanwhile comes later
    const { owner, memory } = live;
    const { history } = live.seen().task;
    const journal = await readJournal(
      this.#context,
      { owner, taskId, history, withDetails: true },
      memory.share,
    ).finally(free);
    if (this.#byTask.has(taskId)) {
      return; // it was taken up twice, and the other call was faster
    }
    const neverAsked = live.skill === undefined && journal.isWaiting; // it is REJECTED, as without the crash
    if (isRemoved(live.agent, live.skill) && !neverAsked) {
      this.#failRemoved(live, journal.stop?.cause);
    } else if (journal.isWaiting || selection.code.recovery === "restart") {
      this.#restartTurn(live, selection, journal);
    } else {
      live.emitStatus(endings.interrupted);
      this.#context.log({ level: "info", message: "an unfinished task was failed", taskId });
    }
  }

  /** @param stopped why it was told to stop before; that takes precedence */
  #failRemoved(live: LiveTask, stopped?: StopCause): void {
    const { skill } = live;
    if (stopped !== undefined) {
      live.emitStatus(endings[stopped]);
      return;
    }
    live.emitStatus(skillRemovedEnding(skill));
    this.#context.log({
      level: "warn",
      message: `a task was failed, because its ${skill === undefined ? "agent's own code" : `skill ${JSON.stringify(skill)}`} is gone`,
      taskId: live.name.taskId,
    });
  }

  /** The executor of a task is read back, which is to stop. If its caller has no place for it within the grace period, the task ends without it. */
  async #readBackInTurn(
    live: LiveTask,
    selection: DurableSelection,
    stop: { readonly cause: "canceled" | "deadline"; readonly metadata: JsonObject | undefined },
  ): Promise<DurableExecution | undefined> {
    const line = { caller: this.#callerOf(live), skill: selection.skill };
    const { cancelGraceMs = defaultCancelGraceMs } = this.#context.agent;
    let execution: DurableExecution | undefined;
    const isOver = () =>
      this.#closed ||
      isTerminal(live.acceptedState) ||
      live.lost.aborted ||
      this.#byTask.has(live.name.taskId); // who stops it looks again
    const hadTurn = await this.#stops.run(line, cancelGraceMs, async () => {
      if (isOver()) return true;
      execution = this.#resumeDurable(live, selection);
      execution.abort(stop.cause, stop.metadata);
      return execution.hasRead;
    });
    if (!hadTurn && !isOver()) live.emitStatus(endings[stop.cause]);
    return execution;
  }

  #resumeDurable(
    live: LiveTask,
    selection: DurableSelection,
    share: string | undefined = this.#callerOf(live),
  ): DurableExecution {
    const execution = this.createDurable(live, selection, firstMessage(live), undefined, share);
    this.track(live, execution);
    this.#abortIfLate(live, execution);
    this.#scheduler.start(execution, "always");
    this.#running.add(execution);
    return execution;
  }

  /** Begins a turn again, or for the first time when it never had a slot. */
  #restartTurn(live: LiveTask, selection: TurnSelection, journal: Journal): void {
    const { stop, restarts, isWaiting } = journal;
    if (stop !== undefined || (!isWaiting && restarts + 1 >= maxAttempts)) {
      live.emitStatus(endings[stop?.cause ?? "interrupted"]);
      return;
    }
    const current =
      journal.queued.find(({ sequence }) => sequence === journal.turnInput) ?? journal.answers.at(-1);
    if (!isWaiting) {
      live.note({ type: "restart" });
      live.unsealArtifacts();
    }
    const { queue } = live.messages;
    const untaken = journal.untaken.filter(({ sequence }) => !queue.has(sequence));
    queue.requeue(untaken);
    const message = current?.message ?? firstMessage(live);
    const details = current === undefined ? (journal.call ?? {}) : (current.details ?? {});
    // The task counts its messages, but not what came with them.
    for (const kept of [details, ...untaken.map((queued) => queued.details ?? {})]) {
      live.memory.grow(weighDetails(kept));
    }
    const attempt = restarts + (isWaiting ? 1 : 2);
    this.#startTurn(live, { selection, message, details, attempt, isFirst: current === undefined });
  }

  /** A turn on a task that exists. Without a call it takes a slot of the caller that has created the task. */
  #startTurn(live: LiveTask, { share = this.#callerOf(live), ...start }: TurnStart): void {
    const execution = this.createTurn(live, { ...start, share });
    this.#abortIfLate(live, execution);
    if (this.#scheduler.start(execution, "always") === "queued") {
      execution.wait();
    }
    this.#running.add(execution);
  }

  /** The caller whose places the work on a task takes when no call is about it. */
  #callerOf(live: LiveTask): string {
    return live.caller ?? this.#context.nameOwner(live.owner);
  }

  #abortIfLate(live: LiveTask, execution: Execution): void {
    if (live.takeDeadline(this.#context.clock.now())) {
      live.note({ type: "stop", cause: "deadline" });
      execution.abort("deadline");
    }
  }

  /** Begins the next turn, for the message that has waited longest, when no execution is at work. */
  #takeNext(live: LiveTask): void {
    const { taskId } = live.name;
    if (!this.#isFree(live) || this.#closed) {
      return;
    }
    const selection = this.#select(live);
    if (isDurable(selection)) {
      return;
    }
    live.messages.beginNext();
    const next = live.messages.queue.takeChosen();
    if (next === undefined) {
      return;
    }
    this.#tasks.retain(live);
    const free = this.reserve(live);
    void live
      .flushed()
      .then(() => {
        if (!isTerminal(live.acceptedState)) {
          const { message, details = {} } = next;
          this.#startTurn(live, { selection, message, details });
        }
      })
      .catch((error: unknown) => this.#warn("a queued message could not be taken", taskId, error))
      .finally(() => {
        free();
        this.#tasks.release(live);
      });
  }

  /** A message waits for its turn. If the turn before it was lost, the task is taken up at once. */
  #ensureTurn(live: LiveTask): void {
    if (!live.messages.queue.isEmpty && this.#isFree(live)) {
      void this.recover({ owner: live.owner, taskId: live.name.taskId });
    }
  }

  /** Whether no execution is at work on the task, or about to begin. */
  #isFree(live: LiveTask): boolean {
    const { taskId } = live.name;
    const isBusy = this.#byTask.has(taskId) || this.#reserved.has(taskId);
    return !isBusy && !live.lost.aborted && !isTerminal(live.acceptedState);
  }

  /**
   * The store has perhaps written what was lost, an answer to a question say, and nothing works on the task then. An
   * execution that does ends now, and `track` sees to the rest.
   */
  #takeUpLost(live: LiveTask): void {
    const { owner, name, ended, takenOver } = live;
    if (!ended && !takenOver && !this.#byTask.has(name.taskId)) {
      this.#recoverSoon({ owner, taskId: name.taskId });
    }
  }

  /** Work was lost because the store could not write: the task is taken up again when it can. */
  #recoverSoon(task: TaskRef): void {
    if (this.#closed) {
      return;
    }
    const cancelRetry = this.#context.clock.schedule(recoveryDelayMs, () => {
      this.#retries.delete(cancelRetry);
      void this.recover(task);
    });
    this.#retries.add(cancelRetry);
  }

  #warn(message: string, taskId: string, error: unknown): void {
    this.#context.log({ level: "warn", message, taskId, error });
  }
}

function firstMessage(live: LiveTask): Message {
  const [message] = live.seen().task.history;
  if (message === undefined) {
    throw new Error("a task begins with a message");
  }
  return message;
}

/** What every executor learns about its task and the call that started it. */
function callInput(
  { owner, name }: Pick<LiveTask, "owner" | "name">,
  { skill }: SkillSelection,
  message: Message,
  { metadata, acceptedOutputModes = [], extensions = [], caller: known }: CallDetails,
): CallInput {
  const { principal, tenant } = owner;
  const caller = { principal, tenant, scopes: known?.scopes ?? [], claims: known?.claims ?? {} };
  return { message, ...name, skill, acceptedOutputModes, extensions, caller, principal, tenant, metadata };
}
