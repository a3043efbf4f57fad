import type { Clock } from "../clock.ts";
import { SequenceQueue } from "./sequence-queue.ts";

/** A result in a task's log, and its position. */
export interface LoggedResult {
  readonly op: string;
  readonly sequence: number;
  /** How many of the executor's events the log has before it. */
  readonly emissions: number;
}

/** The work of earlier runs. */
export interface DoneBefore {
  /** The results that they got, in the order of the log. */
  readonly results: readonly LoggedResult[];
  /** How many events they emitted. */
  readonly emissions: number;
  /** The last sequence of the log. */
  readonly sequence: number;
}

/**
 * How long the executor may ask for none of its earlier results. After that its code counts as changed. Its own work
 * outside steps, beside a wait, may take as long.
 */
const patienceMs = 60_000;

interface Waiting {
  readonly sequence: number;
  readonly emissions: number;
  /** Resolves in the turn in which it goes on, if it is the next then. */
  readonly nextTurn: () => Promise<void>;
  readonly goOn: () => void;
  readonly cut: (why: Error) => void;
}

/**
 * Gives an executor its results in the order of its task's log, one in each turn of the event loop.
 *
 * That applies to new results and to those of earlier runs. So an executor that does several things at a time
 * (`Promise.all`, a pool, a race) takes the same course in every run, and the same callers get what it counts (uses of
 * a name, `now`, `random`).
 */
export class ResultOrder {
  readonly #clock: Pick<Clock, "schedule" | "nextTurn">;
  readonly #nextTurn: Waiting["nextTurn"];
  readonly #before: DoneBefore;
  readonly #onStuck: (detail: string) => void;
  /** Results in the log that the executor has not got. */
  readonly #open: SequenceQueue<LoggedResult>;
  /** For each result of an earlier run, by its sequence: how many events the log has before it. */
  readonly #emissionsBefore: ReadonlyMap<number, number>;
  /** The waiting parts of the executor. */
  readonly #line = new SequenceQueue<Waiting>();
  /** How many events of earlier runs this run has repeated. */
  #repeated = 0;
  #looking = false;
  /** Reads for which the executor waits. */
  #reads = 0;
  #cancelPatience: (() => void) | undefined;
  #closed: Error | undefined;

  /** @param onStuck called with the missing work when the executor does not repeat its earlier work */
  constructor(
    clock: Pick<Clock, "schedule" | "nextTurn">,
    before: DoneBefore,
    onStuck: (detail: string) => void,
  ) {
    this.#clock = clock;
    this.#nextTurn = () => clock.nextTurn();
    this.#before = before;
    this.#onStuck = onStuck;
    this.#open = new SequenceQueue(before.results);
    this.#emissionsBefore = new Map(before.results.map(({ sequence, emissions }) => [sequence, emissions]));
  }

  /** Whether this run has repeated all work of earlier runs. */
  get isCaughtUp(): boolean {
    const next = this.#open.first;
    return this.hasRepeatedEvents && (next === undefined || next.sequence > this.#before.sequence);
  }

  /** Whether this run has repeated all events of earlier runs. */
  get hasRepeatedEvents(): boolean {
    return this.#repeated >= this.#before.emissions;
  }

  /** Resolves when this run has repeated all work of earlier runs: no new work begins before. */
  caughtUp(): Promise<void> | undefined {
    const { sequence, emissions } = this.#before;
    return this.isCaughtUp ? undefined : this.#queue(sequence + 0.5, emissions); // after the last result
  }

  /** A result was added to the log. */
  add(op: string, sequence: number): void {
    this.#open.add({ op, sequence, emissions: 0 });
  }

  /**
   * Resolves when a result in the log is the next to be given.
   *
   * @param nextTurn the turn in which it is given: by default the next one
   */
  result(sequence: number, nextTurn: () => Promise<void> = this.#nextTurn): Promise<void> {
    return this.#queue(sequence, this.#emissionsBefore.get(sequence) ?? 0, nextTurn);
  }

  /** Resolves when an event, new or in the log from before, is the next in the order. */
  emission(sequence: number): Promise<void> | undefined {
    const next = this.#open.first;
    return next === undefined || next.sequence > sequence ? undefined : this.#queue(sequence, 0);
  }

  /** The executor waits for a read of its log: that may take any time, and is none of the executor's. */
  async whileReading<Result>(read: Promise<Result>): Promise<Result> {
    this.#reads += 1;
    this.#resetPatience();
    try {
      return await read;
    } finally {
      this.#reads -= 1;
      this.#look();
    }
  }

  /** An event of an earlier run was repeated. */
  repeat(): void {
    this.#repeated++;
    this.#look();
  }

  /** No more results are given: what waits for one is cut off, and what asks for one later. */
  close(why: Error): void {
    this.#closed ??= why;
    for (const { cut } of this.#line.takeAll()) cut(why);
    this.#resetPatience();
  }

  #queue(sequence: number, emissions: number, nextTurn = this.#nextTurn): Promise<void> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#line.add({ sequence, emissions, nextTurn, goOn: resolve, cut: reject });
    this.#look();
    return promise;
  }

  /** Looks in the next turn of the event loop, when all parts of the executor have asked. */
  #look(): void {
    this.#resetPatience();
    const { first: asked } = this.#line;
    if (this.#looking || asked === undefined) {
      return;
    }
    this.#looking = true;
    const look = () => {
      this.#looking = false;
      const { first } = this.#line;
      if (first === undefined) {
        return;
      }
      if (first.nextTurn !== asked.nextTurn) {
        this.#look();
      } else if (this.#isDue(first)) {
        this.#give(first);
        this.#look();
      } else if (!this.isCaughtUp && this.#reads === 0) {
        this.#beginPatience();
      } // otherwise an earlier result of this run is still being committed; that may take any time
    };
    asked.nextTurn().then(look, (error) => this.close(error)); // a commit has failed: the task is lost
  }

  #isDue({ sequence, emissions }: Waiting): boolean {
    const next = this.#open.first;
    return this.#repeated >= emissions && (next === undefined || next.sequence >= sequence);
  }

  #give(first: Waiting): void {
    this.#line.removeFirst();
    if (this.#open.first?.sequence === first.sequence) {
      this.#open.removeFirst();
    }
    first.goOn();
  }

  #beginPatience(): void {
    let isOver = false;
    const cancelTimer = this.#clock.schedule(patienceMs, () => {
      // After the process was blocked, its timers fire first; only then come the results for which the executor waits.
      const end = () => isOver || this.#onStuck(this.#describe());
      this.#clock.nextTurn().then(end, (error) => this.close(error)); // see `#look`
    });
    this.#cancelPatience = () => {
      isOver = true;
      cancelTimer();
    };
  }

  #resetPatience(): void {
    this.#cancelPatience?.();
    this.#cancelPatience = undefined;
  }

  #describe(): string {
    const next = this.#open.first;
    return next === undefined || this.#line.has(next.sequence)
      ? "the log has more events"
      : `nothing asked for ${next.op}`;
  }
}
