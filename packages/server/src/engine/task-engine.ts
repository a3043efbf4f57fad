import {
  a2aError,
  findA2AError,
  invalidParams,
  isInterrupted,
  isSettled,
  isTerminal,
} from "@a2a-connect/core";
import {
  type Message,
  type StreamResponse,
  type Task,
  type TaskPushNotificationConfig,
  TaskSchema,
  TaskState,
} from "@a2a-connect/proto";
import { create, type JsonObject } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import {
  assertInputModes,
  readLifecycleRequest,
  type SkillSelection,
  selectSkill,
  selectSkillById,
  skillMetadata,
} from "../agent/skill-selection.ts";
import type { TurnInput } from "../agent/turn.ts";
import type { Owner, TaskPage, TaskQuery, TaskRef } from "../store/task-store.ts";
import { endings, timeoutEnding } from "./endings.ts";
import type { EngineContext } from "./engine-context.ts";
import { submittedStatus, taskEvent } from "./events.ts";
import { TailBudget } from "./live-tail.ts";
import { LiveTask } from "./live-task.ts";
import { LiveTasks } from "./live-tasks.ts";
import { foldStoredTask } from "./log-codec.ts";
import { Scheduler } from "./scheduler.ts";
import { taskNotFound } from "./task-not-found.ts";
import { questionTimeoutMs, readDeadline } from "./task-timers.ts";
import { TurnExecution } from "./turn-execution.ts";
import { WakeTimers } from "./wake-timers.ts";

/** How long after a failed write the task's failure is written; again after as long while that fails, too. */
const recoveryDelayMs = 1_000;

/** A caller's message and what came with it. */
export interface SendInput {
  readonly owner: Owner;
  readonly message: Message;
  readonly metadata: JsonObject | undefined;
  readonly acceptedOutputModes: readonly string[];
  readonly extensions: readonly string[];
  /** Webhooks to register with the task, in the same commit. */
  readonly pushConfigs: readonly TaskPushNotificationConfig[];
}

/** What a send led to. */
export type Sent = { readonly kind: "message"; readonly message: Message } | TaskHandle;

/** A task held in memory for one caller, and the generation after which what the caller waits for begins. */
export interface TaskHandle {
  readonly kind: "task";
  /** The task as it may be seen now. */
  snapshot(): Task;
  /** The task at its first interrupted or terminal event after the caller's message. */
  settled(signal: AbortSignal): Promise<Task>;
  /** The task at the moment after which `events` begin; undefined when they begin with the task itself. */
  readonly first: Task | undefined;
  /** Every event after the caller's message until the task ends. */
  events(signal: AbortSignal): AsyncIterable<StreamResponse>;
  /** Lets go of the task. Must be called once, in `finally`. */
  release(): void;
}

/** The options of an engine are its context without what the engine adds itself. */
export type TaskEngineOptions = Omit<EngineContext, "onWakeTime" | "tailBudget">;

/**
 * Runs tasks: takes messages, starts executions, answers cancels, wakes timers. Decides nothing about a single task's
 * state (that is its `LiveTask`) and knows no wire.
 */
export class TaskEngine {
  readonly #context: EngineContext;
  readonly #tasks: LiveTasks;
  readonly #scheduler: Scheduler;
  readonly #timers: WakeTimers;
  /** The newest turn of each task. */
  readonly #executions = new Map<string, TurnExecution>();
  readonly #running = new Set<TurnExecution>();
  readonly #retries = new Set<() => void>();
  #closed = false;

