import { a2aError, type Priority } from "@a2a-connect/core";

/** A piece of work that may have to wait for its place. */
export interface Runnable {
  readonly priority: Priority;
  /** Must not reject. */
  run(): Promise<void>;
}

/**
 * Lets a bounded number of executions run at a time; the others wait by priority, then by age (docs/limits.md).
 */
export class Scheduler {
  readonly #maxRunning: number;
  readonly #maxQueued: number;
  /** In the order in which they are served. */
  readonly #queues: Readonly<Record<Priority, Set<Runnable>>> = {
    high: new Set(),
    normal: new Set(),
    low: new Set(),
  };
  #running = 0;

  constructor({ maxRunning, maxQueued }: { readonly maxRunning: number; readonly maxQueued: number }) {
    this.#maxRunning = maxRunning;
    this.#maxQueued = maxQueued;
  }

  /**
   * Runs `work` now, or when a place becomes free.
   *
   * @param admission `always` for work that was promised already: it waits even where the queue is full
   * @returns whether it runs already
   * @throws ConnectError CAPACITY when the queue is full, too
   */
  start(work: Runnable, admission: "bounded" | "always" = "bounded"): "running" | "queued" {
    if (this.#running < this.#maxRunning) {
      this.#run(work);
      return "running";
    }
    if (admission === "bounded" && this.#waiting >= this.#maxQueued) {
      throw a2aError("CAPACITY", `${this.#maxQueued} tasks are waiting already; try again later`);
    }
    this.#queues[work.priority].add(work);
    return "queued";
  }

  /** Takes waiting work out of the queue; false when it runs or is done. */
  withdraw(work: Runnable): boolean {
    return this.#queues[work.priority].delete(work);
  }

  get #waiting(): number {
    const { high, normal, low } = this.#queues;
    return high.size + normal.size + low.size;
  }

  #run(work: Runnable): void {
    this.#running++;
    void work.run().finally(() => {
      this.#running--;
      this.#runNext();
    });
  }

  #runNext(): void {
    for (const queue of Object.values(this.#queues)) {
      const [next] = queue;
      if (next !== undefined) {
        queue.delete(next);
        this.#run(next);
        return;
      }
    }
  }
}
