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

/** What of a caller's work may be served: `begun` is what waits for memory by itself. */
export type Permit = "all" | "begun" | "none";

/** What waits of one caller. */
interface CallerWork<T> {
  readonly share: string | undefined;
  /** When it was looked at last. */
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

/** Of what the caller may be served with, what comes first. */
function firstServed<T extends Queued>(
  { all, begun, stopping }: CallerWork<T>,
  permit: Permit,
): Waiting<T> | undefined {
  if (permit === "none") return undefined;
  const first = [stopping.first, firstOf(all)].find(
    (each) => each !== undefined && (permit === "all" || each.work.waitsForRoom),
  );
  return first ?? firstOf(begun);
}

/** Work in the order in which it is served, separately for each caller, and the callers in the order of their turns. */
export class CallerQueues<T extends Queued> {
  readonly #order: CallerOrder;
  readonly #callers = new Map<string | undefined, CallerWork<T>>();
  /**
   * The same in order. A place among thousands is found in a few looks. A caller that was served, maybe from another queue, goes to its
   * later place when it is looked at: it may have work in thousands of queues.
   */
  readonly #turns: CallerWork<T>[] = [];

  /** @param order has the place of each caller, for all queues */
  constructor(order: CallerOrder) {
    this.#order = order;
  }

  /** @param work of a caller that is in the order */
  add(work: T, ticket: number): void {
    const { share, priority } = work;
    let caller = this.#callers.get(share);
    if (caller === undefined) {
      const place = this.#order.placeOf(share);
      caller = { share, place, all: createQueues(), begun: createQueues(), stopping: new ArrivalQueue() };
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

  /** The first turn of a caller that may be served now. @param permitOf asked of one caller after the other: thousands may wait */
  findTurn(permitOf: (share: string | undefined) => Permit): Turn<T> | undefined {
    let at = 0;
    for (let caller = this.#turns[at]; caller !== undefined; caller = this.#turns[at]) {
      if (this.#renew(caller)) continue; // it stands further behind, and another one here
      const first = firstServed(caller, permitOf(caller.share));
      if (first !== undefined) return { place: caller.place, first };
      at += 1;
    }
    return undefined;
  }

  /** The same for one caller. */
  turnOf(share: string | undefined, permit: Permit): Turn<T> | undefined {
    const caller = this.#callers.get(share);
    const first = caller && firstServed(caller, permit);
    return first && { place: this.#order.placeOf(share), first };
  }

  /** @returns whether the caller was served meanwhile, and has gone to its later place */
  #renew(caller: CallerWork<T>): boolean {
    const place = this.#order.placeOf(caller.share);
    if (comparePlaces(place, caller.place) === 0) return false;
    this.#remove(caller);
    caller.place = place;
    this.#insert(caller);
    return true;
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
