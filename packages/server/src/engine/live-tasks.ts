import type { Owner } from "../store/task-store.ts";
import type { EngineContext } from "./engine-context.ts";
import { LiveTask } from "./live-task.ts";
import { readTask } from "./read-task.ts";

interface Holding {
  readonly live: LiveTask;
  holders: number;
  /** Called when it is no longer in memory. */
  onDrop?: () => void;
}

/** The tasks that this process works on or reads. Each is here once, as long as it has a holder. */
export class LiveTasks {
  readonly #context: EngineContext;
  readonly #holdings = new Map<string, Holding>();
  readonly #loading = new Map<string, Promise<LiveTask | undefined>>();

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /** The owner's task, held until `release`; undefined when the owner has no such task. */
  async acquire(owner: Owner, taskId: string): Promise<LiveTask | undefined> {
    for (;;) {
      const holding = this.#holdings.get(taskId);
      if (holding !== undefined) {
        if (!isSameOwner(holding.live.owner, owner)) {
          return undefined;
        }
        holding.holders++;
        return holding.live;
      }
      if (!(await this.#loadOnce(owner, taskId))) {
        return undefined;
      } // another caller that waited for it may have released it, or lost it, in between
    }
  }

  /** The owner's task if it has a holder; not held for the caller. */
  peek(owner: Owner, taskId: string): LiveTask | undefined {
    const live = this.#holdings.get(taskId)?.live;
    return live !== undefined && isSameOwner(live.owner, owner) ? live : undefined;
  }

  /** Adds a task that was just created; held until `release`. */
  adopt(live: LiveTask): void {
    this.#hold(live, 1);
  }

  /** Adds a holder of a task that is already held. */
  retain(live: LiveTask): void {
    const holding = this.#holdings.get(live.name.taskId);
    if (holding?.live === live) {
      holding.holders++;
    }
  }

  release(live: LiveTask): void {
    const { taskId } = live.name;
    const holding = this.#holdings.get(taskId);
    if (holding?.live === live && --holding.holders === 0) {
      this.#holdings.delete(taskId);
      live.dispose();
      holding.onDrop?.();
    }
  }

  /**
   * Calls `drop` once, when the task leaves memory. @returns whether it will: not for a task that has left already, or
   * has such a call
   */
  onDrop(live: LiveTask, drop: () => void): boolean {
    const holding = this.#holdings.get(live.name.taskId);
    if (holding?.live !== live || holding.onDrop !== undefined) {
      return false;
    }
    holding.onDrop = drop;
    return true;
  }

  /** Drops the tasks that ended before a time, because the store has removed them: their readers get an error. */
  forget(endedBefore: number): void {
    for (const { live } of this.#holdings.values()) {
      if (live.endedAt !== undefined && live.endedAt < endedBefore) {
        live.forget();
      }
    }
  }

  #hold(live: LiveTask, holders: number): void {
    const { taskId } = live.name;
    const holding: Holding = { live, holders };
    this.#holdings.set(taskId, holding);
    // A task that could not be written is read anew when it is next needed.
    const forget = () => {
      live.dispose();
      if (this.#holdings.get(taskId) === holding) {
        this.#holdings.delete(taskId);
        holding.onDrop?.();
      }
    };
    live.lost.addEventListener("abort", forget, { once: true });
  }

  /** @returns whether the owner has such a task */
  async #loadOnce(owner: Owner, taskId: string): Promise<boolean> {
    const key = JSON.stringify([owner.tenant, owner.principal, taskId]);
    const loading =
      this.#loading.get(key) ?? this.#load(owner, taskId).finally(() => this.#loading.delete(key));
    this.#loading.set(key, loading);
    const live = await loading;
    if (live !== undefined && !this.#holdings.has(taskId)) {
      this.#hold(live, 0);
    }
    return live !== undefined;
  }

  async #load(owner: Owner, taskId: string): Promise<LiveTask | undefined> {
    const stored = await this.#context.store.find(owner, taskId, "full");
    return stored === undefined
      ? undefined
      : LiveTask.load(
          this.#context,
          this.#context.served.known,
          await readTask(this.#context, stored, "full"),
        );
  }
}

function isSameOwner(one: Owner, other: Owner): boolean {
  return one.tenant === other.tenant && one.principal === other.principal;
}
