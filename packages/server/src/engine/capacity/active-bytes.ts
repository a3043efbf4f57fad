import { a2aError } from "@a2a-connect/core";
import type { EngineContext } from "../engine-context.ts";

/** What a task may take without being counted: as many as there are places take little. */
const smallBytes = 16 * 1024;

/** When a caller may try again. */
const retryAfterSeconds = 1;

/**
 * Counts what tasks take in memory that callers hold there: new tasks, tasks with a further message, and tasks that are
 * followed. Places alone bound nothing: thousands of tasks may run and wait, and each may be as large as a task can be.
 */
export class ActiveBytes {
  readonly #maxBytes: number;
  readonly #maxShare: number;
  readonly #byShare = new Map<string, number>();
  #bytes = 0;

  constructor({ maxActiveBytes, maxShare }: Pick<EngineContext["limits"], "maxActiveBytes" | "maxShare">) {
    this.#maxBytes = maxActiveBytes;
    this.#maxShare = maxShare;
  }

  /**
   * Room for one task.
   *
   * @param share the caller; its part is bounded as that of the places is (see `Shares`)
   * @param isBounded false for a task that is loaded without a caller: it is counted, and never refused
   */
  open(share: string | undefined, isBounded = true): ActiveTask {
    let held = 0;
    let counted = 0;
    const count = (change: number): void => {
      counted += change;
      this.#bytes += change;
      if (share === undefined) return;
      const all = this.#heldBy(share) + change;
      if (all === 0) this.#byShare.delete(share);
      else this.#byShare.set(share, all);
    };
    return {
      add: (bytes) => {
        const change = (held + bytes > smallBytes ? held + bytes : 0) - counted;
        const isAlone = this.#bytes === counted;
        if (isBounded && change > 0 && !isAlone && !this.#hasRoom(share, change)) throw this.#full();
        held += bytes;
        count(change);
      },
      end: () => {
        count(-counted);
        held = 0;
      },
    };
  }

  #hasRoom(share: string | undefined, bytes: number): boolean {
    const free = this.#maxBytes - this.#bytes - bytes;
    const own = share === undefined ? 0 : this.#heldBy(share) + bytes;
    return free >= 0 && own * (1 - this.#maxShare) <= free * this.#maxShare;
  }

  #heldBy(share: string): number {
    return this.#byShare.get(share) ?? 0;
  }

  #full(): Error {
    return a2aError(
      "CAPACITY",
      `tasks that run, wait or are followed take most of ${this.#maxBytes} bytes of memory; try again in ${retryAfterSeconds} second or later, or send a smaller message`,
      { retryAfterSeconds: String(retryAfterSeconds), maxActiveBytes: String(this.#maxBytes) },
    );
  }
}

/** What one task takes in memory. */
export interface ActiveTask {
  /**
   * Counts more of it. A task that is alone is taken however large.
   *
   * @throws ConnectError CAPACITY when there is no room for it
   */
  add(bytes: number): void;
  /** The task has left memory. May be called more than once. */
  end(): void;
}
