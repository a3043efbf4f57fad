import { a2aError, isInterrupted, isSettled, type Priority, text } from "@a2a-connect/core";
import { type Message, type Part, TaskState } from "@a2a-connect/proto";
import { Code, ConnectError } from "@connectrpc/connect";
import type { TurnAgentCode } from "../agent/skill-selection.ts";
import type { StatusEvent, TurnEvent } from "../agent/task-event.ts";
import { EngineTurn, type TurnInput } from "../agent/turn.ts";
import { UnusedResults } from "../agent/unused-results.ts";
import { AgentMistake, findLastMistake } from "./agent-mistake.ts";
import type { CallDetails } from "./command.ts";
import { assertEvent, Emitter, turnToTake } from "./emitter.ts";
import { endings } from "./endings.ts";
import type { EngineContext } from "./engine-context.ts";
import { agentReply } from "./events.ts";
import {
  defaultCancelGraceMs,
  type Execution,
  iterate,
  SilenceWatch,
  TurnAbort,
  type TurnAbortCause,
} from "./execution.ts";
import type { LiveTask } from "./live-task.ts";
import { weighDetails, weighMessage } from "./memory-weight.ts";
import { assertMessage, assertParts } from "./output-check.ts";

/** What a turn may yield. */
const eventKinds: readonly TurnEvent["kind"][] = ["status", "artifact", "reply"];

/** The first result for a sender: a direct answer, or the task. */
export type Accepted =
  | { readonly kind: "message"; readonly message: Message }
  | { readonly kind: "task"; readonly live: LiveTask };

/** What a turn needs to run. */
export interface TurnPlan {
  readonly input: TurnInput;
  readonly code: TurnAgentCode;
  /** Media types that the skill may produce. */
  readonly outputModes: readonly string[];
  /** Which of its caller's waiting turns starts first. Default `normal`. */
  readonly priority: Priority | undefined;
  /** See `Runnable`. */
  readonly share: string | undefined;
  /** What came with the message of a new task, if the log does not have it: when the turn waits, it may begin in another process. */
  readonly call: CallDetails | undefined;
  /** The turn has its task: from the beginning, or because it was created just now. */
  onTask(live: LiveTask, turn: TurnExecution): void;
}

/**
 * One run of an executor over one message, detached from the call that started it: when a caller disconnects, its call
 * ends and the turn goes on.
 */
export class TurnExecution implements Execution {
  readonly #context: EngineContext;
  readonly #plan: TurnPlan;
  /** Made when the executor reads its signal, or when it aborts: most turns never need one. */
  #controller: AbortController | undefined;
  #abortCause: TurnAbort | undefined;
  readonly #abortWaiters: (() => void)[] = [];
  readonly #emitter: Emitter;
  readonly #silence: SilenceWatch;
  readonly #done = Promise.withResolvers<void>();
  readonly #first = Promise.withResolvers<Message | LiveTask>();
  /** Creates the task of a new message. Is let go then: it has the call that brought the message, with its headers. */
  #create: (() => LiveTask) | undefined;
  #live: LiveTask | undefined;
  #cancelTaskTimer: () => void = () => {};
  #cancelGraceTimer: () => void = () => {};
  #isDone = false;
  #forgetTask: () => void = () => {};
  readonly #unused = new UnusedResults();
  #mistake: AgentMistake | undefined;
  /** Its code has returned without ever reading its signal: it did not return because it was told to stop. */
  #ranToEnd = false;
  /**
   * Whether the turn has yielded its last event. Set together with that event: the next turn may begin right after it.
   */
  #hadLastEvent = false;

  /** @param task what creates that of a new message: the turn's first status or artifact does so, or a wait for a slot */
  constructor(context: EngineContext, plan: TurnPlan, task: LiveTask | (() => LiveTask)) {
    this.#context = context;
    this.#plan = plan;
    const { agent, clock, limits } = context;
    this.#emitter = new Emitter(plan.outputModes, limits.maxTaskBytes, () => this.taskOrNew());
    this.#silence = new SilenceWatch(clock, agent.inactivityTimeoutMs, () => this.abort("inactive"));
    this.#first.promise.catch(() => {}); // A caller that asks gets the rejection. Without a caller it is no error.
    if (typeof task === "function") this.#create = task;
    else this.#adopt(task);
  }

