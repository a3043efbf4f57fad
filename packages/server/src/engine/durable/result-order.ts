import type { Clock } from "../clock.ts";
import { SequenceQueue } from "./sequence-queue.ts";

/** A result in a task's log, and where it stands there. */
export interface LoggedResult {
  readonly op: string;
  readonly sequence: number;
  /** How many events of the executor's the log has before it. */
  readonly emissions: number;
}

/** What an executor has done before it is run again. */
export interface DoneBefore {
  /** What it was given back, in the order of the log. */
  readonly results: readonly LoggedResult[];
  /** How many events it has emitted. */
  readonly emissions: number;
  /** The last sequence of the log. */
  readonly sequence: number;
}

/**
 * How long nothing may move while the executor does not ask for what it was given before: then its code has changed. Work
 * of its own that is in no step, beside what waits here, may take as long.
 */
const patienceMs = 60_000;

interface Waiting {
  readonly sequence: number;
  readonly emissions: number;
  readonly goOn: () => void;
}

/**
 * Gives an executor back what it waits for in the order of its task's log, one result in each turn of the event loop.
 *
 * That holds for new results and for those of an earlier run. So an executor that does several things at a time
 * (`Promise.all`, a pool, a race) takes the same course in every run, and what it counts (uses of a name, `now`,
 * `random`) falls to the same callers.
 */
export class ResultOrder {
  readonly #clock: Pick<Clock, "schedule" | "nextTurn">;
  readonly #before: DoneBefore;
  readonly #onStuck: (detail: string) => void;
  /** Results in the log that have not been given back. */
  readonly #open: SequenceQueue<LoggedResult>;
  /** For each result of an earlier run, by its sequence: how many events the log has before it. */
  readonly #emissionsBefore: ReadonlyMap<number, number>;
  /** Who waits. */
  readonly #line = new SequenceQueue<Waiting>();
  /** Events of earlier runs that this one has repeated. */
  #repeated = 0;
  #looking = false;
  #cancelPatience: (() => void) | undefined;

  /** @param onStuck the executor does not come to what it did before: says to what */
  constructor(
    clock: Pick<Clock, "schedule" | "nextTurn">,
    before: DoneBefore,
    onStuck: (detail: string) => void,
  ) {
    this.#clock = clock;
    this.#before = before;
    this.#onStuck = onStuck;
    this.#open = new SequenceQueue(before.results);
    this.#emissionsBefore = new Map(before.results.map(({ sequence, emissions }) => [sequence, emissions]));
  }

  /** Whether everything that earlier runs did has been done again. */
  get isCaughtUp(): boolean {
    const next = this.#open.first;
    return (
      this.#repeated >= this.#before.emissions &&
      (next === undefined || next.sequence > this.#before.sequence)
    );
  }

  /** Resolves when everything that earlier runs did has been done again: nothing new begins before. */
  caughtUp(): Promise<void> | undefined {
    const { sequence, emissions } = this.#before;
    return this.isCaughtUp ? undefined : this.#queue(sequence + 0.5, emissions); // behind the last result
  }

  /** A result has gone into the log. */
  add(op: string, sequence: number): void {
    this.#open.add({ op, sequence, emissions: 0 });
  }

  /** Resolves when it is the turn of a result that the log has. */
  result(sequence: number): Promise<void> {
    return this.#queue(sequence, this.#emissionsBefore.get(sequence) ?? 0);
  }

  /** Resolves when it is the turn of an event that was emitted, or is in the log from before. */
  emission(sequence: number): Promise<void> | undefined {
    const next = this.#open.first;
    return next === undefined || next.sequence > sequence ? undefined : this.#queue(sequence, 0);
  }

  /** An event of an earlier run was emitted again. */
  repeat(): void {
    this.#repeated++;
    this.#look();
  }

  /** Nothing is given back any more. */
  close(): void {
    this.#line.clear();
    this.#resetPatience();
  }

  #queue(sequence: number, emissions: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#line.add({ sequence, emissions, goOn: resolve });
    this.#look();
    return promise;
  }

  /** After this turn, when everybody who can ask has asked. */
  #look(): void {
    this.#resetPatience();
    if (this.#looking || this.#line.first === undefined) {
      return;
    }
    this.#looking = true;
    void this.#clock.nextTurn().then(() => {
      this.#looking = false;
      const { first } = this.#line;
      if (first === undefined) {
        return;
      }
      if (this.#isDue(first)) {
        this.#give(first);
        this.#look();
      } else if (!this.isCaughtUp) {
        this.#beginPatience();
      } // else a result of this run is being committed before, which takes as long as it takes
    });
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
      // A process that stood still hears its timers first, and then what the executor has waited for.
      void this.#clock.nextTurn().then(() => isOver || this.#onStuck(this.#describe()));
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
