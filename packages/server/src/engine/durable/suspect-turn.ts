import type { Clock } from "../clock.ts";

/** How long one that was woken has to get its place before the next one is woken, too. */
const wakeMs = 1_000;

/** So long after a suspect with so many runs the next one may begin beside it. A suspect with more runs alone. */
const pausesMs: Readonly<Record<number, number>> = { 2: 250, 3: 5_000 };

/**
 * A suspect with so many runs waits until the process is so old: one that always ends earlier, for reasons of its own, harms no task
 * further. A suspect with more runs does not wait, so that a process which always ends a little later does not harm it again.
 */
const late = { runs: 4, afterMs: 30_000 };

/** How to wake those that wait, by caller; whose turn is next comes first. */
type Line = Map<string | undefined, Set<() => void>>;

/**
 * Lets the suspects of a process begin one after the other, the further apart the more runs their logs count: each time fewer innocent
 * ones run beside one that ends the process, and in the end none. A suspect takes the turn in its place: one that waits has neither, so
 * that the turn waits for no place, and no place for the turn. While the turn is free, those that wait are woken one after the other, to
 * ask for their places: first those with the fewest runs, of which callers take turns. The first one to get its place takes the turn.
 */
export class SuspectTurn {
  readonly #clock: Pick<Clock, "schedule">;
  /** Those that wait, by their runs. */
  readonly #lines: (Line | undefined)[] = [];
  /** Whether the process is younger than `late.afterMs`. */
  #isYoung = true;
  /** How many of those that had the turn are watched. */
  #watched = 0;
  /** The end of the one that has the turn. */
  #taken: Promise<void> | undefined;
  #cancelTimer: () => void = () => {};

  constructor(clock: Pick<Clock, "schedule">) {
    this.#clock = clock;
    const grow = () => {
      this.#isYoung = false;
      this.#wakeNext();
    };
    clock.schedule(late.afterMs, grow, { background: true });
  }

  /**
   * @param runs how many the log counts
   * @param over resolves when it is watched no more
   * @returns whether it may run
   */
  take(runs: number, over: Promise<void>): boolean {
    if (!this.#mayRun(runs)) return false;
    this.#taken = over;
    this.#watched += 1;
    this.#cancelTimer();
    const pauseMs = pausesMs[runs];
    const giveBack = () => {
      if (this.#taken === over) this.#taken = undefined;
      this.#wakeNext();
    };
    const cancel =
      pauseMs === undefined ? () => {} : this.#clock.schedule(pauseMs, giveBack, { background: true });
    void over.then(() => {
      cancel();
      this.#watched -= 1;
      giveBack();
    });
    return true;
  }

  /** While it may not run. @returns call it when it waits no more */
  wait(runs: number, share: string | undefined, wake: () => void): () => void {
    const line: Line = this.#lines[runs] ?? new Map();
    this.#lines[runs] = line;
    const waiting = line.get(share) ?? new Set();
    line.set(share, waiting.add(wake));
    return () => forget(line, share, wake);
  }

  #mayRun(runs: number): boolean {
    if (this.#taken !== undefined) return false;
    if (runs in pausesMs) return true;
    return this.#watched === 0 && !(this.#isYoung && runs === late.runs);
  }

  #wakeNext(): void {
    this.#cancelTimer();
    const line = this.#lines.find((each, runs) => each !== undefined && each.size > 0 && this.#mayRun(runs));
    const [next] = line ?? [];
    if (line === undefined || next === undefined) return;
    const [share, waiting] = next;
    const [wake] = waiting;
    line.delete(share); // behind the others
    line.set(share, waiting);
    if (wake === undefined) return;
    forget(line, share, wake);
    this.#cancelTimer = this.#clock.schedule(wakeMs, () => this.#wakeNext(), { background: true });
    wake();
  }
}

function forget(line: Line, share: string | undefined, wake: () => void): void {
  const waiting = line.get(share);
  waiting?.delete(wake);
  if (waiting?.size === 0) line.delete(share);
}
