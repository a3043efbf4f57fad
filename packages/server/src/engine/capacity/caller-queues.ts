import { countFirst } from "@a2a-connect/core/internal";

/** One piece of work in a queue, between its neighbours. */
export interface Waiting<T> {
  readonly work: T;
  /** Its number in the order of arrival, over all queues. */
  readonly ticket: number;
}

/** A caller's place among those that wait. */
export interface Turn<T> {
  /** Its work that has waited longest. */
  readonly first: Waiting<T>;
  /** When the caller was last served; 0 when it never was. */
  readonly servedAt: number;
}

/** The caller that was served longest ago comes first; of those that never were, the one whose work is older. */
export function isBefore<T>(one: Turn<T>, other: Turn<T>): boolean {
  return one.servedAt === other.servedAt
    ? one.first.ticket < other.first.ticket
    : one.servedAt < other.servedAt;
}

interface CallerWork<T> {
  readonly queue: ArrivalQueue<T>;
  turn: Turn<T> | undefined;
}

/** Work in the order in which it came, separately for each caller, and the callers in the order of their turns. */
export class CallerQueues<T extends { readonly share: string | undefined }> {
  readonly #servedAt: (share: string | undefined) => number;
  readonly #callers = new Map<string | undefined, CallerWork<T>>();
  /** One of each caller, in order. A place among thousands is found in a few looks. */
  readonly #turns: Turn<T>[] = [];

  /** @param servedAt when a caller was last served; see `renewTurn` */
  constructor(servedAt: (share: string | undefined) => number) {
    this.#servedAt = servedAt;
  }

  add(work: T, ticket: number): void {
    const { share } = work;
    const caller = this.#callers.get(share) ?? { queue: new ArrivalQueue(), turn: undefined };
    caller.queue.add(work, ticket);
    if (caller.turn === undefined) {
      this.#callers.set(share, caller);
      this.renewTurn(share);
    }
  }

  /** @returns whether it was in the queue */
  delete(work: T): boolean {
    const { share } = work;
    const wasThere = this.#callers.get(share)?.queue.delete(work) === true;
    if (wasThere) this.renewTurn(share);
    return wasThere;
  }

  /** The first turn of a caller that may be served now. */
  findTurn(mayServe: (share: string | undefined) => boolean): Turn<T> | undefined {
    return this.#turns.find(({ first }) => mayServe(first.work.share));
  }

  /** To be called after a caller was served. */
  renewTurn(share: string | undefined): void {
    const caller = this.#callers.get(share);
    if (caller === undefined) return;
    const { queue, turn } = caller;
    if (turn !== undefined) this.#turns.splice(this.#countBefore(turn), 1);
    if (queue.first === undefined) {
      this.#callers.delete(share);
      return;
    }
    caller.turn = { first: queue.first, servedAt: this.#servedAt(share) };
    this.#turns.splice(this.#countBefore(caller.turn), 0, caller.turn);
  }

  #countBefore(turn: Turn<T>): number {
    return countFirst(this.#turns, (each) => isBefore(each, turn));
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
