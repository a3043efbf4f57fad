import { untilAborted } from "@a2a-connect/core/internal";
import { AgentMistake } from "../agent-mistake.ts";
import type { Clock } from "../clock.ts";
import type { DurableRun } from "./durable-run.ts";
import { SuspectTurn } from "./suspect-turn.ts";

/** How many starts may call a durable executor from the same place of its log, when the process ended during each such run. */
const maxRuns = 6;

/** After so many of them it is a suspect, and takes turns with the others. */
const suspectAfter = 2;

/** A process that ends so long after the code was called was hardly ended by it. */
const watchedMs = 30_000;

/** So long the next suspect waits until the log says that one begins, and then, that it has got further or survived. */
const maxStoreMs = 10_000;

/** The turn of the suspects in this process, at all its agents. */
const turnOf = new WeakMap<object, SuspectTurn>();

/**
 * Counts how often the process ended while a durable executor of an earlier process ran: code that ends it with what its caller has sent
 * would do so after each start. The count is that of the `begun` notes at the end of the task's log: what the executor adds behind them
 * ends it, and so does a `survived`. A run that could get no further than to where one of an earlier process only waits does not begin.
 */
export class RunAttempts {
  readonly clock: Clock;
  /** Tasks with a run of this process that their log counts, also when the store could not write more and they are loaded again. */
  readonly counted: Set<string> = new Set();
  /** The runs that count at present. */
  readonly open: Set<RunAttempt> = new Set();
  #isClosing = false;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** The turn of the suspects. Its time begins with the first one, soon after the start. */
  get turn(): SuspectTurn {
    const turn = turnOf.get(this.clock) ?? new SuspectTurn(this.clock);
    turnOf.set(this.clock, turn);
    return turn;
  }

  /** Whether the process is stopped in order. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** The process is stopped in order. It may be killed before its executors have been told. */
  close(): void {
    this.#isClosing = true;
    for (const attempt of this.open) attempt.survive();
  }

  /**
   * @param before the runs that the log counts
   * @param isAfterStart whether this process may not have run it yet
   * @returns undefined: there is nothing to count
   */
  create(run: DurableRun, before: number, isAfterStart: boolean): RunAttempt | undefined {
    return isAfterStart || before > 0 ? new RunAttempt(this, run, before, isAfterStart) : undefined;
  }
}

/** One run of a durable executor, which counts until it has got further, only waits, was stopped in order, or has run for some time. */
export class RunAttempt {
  readonly #all: RunAttempts;
  readonly #run: DurableRun;
  readonly #before: number;
  readonly #isCounted: boolean;
  /** Lets the next suspect run. */
  readonly #over = Promise.withResolvers<void>();
  #isWaiting = false;
  #cancelTimer: () => void = () => {};

  constructor(all: RunAttempts, run: DurableRun, before: number, isAfterStart: boolean) {
    this.#all = all;
    this.#run = run;
    this.#before = before;
    this.#isCounted = isAfterStart && !all.counted.has(run.live.name.taskId);
  }

  /** Whether it is a suspect, and waits for its turn. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /**
   * Resolves when the code may be called, and the log says so.
   *
   * @param signal aborts when the task is to end
   * @throws AgentMistake when the process has ended too often; the signal's reason when that aborts before its turn
   */
  async begin(signal: AbortSignal): Promise<void> {
    const { live, waits } = this.#run;
    if (this.#isCounted && this.#before >= maxRuns) {
      const words = `The process ended ${maxRuns} times while the executor worked on this task, and it got no further.`;
      throw new AgentMistake(words, "interrupted");
    }
    if (this.#before >= suspectAfter) await this.#enter(signal);
    if (this.#run.isGone) {
      this.end(); // it may have taken the turn
      return;
    }
    this.#all.open.add(this);
    live.watchOutput(() => this.#settle());
    if (this.#isCounted && !this.#all.isClosing) {
      this.#all.counted.add(live.name.taskId);
      live.note({ type: "begun" });
      this.#boundTurn();
      await waits.keepBusy(() => live.flushed());
      this.#cancelTimer();
    }
    if (!this.#all.open.has(this)) return; // it has ended, or the process is stopped
    this.#cancelTimer = this.#all.clock.schedule(watchedMs, () => this.survive(), { background: true });
  }

  /**
   * The process has not ended, and that the executor runs on is no reason for it to do so.
   *
   * @param atRest whether it only waits
   */
  survive(atRest = false): void {
    if (!this.#all.open.has(this)) return;
    this.#run.live.note({ type: "survived", ...(atRest ? { atRest } : {}) });
    this.#settle();
  }

  /** The run is over. */
  end(): void {
    this.#all.open.delete(this);
    this.#cancelTimer();
    this.#run.live.watchOutput(undefined);
    this.#over.resolve();
  }

  /** While it waits, the executor has given its slot back. */
  async #enter(signal: AbortSignal): Promise<void> {
    const { turn } = this.#all;
    const { share, waits } = this.#run;
    this.#isWaiting = true;
    while (!turn.take(this.#before, this.#over.promise)) {
      const wait = waits.begin();
      const leave = turn.wait(this.#before, share, () => wait.end());
      await untilAborted(wait.over, signal).finally(leave);
    }
    this.#isWaiting = false;
  }

  /** The store may hang. */
  #boundTurn(): void {
    this.#cancelTimer = this.#all.clock.schedule(maxStoreMs, this.#over.resolve, { background: true });
  }

  /** What resets the count was accepted; it counts until that is durable. */
  #settle(): void {
    const { live } = this.#run;
    this.#all.open.delete(this);
    this.#cancelTimer();
    live.watchOutput(undefined);
    this.#boundTurn();
    const settled = live.flushed().then(() => this.#all.counted.delete(live.name.taskId));
    settled
      .catch(() => {})
      .finally(() => {
        this.#cancelTimer();
        this.#over.resolve();
      });
  }
}
