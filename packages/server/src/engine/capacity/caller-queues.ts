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
  /** Of its work with the highest priority, what has waited longest. */
  readonly first: Waiting<T>;
}

interface Queued {
  readonly share: string | undefined;
  readonly priority: Priority;
}

/** In the order in which one caller's work is served. */
const priorities: readonly Priority[] = ["high", "normal", "low"];

/** Priorities make no difference between callers, which take turns. Of one caller's work, the highest priority comes first, then the oldest. */
export function isBefore<T extends Queued>(one: Turn<T>, other: Turn<T>): boolean {
  const rank = ({ first }: Turn<T>) => priorities.indexOf(first.work.priority);
  const difference = comparePlaces(one.place, other.place) || rank(one) - rank(other);
  return difference < 0 || (difference === 0 && one.first.ticket < other.first.ticket);
}

/** What waits of one caller. */
interface CallerWork<T> {
  place: Place;
  readonly queues: Readonly<Record<Priority, ArrivalQueue<T>>>;
}

function firstOf<T>({ queues }: CallerWork<T>): Waiting<T> | undefined {
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
      const queues = {
        high: new ArrivalQueue<T>(),
        normal: new ArrivalQueue<T>(),
        low: new ArrivalQueue<T>(),
      };
      caller = { place: this.#order.placeOf(share), queues };
      this.#callers.set(share, caller);
      this.#insert(caller);
    }
    caller.queues[priority].add(work, ticket);
  }

  /** @returns whether it was in the queue */
  delete(work: T): boolean {
    const { share, priority } = work;
    const caller = this.#callers.get(share);
    if (caller?.queues[priority].delete(work) !== true) return false;
    if (firstOf(caller) === undefined) {
      this.#remove(caller);
      this.#callers.delete(share);
    }
    return true;
  }

  /** The first turn of a caller that may be served now. */
  findTurn(mayServe: (share: string | undefined) => boolean): Turn<T> | undefined {
    for (const caller of this.#turns) {
      const first = firstOf(caller);
      if (first !== undefined && mayServe(first.work.share)) return { place: caller.place, first };
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

  add(work: T, ticket: number): void {
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
