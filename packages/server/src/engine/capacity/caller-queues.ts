/** One piece of work in a queue, between its neighbours. */
export interface Waiting<T> {
  readonly work: T;
  /** Its number in the order of arrival, over all queues. */
  readonly ticket: number;
}

/** Work in the order in which it came, separately for each caller. */
export class CallerQueues<T extends { readonly share: string | undefined }> {
  readonly #queues = new Map<string | undefined, ArrivalQueue<T>>();

  add(work: T, ticket: number): void {
    let queue = this.#queues.get(work.share);
    if (queue === undefined) {
      queue = new ArrivalQueue();
      this.#queues.set(work.share, queue);
    }
    queue.add(work, ticket);
  }

  /** @returns whether it was in the queue */
  delete(work: T): boolean {
    const queue = this.#queues.get(work.share);
    const wasThere = queue?.delete(work) === true;
    if (queue?.size === 0) {
      this.#queues.delete(work.share);
    }
    return wasThere;
  }

  /** The longest-waiting work of each caller. */
  *heads(): Iterable<Waiting<T>> {
    for (const { first } of this.#queues.values()) {
      if (first !== undefined) {
        yield first;
      }
    }
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