  constructor(options: TaskEngineOptions) {
    this.#timers = new WakeTimers(options, (task) => this.#wake(task));
    this.#context = {
      ...options,
      onWakeTime: (at) => this.#timers.note(at),
      tailBudget: new TailBudget(options.limits.maxTotalTailBytes),
    };
    this.#tasks = new LiveTasks(this.#context);
    this.#scheduler = new Scheduler(options.limits);
  }

  /** Ends what a crash has left behind (design: recovery) and sets the timers. Call it before serving. */
  async start(): Promise<void> {
    let after: string | undefined;
    for (;;) {
      const page = await this.#context.store.unfinished(after, 100);
      await Promise.all(page.map((task) => this.#recover(task)));
      after = page.at(-1)?.taskId;
      if (after === undefined) {
        break;
      }
    }
    await this.#timers.start();
  }

  /**
   * Starts a task, or continues the one that the message names. Resolves when that is durable, or with the agent's
   * direct Message. A handle that is returned must be released.
   *
   * @throws ConnectError TASK_NOT_FOUND, UNSUPPORTED_OPERATION, CONTENT_TYPE_NOT_SUPPORTED, CAPACITY, InvalidArgument,
   *   or Internal when the executor failed before there was a task
   */
  send(input: SendInput): Promise<Sent> {
    return input.message.taskId === "" ? this.#begin(input) : this.#continue(input);
  }

  /** The owner's task. @throws ConnectError TASK_NOT_FOUND */
  async get(owner: Owner, taskId: string): Promise<Task> {
    const live = this.#tasks.peek(owner, taskId);
    if (live?.exists === true) {
      return live.snapshot();
    }
    const stored = await this.#context.store.find(owner, taskId, "full");
    if (stored === undefined) {
      throw taskNotFound(taskId);
    }
    return foldStoredTask(stored);
  }

  /** One page of the owner's tasks, folded. */
  async list(query: TaskQuery): Promise<{ readonly tasks: readonly Task[]; readonly page: TaskPage }> {
    const page = await this.#context.store.list(query);
    return { tasks: page.tasks.map(foldStoredTask), page };
  }

  /** A task to read from now on. @throws ConnectError TASK_NOT_FOUND; UNSUPPORTED_OPERATION when it has ended */
  async subscribe(owner: Owner, taskId: string): Promise<TaskHandle> {
    const live = await this.#acquire(owner, taskId);
    if (live.ended) {
      this.#tasks.release(live);
      throw a2aError("UNSUPPORTED_OPERATION", "the task has ended: there is nothing to subscribe to", {
        taskId,
      });
    }
    return this.#handle(live, live.generation, live.snapshot());
  }

  /**
   * Cancels the task and returns it. Always answers: an executor that ignores its signal is abandoned after the agent's
   * grace period.
   *
   * @throws ConnectError TASK_NOT_FOUND; TASK_NOT_CANCELABLE when it has ended, or ends otherwise meanwhile
   */
  async cancel(owner: Owner, taskId: string, metadata: JsonObject | undefined): Promise<Task> {
    const live = await this.#acquire(owner, taskId);
    try {
      await live.claim();
      const ended = isTerminal(live.acceptedState);
      await this.#stop(live, "canceled", metadata);
      const task = live.snapshot();
      if (ended || task.status?.state !== TaskState.CANCELED) {
        throw notCancelable(taskId);
      }
      return task;
    } finally {
      this.#tasks.release(live);
    }
  }

  /**
   * Stops taking timers, lets running executors go on for `graceMs`, then tells them to stop, and waits until what they
   * did is durable.
   */
  async close(graceMs: number): Promise<void> {
    this.#closed = true;
    this.#timers.close();
    for (const cancelRetry of this.#retries) {
      cancelRetry();
    }
    const grace = Promise.withResolvers<void>();
    const cancelGrace = this.#context.clock.schedule(graceMs, grace.resolve);
    await Promise.race([this.#idle(), grace.promise]);
    cancelGrace();
    for (const execution of this.#running) {
      execution.abort("shutdown");
    }
    await this.#idle();
  }

  /** Resolves when no turn runs or waits, those that begin meanwhile included. */
  async #idle(): Promise<void> {
    while (this.#running.size > 0) {
      await Promise.all([...this.#running].map((execution) => execution.done));
    }
  }

  async #begin(input: SendInput): Promise<Sent> {
    const { owner, message } = input;
    const selection = selectSkill(this.#context.agent, message);
    assertInputModes(message, selection.inputModes);
    const { randomId, clock } = this.#context;
    const name = { taskId: randomId(), contextId: message.contextId || randomId() };
    const named = { ...message, ...name };
    const createTask = () => {
      const metadata = skillMetadata(selection.skill);
      const task = create(TaskSchema, {
        id: name.taskId,
        contextId: name.contextId,
        status: submittedStatus(clock.now()),
        history: [named],
        ...(metadata === undefined ? {} : { metadata }),
      });
      const live = LiveTask.create(this.#context, owner, taskEvent(task), input.pushConfigs);
      this.#tasks.adopt(live);
      this.#tasks.retain(live); // once for the execution, once for the sender
      this.#track(live, execution);
      return live;
    };
    const execution = new TurnExecution(this.#context, {
      input: turnInput(input, named, name, selection, undefined),
      executor: selection.executor,
      outputModes: selection.outputModes,
      priority: readLifecycleRequest(message).priority,
      live: undefined,
      createTask,
    });
    if ((readDeadline({ history: [named] }) ?? Number.POSITIVE_INFINITY) <= clock.now()) {
      execution.abort("deadline"); // it does not even begin
    }
    const place = this.#scheduler.start(execution);
    this.#keep(execution);
    if (place === "queued") {
      execution.createTask();
    }
    const outcome = await execution.outcome();
    return outcome.kind === "message" ? outcome : this.#handle(outcome.live, 0, undefined);
  }

  async #continue(input: SendInput): Promise<Sent> {
    const { owner, message } = input;
    const live = await this.#acquire(owner, message.taskId);
    try {
      const { contextId } = live.name;
      if (message.contextId !== "" && message.contextId !== contextId) {
        throw invalidParams({
          field: "message.contextId",
          description: "is not the context of message.taskId",
        });
      }
      await live.claim();
      live.assertInterrupted();
      readLifecycleRequest(message);
      const selection = selectSkillById(this.#context.agent, live.skill);
      assertInputModes(message, selection.inputModes);
      const named = { ...message, contextId };
      const generation = live.answer(named, input.pushConfigs);
      await live.flushed();
      const task = live.snapshot();
      // A cancel or a deadline may have been quicker.
      if (!isTerminal(live.acceptedState)) {
        this.#resume(live, turnInput(input, named, live.name, selection, task), selection);
      }
      return this.#handle(live, generation, task);
    } catch (error) {
      this.#tasks.release(live);
      throw error;
    }
  }

  #resume(live: LiveTask, input: Omit<TurnInput, "signal">, selection: SkillSelection): void {
    const execution = new TurnExecution(this.#context, {
      input,
      executor: selection.executor,
      outputModes: selection.outputModes,
      priority: readLifecycleRequest(input.message).priority,
      live,
      createTask: () => live,
    });
    this.#tasks.retain(live);
    this.#track(live, execution);
    if (live.takeDeadline(this.#context.clock.now())) {
      execution.abort("deadline");
    }
    this.#scheduler.start(execution, "always");
    this.#keep(execution);
  }

  /** Every turn is known until it is done, also before it has a task: a server that stops waits for it. */
  #keep(execution: TurnExecution): void {
    if (this.#closed) {
      execution.abort("shutdown");
    }
    this.#running.add(execution);
    void execution.done.then(() => this.#running.delete(execution));
  }

  #track(live: LiveTask, execution: TurnExecution): void {
    const { taskId } = live.name;
    this.#executions.set(taskId, execution);
    void execution.done.then(() => {
      if (this.#executions.get(taskId) === execution) {
        this.#executions.delete(taskId);
      }
      this.#tasks.release(live);
      if (live.lost.aborted && !live.takenOver) {
        this.#recoverSoon({ owner: live.owner, taskId });
      }
    });
  }

  /** Ends a task that has not ended: through its executor when one runs, which may still end it otherwise. */
  async #stop(live: LiveTask, cause: "canceled" | "deadline", metadata?: JsonObject): Promise<void> {
    while (!isTerminal(live.acceptedState)) {
      const execution = this.#executions.get(live.name.taskId);
      if (
        execution === undefined ||
        isInterrupted(live.acceptedState) ||
        this.#scheduler.withdraw(execution)
      ) {
        live.emitStatus(endings[cause]);
        execution?.giveUp();
      } else {
        live.note({ type: "stop", cause });
        execution.abort(cause, metadata);
        await execution.done;
      }
    }
    await live.flushed();
  }

  async #wake({ owner, taskId }: TaskRef): Promise<void> {
    const live = await this.#tasks.acquire(owner, taskId);
    if (live === undefined) {
      return;
    }
    try {
      await live.claim();
      const now = this.#context.clock.now();
      const overdue = live.overdueQuestion(now);
      if (live.takeDeadline(now)) {
        // Not awaited: an executor may take its grace period, and other timers are due.
        this.#tasks.retain(live);
        void this.#stop(live, "deadline")
          .catch((error: unknown) => this.#warn("a deadline could not be kept", taskId, error))
          .finally(() => this.#tasks.release(live));
      } else if (overdue !== undefined) {
        live.emitStatus(
          timeoutEnding(overdue, questionTimeoutMs(this.#context.agent, live.acceptedState) ?? 0),
        );
      } else if (!isTerminal(live.acceptedState)) {
        // The agent's timeouts are others than when the timer was set: a commit sets it anew, or it would be due for ever.
        live.note({ type: "timer-moved" });
      }
      await live.flushed();
    } finally {
      this.#tasks.release(live);
    }
  }

  /** Work was lost because the store could not be written: fails the task when it can be, instead of leaving it at work. */
  #recoverSoon(task: TaskRef): void {
    if (this.#closed) {
      return;
    }
    const cancelRetry = this.#context.clock.schedule(recoveryDelayMs, () => {
      this.#retries.delete(cancelRetry);
      void this.#recover(task).then((recovered) => recovered || this.#recoverSoon(task));
    });
    this.#retries.add(cancelRetry);
  }

  /** Fails a task that nobody works on. @returns false when that has to be tried again */
  async #recover({ owner, taskId }: TaskRef): Promise<boolean> {
    try {
      const live = await this.#acquire(owner, taskId);
      try {
        await live.claim();
        if (!isSettled(live.acceptedState) && !this.#executions.has(taskId)) {
          live.emitStatus(endings.interrupted);
          await live.flushed();
          this.#context.log({ level: "info", message: "a task that was left behind was failed", taskId });
        }
      } finally {
        this.#tasks.release(live);
      }
      return true;
    } catch (error) {
      if (findA2AError(error)?.reason === "TASK_NOT_FOUND") {
        return true; // its creation was never written
      }
      this.#warn("a task that a stopped server left behind could not be recovered", taskId, error);
      return false;
    }
  }

  async #acquire(owner: Owner, taskId: string): Promise<LiveTask> {
    const live = await this.#tasks.acquire(owner, taskId);
    if (live === undefined) {
      throw taskNotFound(taskId);
    }
    return live;
  }

  /** @param first the task as it is now; undefined for one whose events are wanted from its creation on */
  #handle(live: LiveTask, generation: number, first: Task | undefined): TaskHandle {
    const seen = first === undefined ? 0 : live.generation;
    return {
      kind: "task",
      first,
      snapshot: () => live.snapshot(),
      settled: (signal) => live.settledAfter(generation, signal),
      events: (signal) => live.eventsAfter(seen, signal),
      release: () => this.#tasks.release(live),
    };
  }

  #warn(message: string, taskId: string, error: unknown): void {
    this.#context.log({ level: "warn", message, taskId, error });
  }
}

function turnInput(
  { owner, metadata, acceptedOutputModes, extensions }: SendInput,
  message: Message,
  name: { readonly taskId: string; readonly contextId: string },
  { skill }: SkillSelection,
  task: Task | undefined,
): Omit<TurnInput, "signal"> {
  const { principal, tenant } = owner;
  return { message, task, ...name, skill, acceptedOutputModes, extensions, principal, tenant, metadata };
}

function notCancelable(taskId: string): ConnectError {
  return a2aError("TASK_NOT_CANCELABLE", "the task has already ended", { taskId });
}
