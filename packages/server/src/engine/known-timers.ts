import { compareText, TaskOrder } from "../store/memory-order.ts";
import type { DueTimer } from "../store/task-store.ts";

/** A timer, and the caller that has created its task. */
export interface KnownTimer extends DueTimer {
  readonly caller: string;
}

/**
 * The next timers of each caller, of those that this process has committed: they ring at their time, although millions of
 * another caller may lie before them in the store.
 */
export class KnownTimers {
  readonly #max: number;
  readonly #maxOfOne: number;
  readonly #inOrder = new TaskOrder<KnownTimer>(({ wakeAt }) => wakeAt);
  readonly #byTask = new Map<string, KnownTimer>();
  readonly #byCaller = new Map<string, Set<KnownTimer>>();

  /**
   * @param max how many there are at most
   * @param maxOfOne how many of one caller
   */
  constructor(max: number, maxOfOne: number) {
    this.#max = max;
    this.#maxOfOne = maxOfOne;
  }

  /** Adds the timer of a task in place of the one before. @returns what has no room: this one, or one that is due later */
  add(timer: KnownTimer): KnownTimer | undefined {
    const { taskId, wakeAt, caller } = timer;
    const before = this.#byTask.get(taskId);
    if (before?.wakeAt === wakeAt && before.caller === caller) return undefined;
    this.remove(taskId);
    const own = this.#byCaller.get(caller) ?? new Set();
    const rival = this.#findRival(own);
    if (rival !== undefined) {
      if (isBefore(rival, timer)) return timer;
      this.remove(rival.taskId);
    }
    this.#byCaller.set(caller, own.add(timer));
    this.#byTask.set(taskId, timer);
    this.#inOrder.add(timer);
    return rival;
  }

  remove(taskId: string): void {
    const timer = this.#byTask.get(taskId);
    if (timer === undefined) return;
    this.#byTask.delete(taskId);
    this.#inOrder.remove(timer);
    const own = this.#byCaller.get(timer.caller);
    own?.delete(timer);
    if (own?.size === 0) this.#byCaller.delete(timer.caller);
  }

  /** Removes those that are due. */
  takeDue(now: number): readonly KnownTimer[] {
    const due: KnownTimer[] = [];
    for (const timer of this.#inOrder.oldestFirst(beforeAll)) {
      if (timer.wakeAt > now) break;
      due.push(timer);
    }
    for (const { taskId } of due) this.remove(taskId);
    return due;
  }

  /** The timer in whose place one more could be, of a caller that has as many as it may, or of all: the one that is due last. */
  #findRival(own: ReadonlySet<KnownTimer>): KnownTimer | undefined {
    if (own.size >= this.#maxOfOne) {
      return [...own].reduce((last, timer) => (isBefore(last, timer) ? timer : last));
    }
    if (this.#byTask.size < this.#max) return undefined;
    const [last] = this.#inOrder.newestFirst(undefined, { state: undefined, since: undefined });
    return last;
  }
}

const beforeAll = { time: Number.NEGATIVE_INFINITY, taskId: "" };

/** Whether a timer is the first of two in the order of stores. */
export function isBefore(one: DueTimer, other: DueTimer): boolean {
  return one.wakeAt === other.wakeAt ? compareText(one.taskId, other.taskId) < 0 : one.wakeAt < other.wakeAt;
}
