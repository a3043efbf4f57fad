import type { Holding, SharedBudget } from "@a2a-connect/core/internal";
import type { Clock } from "../clock.ts";

/**
 * Executors of one caller that go on at a time. After `turnMs` an executor's turn is over, although it has not yielded: it may wait for
 * another task of its caller.
 */
const beyondPart = { maxAtOnce: 16, turnMs: 250 };

/** The same for a caller with more than `farTimes` its part: executors that have put out much and do not end keep it in memory. */
export const farBeyondPart = { maxAtOnce: 1, turnMs: 10_000 };
export const farTimes = 2;

/** How many executors of a caller that has more than its part go on at a time, and for how long. */
export function turnsBeyondPart(active: SharedBudget, share: string | undefined): typeof beyondPart {
  return active.isExceeded(share, farTimes) ? farBeyondPart : beyondPart;
}

/** How long an executor that is to stop has its turn, at most: it may take all of its grace period, and so may those behind it. */
export const stopTurnMs = 250;

/** Of so many turns one is for the executor that has waited longest: the largest may put out small pieces for as long as it likes. */
const everyForOldest = 4;

/** The executors of one caller. */
interface Line {
  turns: number;
  /** What each waits for: the steps of one task that run side by side wait for the same. */
  readonly waiting: Map<Holding, PromiseWithResolvers<void>>;
  /** What stops the timer of each one's turn. */
  readonly taken: Map<Holding, () => void>;
}

/**
 * Lets the executors of a caller go on a few at a time while its tasks take more memory than its part. Most often the one whose task is
 * the largest comes first: it ends soonest, and then the task leaves memory. If all went on together, all would grow, and hundreds of
 * tasks can be as large as a task may be.
 */
export class MemoryTurns {
  readonly #active: SharedBudget;
  readonly #clock: Pick<Clock, "schedule">;
  readonly #onHeld: () => void;
  readonly #maxTurnMs: number;
  readonly #lines = new Map<string | undefined, Line>();

  /**
   * @param active counts the tasks that are in memory
   * @param onHeld called whenever an executor is held
   * @param maxTurnMs how long a turn lasts at most
   */
  constructor(
    active: SharedBudget,
    clock: Pick<Clock, "schedule">,
    onHeld: () => void,
    maxTurnMs: number = Number.POSITIVE_INFINITY,
  ) {
    this.#active = active;
    this.#clock = clock;
    this.#onHeld = onHeld;
    this.#maxTurnMs = maxTurnMs;
  }

  /** Whether the executor of a task has to take a turn before it goes on. */
  areDue({ share }: Holding): boolean {
    return this.#active.isExceeded(share);
  }

  /** Resolves when the executor of a task may go on. A turn that it has ends: a larger task may have come. */
  begin(task: Holding): Promise<void> {
    const line = this.#lines.get(task.share) ?? { turns: 0, waiting: new Map(), taken: new Map() };
    this.#lines.set(task.share, line);
    if (this.areDue(task)) this.#onHeld();
    const wait = line.waiting.get(task) ?? Promise.withResolvers<void>();
    line.waiting.set(task, wait);
    line.taken.get(task)?.();
    line.taken.delete(task);
    this.#goOn(line);
    return wait.promise;
  }

  /** The executor of a task needs no turn any more. If it waits for one, it goes on. */
  end(task: Holding): void {
    const line = this.#lines.get(task.share);
    if (line === undefined) return;
    line.waiting.get(task)?.resolve();
    line.waiting.delete(task);
    line.taken.get(task)?.();
    line.taken.delete(task);
    this.#goOn(line);
    if (line.taken.size === 0) this.#lines.delete(task.share);
  }

  #goOn(line: Line): void {
    const { waiting, taken } = line;
    for (;;) {
      const [anyTask] = waiting.keys();
      const { maxAtOnce, turnMs } = turnsBeyondPart(this.#active, anyTask?.share);
      if (anyTask === undefined || taken.size >= maxAtOnce) return;
      const [oldest] = waiting;
      line.turns += 1;
      const next = line.turns % everyForOldest === 0 ? oldest : findLargest(waiting);
      if (next === undefined) return;
      const [task, wait] = next;
      waiting.delete(task);
      const cancelTimer = this.#clock.schedule(Math.min(turnMs, this.#maxTurnMs), () => this.end(task), {
        background: true,
      });
      taken.set(task, cancelTimer);
      wait.resolve();
    }
  }
}

function findLargest<Waiting>(tasks: ReadonlyMap<Holding, Waiting>): [Holding, Waiting] | undefined {
  let largest: [Holding, Waiting] | undefined;
  for (const each of tasks) {
    if (largest === undefined || each[0].amount > largest[0].amount) largest = each;
  }
  return largest;
}
