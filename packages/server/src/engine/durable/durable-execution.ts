import { isInterrupted, type Priority, text } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import { ConnectError } from "@connectrpc/connect";
import type { DurableEvent } from "../../agent/task-event.ts";
import { UnusedResults } from "../../agent/unused-results.ts";
import { AgentMistake, findLastMistake } from "../agent-mistake.ts";
import type { CallDetails } from "../command.ts";
import { Emitter, turnToTake } from "../emitter.ts";
import { endings } from "../endings.ts";
import type { EngineContext } from "../engine-context.ts";
import {
  defaultCancelGraceMs,
  type Execution,
  iterate,
  SilenceWatch,
  TurnAbort,
  type TurnAbortCause,
} from "../execution.ts";
import type { LiveTask } from "../live-task.ts";
import { weighDetails } from "../memory-weight.ts";
import { answerOp, DurableAnswers } from "./durable-answers.ts";
import { DurableEmissions } from "./durable-emissions.ts";
import { DurableInbox } from "./durable-inbox.ts";
import type { DurablePlan } from "./durable-plan.ts";
import type { AssertGoesOn, DurableRun } from "./durable-run.ts";
import { DurableTools } from "./durable-tools.ts";
import { EmissionReplay } from "./emission-replay.ts";
import { InstantCalls, type InstantTool } from "./instant-calls.ts";
import { emptyJournal, type Journal, type QueuedMessage } from "./journal.ts";
import { JournalDiverged } from "./journal-error.ts";
import { JournalReading } from "./journal-reading.ts";
import { JournalSession } from "./journal-session.ts";
import { createJournaledTools } from "./journaled-tools.ts";
import { Operations } from "./operations.ts";
import type { RunAttempt } from "./run-attempts.ts";
import { Waits } from "./waits.ts";

/**
 * How long after a crash the server continues what is at work beside an open question: the start does not look for that task among those
 * at work.
 */
const lookAgainMs = 60_000;

/** How to resume the generator. */
type Resume = () => Promise<IteratorResult<DurableEvent>>;

/**
 * A durable executor in memory: from when its task needs it until the task has ended, or the executor was dropped after
 * a long wait. It recognises the work of an earlier run and does not repeat it; behind that, it goes on.
 *
 * Each call of `run` is one activation: it holds a running slot until the executor only waits.
 */
export class DurableExecution implements Execution, DurableRun {
  readonly live: LiveTask;
  readonly clock: EngineContext["clock"];
  readonly waits: Waits;
  readonly unused: UnusedResults = new UnusedResults();
  readonly #context: EngineContext;
  readonly #plan: DurablePlan;
  readonly #silence: SilenceWatch;
  readonly #controller = new AbortController();
  /** Aborts when its grace period begins, and when it has ended: it waits for no turn any more. */
  readonly #hurry = new AbortController();
  readonly #reading: JournalReading;
  readonly #done = Promise.withResolvers<void>();
  readonly #inbox = new DurableInbox();
  readonly #answers = new DurableAnswers();
  readonly #forgetTask: () => void;
  #activation = Promise.withResolvers<void>();
  #started = false;
  #resting = false;
  /** A slot was asked for. */
  #hasAsked = false;
  /** It must stop. The executor learns that as `stopped`. */
  #stopping: TurnAbort | undefined;
  #stopped: TurnAbort | undefined;
  #stoppedBefore: number | undefined;
  #journal: JournalSession | undefined;
  #replay: EmissionReplay | undefined;
  #attempt: RunAttempt | undefined;
  readonly #operations: Operations;
  readonly #instantCalls: InstantCalls;
  #isYielding = false;
  /** Whether what it has yielded is being put into the log. */
  #isEmitting = false;
  #cancelGraceTimer: (() => void) | undefined;
  #cancelUnloadTimer: () => void = () => {};
  #iterator: AsyncIterator<DurableEvent> | undefined;
  /** Resolves when its events are not read any more. */
  #pumping: Promise<void> = Promise.resolve();
  /** Set together with the event that ends the task. */
  #over = false;
  /** Everything that the generator still does is ignored. */
  #dropped = false;
  /** Whether its code has yielded, thrown or ignored the end of its task: otherwise it waits for a result that never comes. */
  #goesOn = false;
  /** Resolves when its code has returned that goes on behind the end of its task. */
  #returning: Promise<void> | undefined;
  #ended = false;
  #needsRecovery = false;
  /** What the executor returned; it means nothing. */
  #returned: unknown;

