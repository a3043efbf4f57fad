import { isTerminal, type Priority, text } from "@a2a-connect/core";
import { type Message, TaskState } from "@a2a-connect/proto";
import type { DurableInput, StepContext, StepOptions } from "../agent/durable-task.ts";
import type { DurableAgentCode } from "../agent/skill-selection.ts";
import type { DurableEvent, QuestionEvent } from "../agent/task-event.ts";
import { AgentMistake } from "./agent-mistake.ts";
import { DurableTools } from "./durable-tools.ts";
import { assertSameEmission, EmissionReplay } from "./emission-replay.ts";
import { Emitter } from "./emitter.ts";
import { endings } from "./endings.ts";
import type { EngineContext } from "./engine-context.ts";
import { type Execution, iterate } from "./execution.ts";
import { emptyJournal, type Journal, type QueuedMessage, readJournal } from "./journal.ts";
import { reviveError } from "./journal-codec.ts";
import { JournalDiverged } from "./journal-error.ts";
import { JournalSession } from "./journal-session.ts";
import type { LiveTask } from "./live-task.ts";
import { SilenceWatch } from "./silence-watch.ts";
import { attemptStep, backoffMs } from "./step.ts";
import { TurnAbort, type TurnAbortCause } from "./turn-abort.ts";
import { type Wait, Waits } from "./waits.ts";

/** Waits up to here are timers in memory and keep their place; longer ones are rows in the store. */
const shortWaitMs = 1_000;

/** Everything a durable executor needs to run. */
export interface DurablePlan {
  readonly live: LiveTask;
  readonly code: DurableAgentCode;
  readonly input: DurableInput;
  /** Media types the skill may give out. */
  readonly outputModes: readonly string[];
  readonly priority: Priority | undefined;
  /** Whether the task has just been made, so that there is no journal to read. */
  readonly isNew: boolean;
  /** Asks for a place for the next activation. */
  readonly askForPlace: () => void;
  /** Told that it has given its place back. */
  readonly onRest: () => void;
}

/**
 * A durable executor in memory: from when its task needs it until the task has ended, or has waited so long that it is
 * dropped. What an earlier run did is recognised and not repeated; from where that ends, it goes on.
 *
 * Each call of `run` is one activation: it holds a place among the running executions until there is nothing to do but
 * wait.
 */
export class DurableExecution implements Execution {
  readonly #context: EngineContext;
  readonly #plan: DurablePlan;
  readonly #emitter: Emitter;
  readonly #silence: SilenceWatch;
  readonly #waits: Waits;
  readonly #controller = new AbortController();
  readonly #done = Promise.withResolvers<void>();
  readonly #answers: Message[] = [];
  readonly #inbox: QueuedMessage[] = [];
  readonly #forgetTask: () => void;
  #activation = Promise.withResolvers<void>();
  #started = false;
  #resting = false;
  /** A place has been asked for. */
  #hasAsked = false;
  #abortCause: TurnAbort | undefined;
  /** A cancel that an earlier run was told of and this one has not come to yet. */
  #earlierStop: Journal["stop"];
  #journal: JournalSession | undefined;
  #replay: EmissionReplay | undefined;
  #replayedState: TaskState = TaskState.SUBMITTED;
  #yields = 0;
  #answersTaken = 0;
  #answerWait: Wait | undefined;
  #inboxTaken = 0;
  readonly #inboxWaits = new Set<Wait>();
  #cancelGraceTimer: () => void = () => {};
  #cancelUnloadTimer: () => void = () => {};
  #iterator: AsyncIterator<DurableEvent> | undefined;
  /** Set together with its last word. */
  #over = false;
  /** Nothing of what the generator still does counts. */
  #dropped = false;
  #ended = false;

