import type { EngineContext } from "./engine-context.ts";
import type { Execution } from "./execution.ts";

/**
 * Executors that wait, without a slot, and are in memory: beyond it the one that has waited longest is loaded again when it is needed.
 * Each takes some 20 KiB besides its task.
 */
const maxResting = 1_000;

/** All executions that are not done: those at work, those that wait for a slot, and those that rest in memory without one. */
export class RunningExecutions {
  readonly #clock: EngineContext["clock"];
  readonly #all = new Set<Execution>();
  /** Those that have given their slot back, in that order; some may have gone on since. */
  readonly #resting = new Set<Execution>();
  #closed = false;

  constructor({ clock }: Pick<EngineContext, "clock">) {
    this.#clock = clock;
  }

  /** It is listed until it is done, also before it has a task: a server that stops waits for it. */
  add(execution: Execution): void {
    if (this.#closed) {
      execution.abort("shutdown");
    }
    this.#all.add(execution);
    void execution.done.then(() => {
      this.#all.delete(execution);
      this.#resting.delete(execution);
    });
  }

  /** It has given its slot back. @param stays whether it may stay in memory until it goes on, unless there are too many */
  rest(execution: Execution, stays: boolean): void {
    this.#resting.delete(execution);
    if (this.#closed) {
      drop(execution);
      return;
    }
    if (!stays) {
      makeRoom(execution);
      return;
    }
    this.#resting.add(execution);
    for (const oldest of this.#resting) {
      if (this.#resting.size <= maxResting) return;
      this.#resting.delete(oldest);
      makeRoom(oldest);
    }
  }

  /** All that rest make room. @param share those of this caller; undefined: of all */
  dropResting(share?: string): void {
    for (const execution of this.#all) {
      if (share === undefined || execution.share === share) makeRoom(execution);
    }
  }

  /** Those at work go on for `graceMs`, then they are told to stop. Resolves when all are done, and all that begin meanwhile. */
  async close(graceMs: number): Promise<void> {
    this.#closed = true;
    for (const execution of this.#all) drop(execution); // no wait can end any more
    const grace = Promise.withResolvers<void>();
    const cancelGrace = this.#clock.schedule(graceMs, grace.resolve);
    await Promise.race([this.#idle(), grace.promise]);
    cancelGrace();
    for (const execution of this.#all) {
      execution.abort("shutdown");
    }
    await this.#idle();
  }

  async #idle(): Promise<void> {
    while (this.#all.size > 0) {
      await Promise.all([...this.#all].map((execution) => execution.done));
    }
  }
}

/** It is loaded again when it is needed. */
function makeRoom(execution: Execution): void {
  if (!execution.mustStay) drop(execution);
}

function drop(execution: Execution): void {
  if (execution.isResting) {
    execution.abort("shutdown");
  }
}
