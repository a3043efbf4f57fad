import { ArrivalQueue, type Waiting } from "./arrival-queue.ts";

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