  /** See `Scheduler`. */
  get priority(): Priority {
    return this.#plan.priority ?? "normal";
  }

  /** See `Scheduler`. */
  get skill(): string | undefined {
    return this.#plan.input.skill;
  }

  /** See `Scheduler`. */
  get share(): string | undefined {
    return this.#plan.share;
  }

  readonly isResting: boolean = false;
  readonly needsRecovery: boolean = false;
  #begun = false;
  #isWaiting = false;

  get begun(): boolean {
    return this.#begun;
  }

  /** The first of: a direct Message, or a task whose creation is durable. @throws ConnectError when there is neither */
  async outcome(): Promise<Accepted> {
    const first = await this.#first.promise;
    if ("$typeName" in first) {
      return { kind: "message", message: first };
    }
    await first.flushed();
    return { kind: "task", live: first };
  }

  /** Resolves when the turn is over and all its work is durable, or was given up. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  /** The task of the turn. The first call creates that of a new message. */
  taskOrNew(): LiveTask {
    const live = this.#live ?? (this.#create && this.#adopt(this.#create()));
    if (live === undefined) throw new Error("a turn has its task, or creates it");
    return live;
  }

  /** It may not begin yet. A `waiting` note in the log proves that no user code ran. */
  wait(): void {
    this.#isWaiting = true;
    const live = this.taskOrNew();
    if (this.#plan.call !== undefined) live.note({ type: "call", ...this.#plan.call });
    live.note({ type: "waiting" });
  }

  /** See `Runnable`. */
  putOff(): boolean {
    if (this.#abortCause !== undefined) return false;
    try {
      this.wait();
      return true;
    } catch {
      return false; // `run` comes upon the same, and tells
    }
  }

  /** Runs the turn to its end. Never rejects. */
  async run(onBegun: () => void = () => {}): Promise<void> {
    const { clock } = this.#context;
    this.#begun = true;
    this.#silence.heard();
    void clock.nextTurn().then(() => this.#startTimers());
    try {
      if (this.#isWaiting && this.#abortCause === undefined) {
        await this.#leaveQueue();
      }
      const turn = this.#context.wakes.executors.turn(this.share); // the commits of hundreds, at all agents, may have ended at once
      if (turn !== undefined) await turn;
      if (this.#abortCause === undefined) {
        await this.#executeOrAbandon(onBegun);
      }
      this.#finish();
    } catch (error) {
      this.#fail(error);
    }
    this.#hadLastEvent = true;
    this.#isDone = true;
    this.#cancelTaskTimer();
    this.#cancelGraceTimer();
    this.#silence.stop();
    this.#forgetTask();
    if (this.#live !== undefined) {
      this.#live.output.endExecutor();
      await this.#live.flushed().catch(() => {});
    }
    this.#done.resolve();
  }

  /** Before the turn's code runs, the log must say so. */
  async #leaveQueue(): Promise<void> {
    this.#isWaiting = false;
    this.taskOrNew().note({ type: "begun" });
    await this.#live?.flushed();
  }

  /** Tells the executor to stop; it has the agent's grace period for that. */
  abort(cause: TurnAbortCause, metadata?: TurnAbort["metadata"]): void {
    if (this.#abortCause === undefined) {
      this.#abortCause = new TurnAbort(cause, metadata);
      this.#controller?.abort(this.#abortCause);
      this.#live?.output.stopWaiting();
      for (const told of this.#abortWaiters) {
        told();
      }
    }
  }

  get #signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortCause !== undefined) {
        this.#controller.abort(this.#abortCause);
      }
    }
    return this.#controller.signal;
  }

  /** For a turn that will not run any more. */
  giveUp(): void {
    this.#hadLastEvent = true;
    this.#done.resolve();
  }

  #adopt(live: LiveTask): LiveTask {
    this.#plan.onTask(live, this);
    this.#cancelTaskTimer();
    this.#live = live;
    this.#create = undefined;
    const lose = () => this.abort("lost");
    live.lost.addEventListener("abort", lose, { once: true });
    this.#forgetTask = () => live.lost.removeEventListener("abort", lose);
    this.#first.resolve(live);
    return live;
  }

  /** Most turns are over before they need a timer. */
  #startTimers(): void {
    if (this.#isDone) {
      return;
    }
    const { clock, agent } = this.#context;
    if (this.#live === undefined && !this.#hadLastEvent) {
      this.#cancelTaskTimer = clock.schedule(agent.taskAfterMs ?? 200, () => this.#createLate());
    }
    this.#silence.watch();
  }

  /** The executor says nothing for a while: its caller gets the task, or why there is none. */
  #createLate(): void {
    try {
      if (!this.#hadLastEvent) this.taskOrNew();
    } catch (error) {
      this.#log("a task could not be created", error);
      this.#first.reject(error instanceof ConnectError ? error : maskError(error));
      this.abort("lost");
    }
  }

  /** Resolves also when the executor has ignored its signal for longer than the grace period. */
  #executeOrAbandon(onBegun: () => void): Promise<void> {
    const { agent, clock } = this.#context;
    return new Promise((resolve, reject) => {
      const code = this.#call();
      const returned = this.#execute(code);
      onBegun();
      this.#abortWaiters.push(() => {
        if (!this.#hadLastEvent) {
          this.#cancelGraceTimer = clock.schedule(agent.cancelGraceMs ?? defaultCancelGraceMs, () => {
            this.#abandon(code, returned);
            resolve();
          });
        }
      });
      returned.then(resolve, reject);
    });
  }

  /** Its task ends without it. */
  #abandon(code: object, returned: Promise<void>): void {
    const bytes = this.#weigh(this.#live?.memory.amount);
    this.#context.abandoned.count(code, returned, this.share, bytes);
  }

  /** What its code has in memory. @param ofTask what its task has; 0: there is none, or it has left memory */
  #weigh(ofTask = 0): number {
    const { input } = this.#plan;
    const { metadata } = this.#abortCause ?? {};
    const bytes = ofTask === 0 ? weighMessage(input.message) + weighDetails(input) : ofTask;
    return bytes + weighDetails({ metadata });
  }

  #call(): AsyncIterator<TurnEvent> {
    const { input, code } = this.#plan;
    let ordinal = input.task?.artifacts.length ?? 0;
    const turn = new EngineTurn(
      input,
      () => this.#signal,
      () => ++ordinal,
      this.#unused,
      this.share,
    );
    return iterate(code.execute(turn));
  }

  async #execute(iterator: AsyncIterator<TurnEvent>): Promise<void> {
    const { input } = this.#plan;
    let resume = () => iterator.next();
    for (;;) {
      const step = await resume();
      this.#silence.heard();
      const turn = step.done === true ? undefined : turnToTake(this.#context.wakes, step.value, this.share);
      if (turn !== undefined) await this.#silence.pauseFor(turn);
      if (this.#hadLastEvent) {
        this.#context.log({ level: "warn", message: "an abandoned executor went on", taskId: input.taskId });
        this.#letGo(iterator);
        return;
      }
      if (step.done === true) {
        this.#mistake = findLastMistake(this.#unused, step.value);
        this.#ranToEnd = this.#controller === undefined;
        return;
      }
      const taking = this.#take(step.value);
      const mistake = taking instanceof Promise ? await this.#silence.pauseFor(taking) : taking;
      if (mistake === undefined) {
        resume = () => iterator.next();
      } else {
        resume = () => iterator.throw?.(mistake) ?? Promise.reject(mistake);
      }
      if (this.#hadLastEvent) {
        this.#letGo(iterator);
        return;
      }
      // Code that goes on behind events that are refused, for each item of its caller's list, may never have a task.
      const { wakes } = this.#context;
      const room =
        this.#live === undefined ? wakes.executors.turn(this.share) : this.#live.output.wait(this.share);
      if (room !== undefined) await this.#silence.pauseFor(room);
    }
  }

  /** Does not await the executor: a `finally` that hangs must not delay the next message. What it has counts until then. */
  #letGo(iterator: AsyncIterator<TurnEvent>): void {
    const returned = iterator.return?.();
    if (returned === undefined) return;
    const ofTask = this.#live?.memory.amount; // the task may leave memory before
    this.#context.abandoned.countUnlessOver({
      code: iterator,
      returned,
      share: this.share,
      weigh: () => this.#weigh(ofTask),
      onError: (error) => this.#log("an executor failed after its turn had ended", error),
    });
  }

  #take(event: TurnEvent): Promise<AgentMistake | undefined> | AgentMistake | undefined {
    try {
      assertEvent(event, eventKinds);
      this.#unused.used(event);
      switch (event.kind) {
        case "reply":
          this.#reply(event.parts);
          break;
        case "status":
          this.#emitStatus(event);
          break;
        case "artifact":
          return this.#emitter.artifact(event)?.then(() => undefined, requireMistake);
      }
      return undefined;
    } catch (error) {
      return requireMistake(error);
    }
  }

  #reply(parts: readonly Part[]): void {
    assertParts(parts, "a reply");
    assertMessage({ parts }, "a reply", this.#context.limits.maxTaskBytes);
    const { contextId } = this.#plan.input;
    if (this.#live === undefined)
      this.#first.resolve(agentReply({ contextId }, parts, this.#context.randomId));
    else this.#live.emitStatus({ state: TaskState.COMPLETED, parts }); // may be refused
    this.#hadLastEvent = true;
  }

  #emitStatus(event: StatusEvent): void {
    this.#emitter.status(event);
    this.#hadLastEvent = isSettled(event.state);
    if (isInterrupted(event.state)) {
      this.#live?.messages.beginNext();
    }
  }

  /** The executor has returned, or was given up: adds the ending that it did not yield itself. */
  #finish(): void {
    if (this.#hadLastEvent) {
      return;
    }
    const hasEndedItself = this.#abortCause?.cause === "shutdown" && this.#ranToEnd;
    if (this.#abortCause !== undefined && !hasEndedItself) {
      this.#finishAborted(this.#abortCause.cause);
    } else if (this.#mistake !== undefined) {
      this.taskOrNew();
      this.#fail(this.#mistake);
    } else if (this.#live?.messages.queue.isEmpty !== false) {
      this.taskOrNew().emitStatus({ state: TaskState.COMPLETED });
    } // otherwise the next turn follows, and the task is not complete
  }

  #finishAborted(cause: TurnAbortCause): void {
    const goesOn = this.#isWaiting || this.#plan.code.recovery === "restart";
    if (cause === "lost" || (cause === "shutdown" && goesOn)) {
      return; // the next holder of the task continues it
    }
    this.taskOrNew().emitStatus(cause === "shutdown" ? endings.interrupted : endings[cause]);
  }

  #fail(error: unknown): void {
    if (this.#abortCause !== undefined) {
      this.#tryTo(() => this.#finish());
      return;
    }
    this.#log("an executor failed", error);
    const mistake = error instanceof AgentMistake ? error : undefined;
    // With or without an earlier event, its caller sees FAILED: it may have caused this, and can send less.
    if (mistake?.reason === "task-too-large") this.#tryTo(() => this.taskOrNew());
    if (this.#live === undefined) {
      const shown =
        mistake === undefined ? maskError(error) : a2aError("INVALID_AGENT_RESPONSE", mistake.message);
      this.#hadLastEvent = true;
      this.#first.reject(shown);
      return;
    }
    const live = this.#live;
    if (!this.#hadLastEvent) {
      const parts = [text(mistake?.message ?? "The agent failed while working on the task.")];
      const report = { reason: mistake?.reason ?? "internal" };
      this.#tryTo(() => live.emitStatus({ state: TaskState.FAILED, parts, report }));
    }
  }

  /** A lost task accepts nothing more, and no caller's memory takes one more task; the log has the reason already. */
  #tryTo(change: () => void): void {
    try {
      change();
    } catch (error) {
      this.#log("the end of a turn could not be written", error);
    }
  }

  #log(message: string, error: unknown): void {
    this.#context.log({ level: "error", message, taskId: this.#plan.input.taskId, error });
  }
}

/** @throws the error, if it is none of those that the agent's code learns of */
function requireMistake(error: unknown): AgentMistake {
  if (error instanceof AgentMistake) {
    return error;
  }
  throw error;
}

/** Any error before a task exists, of an executor above all, becomes our InternalError (requirement B-8). */
function maskError(error: unknown): ConnectError {
  return new ConnectError("Internal error", Code.Internal, undefined, undefined, error);
}
