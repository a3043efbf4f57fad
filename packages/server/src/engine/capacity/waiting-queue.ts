/** One piece of work in a queue, between its neighbours. */
export interface Waiting<T> {
  readonly work: T;
  /** When it came, among the work of all queues. */
  readonly ticket: number;
}

interface Link<T> extends Waiting<T> {
  before: Link<T> | undefined;
  after: Link<T> | undefined;
}

/**
 * Work in the order in which it came. Adding, looking at the first and taking out, from anywhere, cost the same however
 * many wait; the first of a `Set` does not, because it is looked for behind everything that was deleted.
 */
export class WaitingQueue<T> {
  readonly #links = new Map<T, Link<T>>();
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;

  get size(): number {
    return this.#links.size;
  }

  /** Who has waited longest. */
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

  /** @returns whether it was there */
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
