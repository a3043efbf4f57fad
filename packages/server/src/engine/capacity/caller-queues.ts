import type { Priority } from "@a2a-connect/core";
import { countFirst } from "@a2a-connect/core/internal";
import { type CallerOrder, comparePlaces, type Place } from "./caller-order.ts";

/** One piece of work in a queue, between its neighbours. */
export interface Waiting<T> {
  readonly work: T;
  /** Its number in the order of arrival, over all queues. */
  readonly ticket: number;
}

/** A caller's place among those that wait. */
export interface Turn<T> {
  readonly place: Place;
  /** Of its work that is served first, what has waited longest. */
  readonly first: Waiting<T>;
}

interface Queued {
  readonly share: string | undefined;
  readonly priority: Priority;
  /** See `Runnable`. It stays as it is while the work waits. */
  readonly waitsForRoom?: boolean;
  /** See `Runnable`. */
  readonly isStopping?: boolean;
}

/** In the order in which one caller's work is served. */
const priorities: readonly Priority[] = ["high", "normal", "low"];

/** Priorities make no difference between callers, which take turns. Of one caller's work, what is to stop comes first, then the highest priority, then the oldest. */
export function isBefore<T extends Queued>(one: Turn<T>, other: Turn<T>): boolean {
  const rank = ({ first: { work } }: Turn<T>) => (work.isStopping ? -1 : priorities.indexOf(work.priority));
  const difference = comparePlaces(one.place, other.place) || rank(one) - rank(other);
  return difference < 0 || (difference === 0 && one.first.ticket < other.first.ticket);
}

type PriorityQueues<T> = Readonly<Record<Priority, ArrivalQueue<T>>>;

/** What waits of one caller. */
interface CallerWork<T> {
  place: Place;
  readonly all: PriorityQueues<T>;
  /** The part of it that waits for memory by itself: it goes on also while the caller may not begin anything. */
  readonly begun: PriorityQueues<T>;
  /** The part of it that was told to stop: it has little time. */
  readonly stopping: ArrivalQueue<T>;
}

function createQueues<T>(): PriorityQueues<T> {
  return { high: new ArrivalQueue<T>(), normal: new ArrivalQueue<T>(), low: new ArrivalQueue<T>() };
}

function firstOf<T>(queues: PriorityQueues<T>): Waiting<T> | undefined {
  for (const priority of priorities) {
    const { first } = queues[priority];
    if (first !== undefined) return first;
  }
  return undefined;
}

/** Work in the order in which it is served, separately for each caller, and the callers in the order of their turns. */
export class CallerQueues<T extends Queued> {
  readonly #order: CallerOrder;
  readonly #callers = new Map<string | undefined, CallerWork<T>>();
  /** The same in order. A place among thousands is found in a few looks. */
  readonly #turns: CallerWork<T>[] = [];

  /** @param order see `renewTurn` */
  constructor(order: CallerOrder) {
    this.#order = order;
  }

  /** @param work of a caller that is in the order */
  add(work: T, ticket: number): void {
    const { share, priority } = work;
    let caller = this.#callers.get(share);
    if (caller === undefined) {
      const place = this.#order.placeOf(share);
      caller = { place, all: createQueues(), begun: createQueues(), stopping: new ArrivalQueue() };
      this.#callers.set(share, caller);
      this.#insert(caller);
    }
    caller.all[priority].add(work, ticket);
    if (work.waitsForRoom) caller.begun[priority].add(work, ticket);
    if (work.isStopping) caller.stopping.add(work, ticket);
  }

  /** Work that waits was told to stop. */
  hurry(work: T): void {
    const caller = this.#callers.get(work.share);
    const waiting = caller?.all[work.priority].find(work);
    if (waiting !== undefined) caller?.stopping.add(work, waiting.ticket);
  }

  /** @returns whether it was in the queue */
  delete(work: T): boolean {
    const { share, priority } = work;
    const caller = this.#callers.get(share);
    if (caller?.all[priority].delete(work) !== true) return false;
    caller.begun[priority].delete(work);
    caller.stopping.delete(work);
    if (firstOf(caller.all) === undefined) {
      this.#remove(caller);
      this.#callers.delete(share);
    }
    return true;
  }

  /** The first turn of a caller that may be served now. @param mayServe asked of the first of each kind of work: thousands may wait */
  findTurn(mayServe: (work: T) => boolean): Turn<T> | undefined {
    const find = (first: Waiting<T> | undefined) => (first && mayServe(first.work) ? first : undefined);
    for (const { place, all, begun, stopping } of this.#turns) {
      const first = find(stopping.first) ?? find(firstOf(all)) ?? find(firstOf(begun));
      if (first !== undefined) return { place, first };
    }
    return undefined;
  }

  /** To be called after the caller was served. */
  renewTurn(share: string | undefined): void {
    const caller = this.#callers.get(share);
    if (caller === undefined) return;
    this.#remove(caller);
    caller.place = this.#order.placeOf(share);
    this.#insert(caller);
  }

  #insert(caller: CallerWork<T>): void {
    this.#turns.splice(this.#countBefore(caller), 0, caller);
  }

  #remove(caller: CallerWork<T>): void {
    this.#turns.splice(this.#countBefore(caller), 1);
  }

  #countBefore({ place }: CallerWork<T>): number {
    return countFirst(this.#turns, (each) => comparePlaces(each.place, place) < 0);
  }
}

interface Link<T> extends Waiting<T> {
  before: Link<T> | undefined;
  after: Link<T> | undefined;
}

/**
 * Work in the order in which it came. To add work, to look at the first, and to remove any costs the same for any
 * length. A `Set` would need longer for its first element, because it searches behind all deleted ones.
 */
export class ArrivalQueue<T> {
  readonly #links = new Map<T, Link<T>>();
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;

  get size(): number {
    return this.#links.size;
  }

  /** The work that has waited longest. */
  get first(): Waiting<T> | undefined {
    return this.#first;
  }

  find(work: T): Waiting<T> | undefined {
    return this.#links.get(work);
  }

  /** @param work what is there already stays where it is */
  add(work: T, ticket: number): void {
    if (this.#links.has(work)) return;
    const link: Link<T> = { work, ticket, before: this.#last, after: undefined };
    if (this.#last === undefined) {
      this.#first = link;
    } else {
      this.#last.after = link;
    }
    this.#last = link;
    this.#links.set(work, link);
  }

  /** @returns whether it was in the queue */
  delete(work: T): boolean {
    const link = this.#links.get(work);
    if (link === undefined) {
      return false;
    }
    const { before, after } = link;
    if (before === undefined) {
      this.#first = after;
    } else {
      before.after = after;
    }
    if (after === undefined) {
      this.#last = before;
    } else {
      after.before = before;
    }
    return this.#links.delete(work);
  }
}