  constructor(context: EngineContext, plan: DurablePlan) {
    this.#context = context;
    this.#plan = plan;
    const { agent, clock } = context;
    this.#emitter = new Emitter(plan.outputModes, () => plan.live);
    this.#silence = new SilenceWatch(clock, agent.inactivityTimeoutMs, () => this.abort("inactive"));
    this.#waits = new Waits({
      clock,
      onIdle: () => this.#rest(),
      onReady: () => this.#goOn(),
    });
    const lose = () => this.abort("lost");
    plan.live.lost.addEventListener("abort", lose, { once: true });
    this.#forgetTask = () => plan.live.lost.removeEventListener("abort", lose);
  }

  /** See `Scheduler`. */
  get priority(): Priority {
    return this.#plan.priority ?? "normal";
  }

  /** See `Scheduler`. */
  get skill(): string | undefined {
    return this.#plan.input.skill;
  }

  get begun(): boolean {
    return this.#started;
  }

  /** Whether it has given its place back and waits. */
  get isResting(): boolean {
    return this.#resting;
  }

  /** Whether it takes nothing any more. */
  get isGone(): boolean {
    return this.#dropped || this.#ended;
  }

  get done(): Promise<void> {
    return this.#done.promise;
  }

  /** One activation. Never rejects. */
  run(): Promise<void> {
    this.#hasAsked = false;
    this.#resting = false;
    if (this.#ended) {
      return Promise.resolve();
    }
    this.#activation = Promise.withResolvers();
    this.#silence.start();
    if (!this.#started) {
      this.#started = true;
      void this.#pump();
    }
    this.#waits.enter();
    return this.#activation.promise;
  }

  /** The caller has answered the question that the executor waits at. */
  answer(message: Message): void {
    this.#answers.push(message);
    this.#answerWait?.end();
  }

  /** A message came while the executor was at work. */
  deliver(queued: QueuedMessage): void {
    if (!this.#inbox.some(({ sequence }) => sequence === queued.sequence)) {
      this.#inbox.push(queued);
      const [first] = this.#inboxWaits;
      first?.end();
    }
  }

  /** The time of some sleep may have come. */
  wake(now: number): void {
    this.#waits.wake(now);
  }

  abort(cause: TurnAbortCause, metadata?: TurnAbort["metadata"]): void {
    if (this.#abortCause !== undefined || this.#ended) {
      return;
    }
    const isStop = cause === "canceled" || cause === "deadline";
    if (isStop && this.#journal === undefined && !this.#plan.isNew) {
      // It is told where the log ends: an earlier run got as far as that.
      this.#earlierStop = { type: "stop", cause, metadata, sequence: Number.MAX_SAFE_INTEGER };
      return;
    }
    this.#abortCause = new TurnAbort(cause, metadata);
    this.#controller.abort(this.#abortCause);
    if (cause === "lost" || cause === "shutdown") {
      this.#drop(); // whoever holds the task next goes on with it
      return;
    }
    this.#cancelGraceTimer = this.#context.clock.schedule(this.#context.agent.cancelGraceMs ?? 10_000, () =>
      this.#conclude(() => this.#finish()),
    );
    this.#waits.cutAll(this.#abortCause);
    if (!this.#started) {
      this.#conclude(() => this.#finish());
    }
  }

  giveUp(): void {
    this.#over = true;
    void this.#end();
  }

  /** The place is given back; what waits for long is dropped and read back when it is needed. */
  #rest(): void {
    this.#resting = true;
    this.#silence.stop();
    this.#activation.resolve();
    this.#cancelUnloadTimer = this.#context.clock.schedule(this.#context.limits.unloadAfterMs, () =>
      this.#drop(),
    );
    this.#plan.onRest();
  }

  #goOn(): void {
    this.#cancelUnloadTimer();
    if (!this.#hasAsked && !this.#ended) {
      this.#hasAsked = true;
      this.#resting = false;
      this.#plan.askForPlace();
    }
  }

  #drop(): void {
    this.#dropped = true;
    void this.#end();
  }

  async #pump(): Promise<void> {
    try {
      await this.#waits.keepBusy(() => this.#load());
      const iterator = iterate(this.#plan.code.execute(this.#tools()));
      this.#iterator = iterator;
      let resume: () => Promise<IteratorResult<DurableEvent>> = () => iterator.next();
      for (;;) {
        const step = await resume();
        this.#silence.heard();
        if (this.#isUnheard()) {
          this.#context.log({
            level: "warn",
            message: "an abandoned executor went on",
            taskId: this.#taskId,
          });
          return;
        }
        if (step.done === true) {
          break;
        }
        resume = await this.#take(step.value, iterator);
        if (this.#isUnheard()) {
          return;
        }
        await this.#plan.live.room();
      }
      this.#conclude(() => this.#finish());
    } catch (error) {
      this.#conclude(() => this.#fail(error));
    }
  }

  /** Whether nobody wants to hear more of the executor. */
  #isUnheard(): boolean {
    if (this.#over && !this.#dropped) {
      void this.#end();
    }
    return this.#over || this.#dropped;
  }

  async #load(): Promise<void> {
    const { store, journalCodec, limits } = this.#context;
    const { live, isNew } = this.#plan;
    const taskId = this.#taskId;
    const journal = isNew ? emptyJournal : await readJournal(store, journalCodec, live.owner, taskId);
    const early = this.#inbox.splice(0); // they came while this was read, and may be in it
    this.#inbox.push(...journal.queued);
    for (const queued of early) {
      this.deliver(queued);
    }
    this.#answers.unshift(...journal.answers.map(({ message }) => message));
    this.#earlierStop ??= journal.stop;
    this.#journal = new JournalSession(live, journal, journalCodec, limits);
    if (!isNew) {
      await live.flushed();
      this.#replay = new EmissionReplay(store, live.owner, taskId, journal, live.generation);
    }
  }

  #tools(): DurableTools {
    return new DurableTools(
      this.#plan.input,
      {
        step: (name, run, options) => this.#step(name, run, options),
        sleep: (ms) => this.#sleep(ms),
        now: () => this.#remember("now", () => this.#context.clock.now()),
        random: () => this.#remember("random", Math.random),
        inbox: {
          take: () => this.#takeMessage(),
          poll: () => this.#pollMessage(),
        },
      },
      () => this.#controller.signal,
    );
  }

  /** @returns how the executor goes on */
  async #take(
    event: DurableEvent,
    iterator: AsyncIterator<DurableEvent>,
  ): Promise<() => Promise<IteratorResult<DurableEvent>>> {
    try {
      await this.#emit(event);
    } catch (error) {
      if (error instanceof AgentMistake && !(error instanceof JournalDiverged)) {
        return () => iterator.throw?.(error) ?? Promise.reject(error);
      }
      throw error;
    }
    if (event.kind !== "question") {
      return () => iterator.next();
    }
    if (this.#abortCause !== undefined) {
      this.#conclude(() => this.#finish()); // nobody answers any more
      return () => iterator.next();
    }
    const answer = await this.#awaitAnswer();
    return () => (iterator as AsyncIterator<DurableEvent, unknown, Message>).next(answer); // `ask` takes it there
  }

  /** Repeats nothing that the log has; puts everything else there. @throws AgentMistake, JournalDiverged */
  async #emit(event: DurableEvent): Promise<void> {
    const mistakeOp = `yield#${++this.#yields}`;
    const known = this.#session.find(mistakeOp);
    if (known?.kind === "mistake") {
      throw new AgentMistake(known.message, known.reason);
    }
    const status = event.kind === "question" ? event.status : event;
    if (this.#replay !== undefined && this.#replay.left > 0) {
      if (status.kind === "status" && status.state === this.#replayedState && isSilent(event)) {
        return; // it was dropped then, too
      }
      const logged = await this.#replay.next();
      if (logged !== undefined) {
        assertSameEmission(logged, event);
        this.#repeatStop(logged.sequence);
        this.#note(event);
        return;
      }
    }
    this.#replay = undefined;
    this.#repeatStop();
    try {
      if (status.kind === "artifact") {
        await this.#emitter.artifact(status);
      } else {
        this.#emitter.status(status);
        this.#over = isTerminal(status.state);
      }
    } catch (error) {
      if (error instanceof AgentMistake) {
        this.#session.write({ op: mistakeOp, kind: "mistake", message: error.message, reason: error.reason });
      }
      throw error;
    }
    if (event.kind === "question") {
      await this.#plan.live.flushed();
    }
  }

  #note(event: DurableEvent): void {
    if (event.kind === "artifact") {
      this.#emitter.begin(event.artifact.artifactId);
    } else {
      this.#replayedState = event.kind === "question" ? event.status.state : event.state;
    }
  }

  async #awaitAnswer(): Promise<Message> {
    if (this.#answers[this.#answersTaken] === undefined) {
      this.#answerWait = this.#waits.beginUncut();
      await this.#answerWait.over;
      this.#answerWait = undefined;
    }
    this.#replayedState = TaskState.WORKING;
    const answer = this.#answers[this.#answersTaken++];
    if (answer === undefined) {
      throw new Error("a question was ended without its answer");
    }
    return answer;
  }

  async #step<Result>(
    name: string,
    run: (context: StepContext) => Promise<Result> | Result,
    options: StepOptions = {},
  ): Promise<Result> {
    await this.#unlessDropped();
    const op = this.#session.next(`step "${name}"`);
    const known = this.#session.find(op);
    if (known?.kind === "value") {
      return known.value as Result; // what `run` returned then
    }
    if (known?.kind === "error") {
      throw reviveError(known.name, known.message);
    }
    if (known?.kind === "aborted") {
      throw this.#cutAgain();
    }
    let attempts = known?.kind === "retry" ? known.attempts : 0;
    let retryAt = known?.kind === "retry" ? known.retryAt : undefined;
    for (;;) {
      if (retryAt !== undefined) {
        await this.#sleepUntil(op, retryAt);
      }
      this.#cutWhereStopped(op);
      const outcome = await this.#waits.keepBusy(() => this.#attempt(op, run, ++attempts, options));
      if ("value" in outcome) {
        return outcome.value;
      }
      if ("error" in outcome) {
        throw outcome.error;
      }
      retryAt = outcome.retryAt;
    }
  }

  /** One attempt at a step, and what came of it in the journal. */
  async #attempt<Result>(
    op: string,
    run: (context: StepContext) => Promise<Result> | Result,
    attempt: number,
    options: StepOptions,
  ): Promise<{ readonly value: Result } | { readonly error: unknown } | { readonly retryAt: number }> {
    const { clock } = this.#context;
    const { live } = this.#plan;
    // A step that is begun after the task was told to stop is there to clean up: it is not told again.
    const { signal } = this.#abortCause === undefined ? this.#controller : new AbortController();
    const outcome = await settle(attemptStep(run, attempt, options, signal, clock));
    await this.#unlessDropped();
    this.#silence.heard();
    if ("value" in outcome) {
      this.#session.write({ op, kind: "value", value: outcome.value });
    } else if (attempt <= (options.retries ?? 0) && this.#abortCause === undefined) {
      const retryAt = clock.now() + backoffMs(options.backoff, attempt);
      this.#session.write({ op, kind: "retry", attempts: attempt, retryAt });
      return { retryAt };
    } else {
      this.#session.write({ op, ...toErrorRecord(outcome.error, this.#abortCause) });
    }
    await live.flushed();
    return outcome;
  }

  async #sleep(ms: number): Promise<void> {
    await this.#unlessDropped();
    const op = this.#session.next("sleep");
    const known = this.#session.find(op);
    if (known?.kind === "aborted") {
      throw this.#cutAgain();
    }
    const until = known?.kind === "sleep" ? known.until : this.#context.clock.now() + Math.max(0, ms);
    if (known === undefined) {
      this.#cutWhereStopped(op);
      this.#session.write({ op, kind: "sleep", until });
    }
    await this.#sleepUntil(op, until);
  }

  async #sleepUntil(op: string, until: number): Promise<void> {
    const { clock } = this.#context;
    const leftMs = until - clock.now();
    if (leftMs <= 0) {
      await this.#plan.live.flushed();
      return;
    }
    this.#cutWhereStopped(op);
    if (leftMs > shortWaitMs) {
      await this.#outlast(op, this.#waits.begin(until));
      return;
    }
    const wait = this.#waits.begin();
    const stopTimer = clock.schedule(leftMs, wait.end);
    await this.#waits.keepBusy(() => this.#outlast(op, wait)).finally(stopTimer);
  }

  async #takeMessage(): Promise<Message> {
    await this.#unlessDropped();
    const op = this.#session.next("inbox.take");
    if (this.#session.find(op)?.kind === "aborted") {
      throw this.#cutAgain();
    }
    while (this.#inbox[this.#inboxTaken] === undefined) {
      this.#cutWhereStopped(op);
      const wait = this.#waits.begin();
      this.#inboxWaits.add(wait);
      await this.#outlast(op, wait).finally(() => this.#inboxWaits.delete(wait));
    }
    return this.#openMessage();
  }

  #pollMessage(): Message | undefined {
    const isThere = this.#remember("inbox.poll", () => this.#inbox[this.#inboxTaken] !== undefined);
    return isThere ? this.#openMessage() : undefined;
  }

  #openMessage(): Message {
    const queued = this.#inbox[this.#inboxTaken++];
    if (queued === undefined) {
      throw this.#diverged(this.#plan.live.generation, "a message that was taken is not in the log");
    }
    this.#plan.live.take(queued.sequence);
    return queued.message;
  }

  /** Waits to the end; what a cancel cuts off is noted, so that the next run is cut off there, too. */
  async #outlast(op: string, wait: Wait): Promise<void> {
    const { live } = this.#plan;
    try {
      if (live.setAlarm(this.#waits.nextAt)) {
        live.note({ type: "timer-moved" });
      }
      await live.flushed();
      await wait.over;
    } catch (error) {
      if (!this.#dropped && this.#abortCause !== undefined) {
        this.#session.write({ op, kind: "aborted" });
      }
      throw error;
    } finally {
      live.setAlarm(this.#waits.nextAt);
    }
    await this.#unlessDropped();
    this.#silence.heard();
  }

  /** Cuts an operation off where an earlier run was. */
  #cutAgain(): Error {
    this.#repeatStop(Number.POSITIVE_INFINITY);
    return this.#abortCause ?? new TurnAbort("canceled");
  }

  /** @throws TurnAbort when an earlier run was told to stop, and this operation is where that one had got to */
  #cutWhereStopped(op: string): void {
    if (this.#repeatStop()) {
      this.#session.write({ op, kind: "aborted" });
      throw this.#abortCause ?? new TurnAbort("canceled");
    }
  }

  /**
   * Tells the executor what an earlier run was told: to stop.
   *
   * @param sequence of the entry that the replay has come to; without one, where the log ends
   * @returns whether it was told so now
   */
  #repeatStop(sequence?: number): boolean {
    const stop = this.#earlierStop;
    const isDue =
      stop !== undefined &&
      (sequence === undefined ? (this.#replay?.left ?? 0) === 0 : sequence > stop.sequence);
    if (isDue) {
      this.#earlierStop = undefined;
      this.abort(stop.cause, stop.metadata);
    }
    return isDue;
  }

  /** A value that is the same in every run. */
  #remember<Value>(name: string, make: () => Value): Value {
    if (this.#dropped) {
      return make();
    }
    const op = this.#session.next(name);
    const known = this.#session.find(op);
    if (known?.kind === "value") {
      return known.value as Value; // what `make` gave then
    }
    if ((this.#replay?.left ?? 0) > 0) {
      throw this.#diverged((this.#replay?.cursor ?? 0) + 1, `${op} is not in the journal`);
    }
    const value = make();
    this.#session.write({ op, kind: "value", value });
    return value;
  }

  get #taskId(): string {
    return this.#plan.live.name.taskId;
  }

  get #session(): JournalSession {
    if (this.#journal === undefined) {
      throw new Error("the journal has not been read yet");
    }
    return this.#journal;
  }

  /** A dropped executor is held where it is: whoever runs it next does what it would have done. */
  #unlessDropped(): Promise<void> {
    return this.#dropped ? new Promise(() => {}) : Promise.resolve();
  }

  /** Ends the task at once, whatever the executor makes of the error. */
  #diverged(event: number, detail: string): JournalDiverged {
    const error = new JournalDiverged(event, detail);
    this.#conclude(() => this.#fail(error));
    return error;
  }

  /** The last word of the task, unless it has been said. */
  #conclude(say: () => void): void {
    if (!this.#over && !this.#dropped) {
      try {
        say();
      } catch (error) {
        this.#log("the end of a task could not be written", error);
      }
    }
    this.#over = true;
    void this.#end();
  }

  /** The executor has returned, or has been told to stop: what has not been said yet is said for it. */
  #finish(): void {
    const { live } = this.#plan;
    const cause = this.#abortCause?.cause;
    const leftOut = this.#findLeftOut();
    if (cause === undefined && leftOut !== undefined) {
      this.#fail(leftOut);
    } else if (cause === undefined) {
      live.emitStatus({ state: TaskState.COMPLETED });
    } else if (cause !== "lost" && cause !== "shutdown") {
      live.emitStatus(endings[cause]);
    }
  }

  /** What earlier runs did and this one has not. */
  #findLeftOut(): JournalDiverged | undefined {
    const op = this.#journal?.unclaimed;
    const events = this.#replay?.left ?? 0;
    if (op === undefined && events === 0) {
      return undefined;
    }
    const at = (this.#replay?.cursor ?? this.#plan.live.generation) + 1;
    return new JournalDiverged(at, events > 0 ? "the log has more events" : `nothing asked for ${op}`);
  }

  #fail(error: unknown): void {
    if (this.#abortCause !== undefined) {
      this.#finish();
      return;
    }
    this.#log("an executor failed", error);
    const mistake = error instanceof AgentMistake ? error : undefined;
    this.#plan.live.emitStatus({
      state: TaskState.FAILED,
      parts: [text(mistake?.message ?? "The agent failed while working on the task.")],
      report: { reason: mistake?.reason ?? "internal" },
    });
  }

  async #end(): Promise<void> {
    if (this.#ended) {
      return;
    }
    this.#ended = true;
    this.#silence.stop();
    this.#cancelGraceTimer();
    this.#cancelUnloadTimer();
    this.#forgetTask();
    if (!this.#dropped) {
      this.#letGo();
    }
    await this.#plan.live.flushed().catch(() => {});
    this.#activation.resolve();
    this.#done.resolve();
  }

  /** Nothing of the executor's is awaited here: a `finally` of its that hangs must not hold up anybody. */
  #letGo(): void {
    this.#iterator
      ?.return?.()
      .catch((error: unknown) => this.#log("an executor failed after its task had ended", error));
    this.#iterator = undefined;
  }

  #log(message: string, error: unknown): void {
    this.#context.log({ level: "error", message, taskId: this.#taskId, error });
  }
}

async function settle<Value>(
  promise: Promise<Value>,
): Promise<{ readonly value: Value } | { readonly error: unknown }> {
  try {
    return { value: await promise };
  } catch (error) {
    return { error };
  }
}

function isSilent(event: DurableEvent): event is Exclude<DurableEvent, QuestionEvent> {
  return event.kind === "status" && event.parts.length === 0 && Object.keys(event.report).length === 0;
}

function toErrorRecord(
  error: unknown,
  abort: TurnAbort | undefined,
):
  | { readonly kind: "aborted" }
  | { readonly kind: "error"; readonly name: string; readonly message: string } {
  if (abort !== undefined) {
    return { kind: "aborted" };
  }
  return error instanceof Error
    ? { kind: "error", name: error.name, message: error.message }
    : { kind: "error", name: "Error", message: String(error) };
}
