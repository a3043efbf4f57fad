import { a2aError } from "@a2a-connect/core";

/** A piece of work that may have to wait for its place. */
export interface Runnable {
  /** Must not reject. */
  run(): Promise<void>;
}

/** Lets a bounded number of executions run at a time; the others wait in order (docs/limits.md). */
export class Scheduler {
  readonly #maxRunning: number;
  readonly #maxQueued: number;
  readonly #queue = new Set<Runnable>();
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
    if (admission === "bounded" && this.#queue.size >= this.#maxQueued) {
      throw a2aError("CAPACITY", `${this.#maxQueued} tasks are waiting already; try again later`);
    }
    this.#queue.add(work);
    return "queued";
  }

  /** Takes waiting work out of the queue; false when it runs or is done. */
  withdraw(work: Runnable): boolean {
    return this.#queue.delete(work);
  }

  #run(work: Runnable): void {
    this.#running++;
    void work.run().finally(() => {
      this.#running--;
      const [next] = this.#queue;
      if (next !== undefined) {
        this.#queue.delete(next);
        this.#run(next);
      }
    });
  }
}