  constructor(context: EngineContext, plan: DurablePlan) {
    this.#context = context;
    this.#plan = plan;
    this.live = plan.live;
    this.clock = context.clock;
    this.#operations = new Operations(context, plan.live.memory, plan.share, (over, holding) =>
      context.abandoned.count(this, over, plan.share, 0, holding),
    );
    this.#instantCalls = new InstantCalls(context.clock);
    this.#reading = new JournalReading(context, this, this.#graceMs, () =>
      this.#conclude(() => this.#finish()),
    );
    this.#silence = new SilenceWatch(context.clock, context.agent.inactivityTimeoutMs, () =>
      this.#tooSilent(),
    );
    this.waits = new Waits({
      clock: context.clock,
      onIdle: () => this.#rest(),
      onReady: () => this.#goOn(),
    });
    plan.live.watchCommits(() => {
      const beside = this.waits.busy - (this.#isEmitting ? 1 : 0); // the question itself is no work beside it
      if (beside > 0 && isInterrupted(this.live.acceptedState)) this.live.timers.wakeBy(this.wakeAt);
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
    return this.#plan.skill;
  }

  /** See `Scheduler`. */
  get share(): string | undefined {
    return this.#plan.share;
  }

  /** Whether this process or an earlier one has called its code. */
  get begun(): boolean {
    return this.#started || this.#plan.call === undefined;
  }

  /** See `Runnable`. */
  get waitsForRoom(): boolean {
    return this.begun;
  }

  /** Whether it has given its slot back and waits. */
  get isResting(): boolean {
    return this.#resting;
  }

  /** See `Runnable`. */
  get isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  /** See `Execution`. */
  get mustStay(): boolean {
    // The grace period of one that was told to stop would begin anew, and nothing else wakes one that waits for its turn.
    return this.isStopping || this.#attempt?.isWaiting === true;
  }

  /** Whether it would go on with what earlier runs did, and has not read that yet. */
  get isUnread(): boolean {
    return this.#journal === undefined && this.#plan.call === undefined;
  }

  /** See `JournalReading`. */
  get hasRead(): Promise<boolean> {
    return this.#reading.hasRead;
  }

  /** Whether it takes no more messages or events. */
  get isGone(): boolean {
    return this.#dropped || this.#ended;
  }

  get needsRecovery(): boolean {
    return this.#needsRecovery;
  }

  get done(): Promise<void> {
    return this.#done.promise;
  }

  /** One activation. Never rejects. */
  run(onBegun: () => void = () => {}): Promise<void> {
    this.#hasAsked = false;
    this.#resting = false;
    this.#reading.stopTimer();
    if (this.#ended) {
      return Promise.resolve();
    }
    // It has rested beside its question, and goes on with something else: only this commit says that a start has to.
    if (this.#started && isInterrupted(this.live.acceptedState) && this.live.timers.wakeBy(this.wakeAt)) {
      this.live.note({ type: "timer-moved" });
    }
    this.#activation = Promise.withResolvers();
    this.#silence.start();
    this.waits.enter();
    if (!this.#started) {
      this.#started = true;
      this.#pumping = this.#pump(onBegun);
    } else {
      onBegun();
    }
    return this.#activation.promise;
  }

  /** The caller has answered the question for which the executor waits. The log may have had the answer already. */
  answer(answer: QueuedMessage): void {
    this.#answers.give(answer);
  }

  /** A message came while the executor was at work. */
  deliver(queued: QueuedMessage): void {
    this.#inbox.deliver(queued);
  }

  /** Ends the sleeps whose time has come. */
  wake(now: number): void {
    this.waits.wake(now);
    this.live.timers.setAlarm(this.wakeAt); // finished waits need only a slot, and must not ring again
  }

  abort(cause: TurnAbortCause, metadata?: TurnAbort["metadata"]): void {
    if (this.#ended) {
      return;
    }
    if (cause === "lost" || cause === "shutdown") {
      if (cause === "shutdown") this.#attempt?.survive();
      this.#drop(); // the next holder of the task continues it
      this.#controller.abort(new TurnAbort(cause, metadata));
      return;
    }
    const stop = new TurnAbort(cause, metadata);
    if (!this.begun) {
      this.#stopping ??= stop;
      this.#conclude(() => this.#finish());
      return;
    }
    if (this.#stopping === undefined) {
      this.#stopping = stop;
      if (this.#journal !== undefined) this.#stopHere(stop);
      else this.#reading.hurry(this.#started);
    }
    this.#plan.hurry();
  }

  giveUp(cause: TurnAbortCause = "canceled", metadata?: TurnAbort["metadata"]): void {
    this.#over = true;
    this.#controller.abort(new TurnAbort(cause, metadata));
    void this.#end();
  }

  // The members from here on are for the executor's tools: see `DurableRun`.

  get journal(): JournalSession {
    if (this.#journal === undefined) {
      throw new Error("the journal has not been read yet");
    }
    return this.#journal;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get stopped(): TurnAbort | undefined {
    return this.#stopped;
  }

  get stoppedBefore(): number | undefined {
    return this.#stoppedBefore;
  }

  get wakeAt(): number | undefined {
    const { nextAt = Number.POSITIVE_INFINITY } = this.waits;
    const isAtWork = !this.#resting || this.#attempt?.isWaiting === true; // or is to be, when its turn has come
    const isBesideQuestion = isAtWork && isInterrupted(this.live.acceptedState);
    const at = Math.min(nextAt, isBesideQuestion ? this.clock.now() + lookAgainMs : nextAt);
    return at === Number.POSITIVE_INFINITY ? undefined : at;
  }

  get isYielding(): boolean {
    return this.#isYielding;
  }

  heard(): void {
    this.#silence.heard();
  }

  untilRoom(): Promise<void> | undefined {
    const room = this.live.output.wait(this.share);
    return room === undefined ? room : this.pauseFor(room);
  }

  pauseFor<Result>(room: Promise<Result>): Promise<Result> {
    return this.#silence.pauseFor(room);
  }

  hold<Result>(work: (assertGoesOn: AssertGoesOn) => Promise<Result>): Promise<Result> {
    if (this.#dropped) {
      return never();
    }
    const isLate = this.#ended && !this.#operations.hasTooMany; // in a `finally`, behind the event that has ended the task
    if (isLate) this.#operations.beginLate();
    else this.#callNow(() => this.#operations.begin(this.#journal?.isRepeating === true));
    const isCutOff = () => (isLate ? this.#dropped : this.isGone);
    const assertGoesOn = () => {
      if (isCutOff()) throw new TurnAbort("lost");
    };
    const held = work(assertGoesOn).finally(() => {
      if (isLate) this.#operations.endLate();
      else this.#operations.end();
      return isCutOff() ? never() : undefined;
    });
    held.catch(() => {}); // an executor may ignore it, also one that is told to stop
    return held;
  }

  callInstantly<Result>(tool: InstantTool, work: () => Result): Result {
    return this.#callNow(() => {
      this.#instantCalls.add(tool);
      return work();
    });
  }

  diverge(detail: string, event?: number): Error {
    const error = new JournalDiverged(event ?? (this.#replay?.cursor ?? 0) + 1, detail);
    this.#conclude(() => this.#fail(error));
    return error;
  }

  abandon(error: unknown): Promise<never> {
    if (!this.#dropped) {
      this.#log("warn", "the log of a task could not be read; it is tried again", error);
      this.#needsRecovery = true;
      this.#drop();
    }
    return never();
  }

  /** What fails ends the task, and is thrown at once, not by a promise: the code may be about to do so for each of 100,000 items of its caller's list. */
  #callNow<Result>(call: () => Result): Result {
    try {
      return call();
    } catch (mistake) {
      this.#goesOn = true;
      this.#conclude(() => this.#fail(mistake));
      throw mistake;
    }
  }

  /** Gives the slot back. After a long wait the executor is dropped, and loaded again when it is needed. */
  #rest(): void {
    this.#resting = true;
    if (!this.isGone && this.live.timers.setAlarm(this.wakeAt)) {
      this.live.note({ type: "timer-moved" });
    }
    this.#attempt?.survive(true); // the log ends with this note
    this.#silence.stop();
    this.#activation.resolve();
    if (!this.mustStay && !this.isGone) {
      this.#cancelUnloadTimer = this.clock.schedule(this.#context.limits.unloadAfterMs, () => this.#drop());
    }
    this.#plan.onRest();
  }

  #goOn(): void {
    this.#cancelUnloadTimer();
    if (!this.#hasAsked && !this.isGone) {
      this.#hasAsked = true;
      this.#resting = false;
      this.#plan.askForPlace();
    }
  }

  async #pump(onBegun: () => void): Promise<void> {
    try {
      const { emissions, call } = await this.waits.keepBusy(() => this.#load());
      await this.#attempt?.begin(this.#hurry.signal);
      const turn = this.#context.wakes.executors.turn(this.share); // what hundreds have read may have come at once
      if (turn !== undefined) await this.waits.keepBusy(() => turn);
      if (this.isGone) {
        return;
      }
      const iterator = iterate(this.#plan.code.execute(this.#tools(call)));
      this.#iterator = iterator;
      let resume: Resume = () => {
        const first = iterator.next();
        onBegun();
        return first;
      };
      for (;;) {
        this.#goesOn = false;
        const step = await resume();
        this.#goesOn = true;
        this.heard();
        if (this.#isUnheard()) {
          this.#log("warn", "an abandoned executor went on");
          return;
        }
        if (step.done === true) {
          this.#returned = step.value;
          break;
        }
        await this.waits.place(); // the executor has done other work while it seemed to wait
        const turn = turnToTake(this.#context.wakes, step.value, this.share);
        if (turn !== undefined) await this.waits.keepBusy(() => turn);
        if (this.#isUnheard()) {
          return;
        }
        this.#isYielding = true;
        resume = await this.#take(step.value, iterator, emissions);
        this.#isYielding = false;
        if (this.#isUnheard()) {
          return;
        }
      }
      this.#conclude(() => this.#finish());
    } catch (error) {
      this.#conclude(() => this.#fail(error));
    }
  }

  /** Whether the executor's further events are ignored. */
  #isUnheard(): boolean {
    if (this.#over && !this.#dropped) {
      void this.#end();
    }
    return this.#over || this.#dropped;
  }

  /** Reads what earlier runs did. */
  async #load(): Promise<{ readonly emissions: DurableEmissions; readonly call: CallDetails }> {
    const { live, clock, share } = this;
    const { journalCodec, limits } = this.#context;
    const journal = await this.#readJournal();
    if (this.#isAtRest(journal)) {
      this.#drop(); // it is loaded again when there is something for it to do
      return never();
    }
    const replay = new EmissionReplay(
      this.#context,
      { owner: live.owner, taskId: live.name.taskId, share },
      journal,
      live.generation,
    );
    this.#inbox.load(journal);
    this.#answers.load(journal.answers);
    this.#replay = replay;
    this.#journal = new JournalSession({
      live,
      journal,
      emissions: replay.left,
      codec: journalCodec,
      limits,
      clock,
      untilRoom: () => this.untilRoom(),
      isRerun: this.#plan.call === undefined,
      onStuck: (detail) => this.diverge(detail),
      onFull: (error) => this.#conclude(() => this.#fail(error)),
    });
    const { begun, stop } = journal;
    this.#attempt = this.#plan.openAttempt(this, begun?.emissions === replay.left ? begun.runs : 0);
    if (stop !== undefined) {
      this.#stoppedBefore = stop.sequence;
      this.#stopping = new TurnAbort(stop.cause, stop.metadata);
      this.#stopAt(stop.sequence, this.#stopping);
    } else if (this.#stopping !== undefined) {
      this.#stopHere(this.#stopping);
    }
    const emitter = new Emitter(this.#plan.outputModes, this.#context.limits.maxTaskBytes, () => live);
    return {
      emissions: new DurableEmissions(this, emitter, replay),
      call: this.#plan.call ?? journal.call ?? {},
    };
  }

  /**
   * Whether a run after an earlier start has got as far as this one could: the log ends with that, no wait is over, and there is no message
   * that it has not read. Such a message may have been accepted while that run came to rest.
   */
  #isAtRest({ restedAt, stop, untaken, answers, records }: Journal): boolean {
    const { accepted, timers } = this.live;
    const { wakeAt = Number.POSITIVE_INFINITY } = timers;
    const hasRead = untaken.length === 0 && (answers.length === 0 || records.has(answerOp(answers.length)));
    // Nothing but its grace period ends the waits of one that was told to stop.
    return restedAt === accepted.sequence && wakeAt > this.clock.now() && stop === undefined && hasRead;
  }

  async #readJournal(): Promise<Journal> {
    if (this.#plan.call !== undefined) {
      return emptyJournal;
    }
    try {
      return await this.pauseFor(this.#reading.read());
    } catch (error) {
      if (this.isGone) return never();
      if (error instanceof ConnectError) {
        return this.abandon(error);
      }
      throw this.diverge(error instanceof Error ? error.message : "the journal cannot be read");
    }
  }

  #tools(call: CallDetails): DurableTools {
    return new DurableTools(
      this.#plan.input(call),
      createJournaledTools(this, this.#inbox),
      () => this.signal,
      this.unused,
    );
  }

  async #emit(event: DurableEvent, emissions: DurableEmissions): Promise<boolean> {
    this.#isEmitting = true;
    return emissions.emit(event).finally(() => {
      this.#isEmitting = false;
    });
  }

  async #take(
    event: DurableEvent,
    iterator: AsyncIterator<DurableEvent>,
    emissions: DurableEmissions,
  ): Promise<Resume> {
    try {
      if (await this.waits.keepBusy(() => this.#emit(event, emissions))) {
        this.#over = true;
      }
    } catch (error) {
      if (error instanceof AgentMistake && !(error instanceof JournalDiverged)) {
        return () => iterator.throw?.(error) ?? Promise.reject(error);
      }
      throw error;
    }
    if (event.kind !== "question") {
      return () => iterator.next();
    }
    const answer = await this.#answers.next(this, event.isChecked);
    emissions.answered();
    return () => (iterator as AsyncIterator<DurableEvent, unknown, QueuedMessage>).next(answer); // `ask` gets it from the yield
  }

  #tooSilent(): void {
    if (this.#stopping === undefined && !this.isGone && !this.live.lost.aborted) {
      this.live.note({ type: "stop", cause: "inactive" });
    }
    this.abort("inactive");
  }

  /** Tells the executor to stop, at the newest entry of the log. */
  #stopHere(stop: TurnAbort): void {
    const { sequence } = this.live.accepted;
    this.journal.order.add("the stop", sequence);
    this.#stopAt(sequence, stop);
  }

  /** The executor learns it after it was given all results that the log has before. */
  #stopAt(sequence: number, stop: TurnAbort): void {
    this.#startGrace();
    const learn = () => {
      if (this.isGone) {
        return;
      }
      this.#stopped = stop;
      this.#controller.abort(stop);
      this.waits.cutAll(stop);
    };
    this.journal.order.result(sequence).then(learn, () => {}); // it has ended before
  }

  #startGrace(): void {
    this.live.output.stopWaiting();
    this.#hurry.abort();
    this.#cancelGraceTimer ??= this.clock.schedule(this.#graceMs, () => {
      this.#goesOn = true;
      this.#conclude(() => this.#finish());
    });
  }

  get #graceMs(): number {
    return this.#context.agent.cancelGraceMs ?? defaultCancelGraceMs;
  }

  /** Ends the task, unless that has been done. */
  #conclude(say: () => void): void {
    if (!this.#over && !this.#dropped) {
      try {
        say();
      } catch (error) {
        this.#log("error", "the end of a task could not be written", error);
      }
    }
    this.#over = true;
    void this.#end();
  }

  /** The executor has returned, or was told to stop: adds the ending that it did not yield itself. */
  #finish(): void {
    const cause = this.#stopping?.cause;
    const leftOut = this.#findLeftOut();
    if (cause !== undefined && cause !== "lost" && cause !== "shutdown") {
      this.live.emitStatus(endings[cause]);
    } else {
      const mistake = leftOut ?? findLastMistake(this.unused, this.#returned);
      if (mistake === undefined) {
        this.live.emitStatus({ state: TaskState.COMPLETED });
      } else {
        this.#fail(mistake);
      }
    }
  }

  /** Work of earlier runs that this run has not repeated. */
  #findLeftOut(): JournalDiverged | undefined {
    const op = this.#journal?.unclaimed;
    const events = this.#replay?.left ?? 0;
    if (op === undefined && events === 0) {
      return undefined;
    }
    const at = (this.#replay?.cursor ?? this.live.generation) + 1;
    return new JournalDiverged(at, events > 0 ? "the log has more events" : `nothing asked for ${op}`);
  }

  #fail(error: unknown): void {
    if (this.#stopping !== undefined) {
      this.#finish();
      return;
    }
    const words =
      error instanceof JournalDiverged ? `an executor diverged: ${error.detail}` : "an executor failed";
    this.#log("error", words, error);
    const mistake = error instanceof AgentMistake ? error : undefined;
    this.live.emitStatus({
      state: TaskState.FAILED,
      parts: [text(mistake?.message ?? "The agent failed while working on the task.")],
      report: { reason: mistake?.reason ?? "internal" },
    });
  }

  #drop(): void {
    this.#dropped = true;
    void this.#end();
  }

  async #end(): Promise<void> {
    if (this.#ended) {
      return;
    }
    this.#ended = true;
    this.#plan.withdraw();
    this.#hurry.abort();
    this.#reading.end();
    this.#context.memoryTurns.end(this.live.memory);
    this.#silence.stop();
    this.#cancelGraceTimer?.();
    this.#cancelUnloadTimer();
    this.#forgetTask();
    this.live.watchCommits(undefined);
    this.#attempt?.end();
    if (!this.#dropped) {
      this.#letGo();
    }
    const cutOff = new TurnAbort("lost");
    this.#journal?.order.close(cutOff);
    this.waits.close(cutOff);
    await this.live.flushed().catch(() => {});
    // Those that only wait are over then, and most of the code.
    if (this.#operations.holding.amount > 0 || this.#returning !== undefined) await this.clock.nextTurn();
    this.#leaveCode();
    this.live.memory.grow(-this.#reading.bytes);
    this.#activation.resolve();
    this.#done.resolve();
  }

  /** What goes on without the task counts until it is over: its code, and steps beside what has ended the task. */
  #leaveCode(): void {
    const { holding } = this.#operations;
    const operationBytes = holding.amount;
    const steps = this.#operations.leave(this.#returning !== undefined);
    if (steps === undefined && this.#returning === undefined) return;
    const over = Promise.all([steps, this.#returning]);
    const { metadata } = this.#stopping ?? {};
    const bytes = this.live.memory.amount + operationBytes + weighDetails({ metadata });
    this.#context.abandoned.count(this, over, this.share, bytes, holding);
  }

  /** Does not await the executor: a `finally` that hangs must not block other work. */
  #letGo(): void {
    if (this.#iterator === undefined) return;
    const returned = this.#iterator.return?.() ?? this.#pumping;
    const end = () => {
      this.#returning = undefined;
    };
    const returning = returned
      .catch((error: unknown) => this.#log("error", "an executor failed after its task had ended", error))
      .then(end);
    if (this.#goesOn) this.#returning = returning;
    this.#iterator = undefined;
  }

  #log(level: "warn" | "error", message: string, error?: unknown): void {
    const { taskId } = this.live.name;
    this.#context.log({ level, message, taskId, ...(error === undefined ? {} : { error }) });
  }
}

/** A promise for a dropped executor, which never settles. */
function never(): Promise<never> {
  return new Promise(() => {});
}
