import type { Holding, Reader, SharedBudget } from "@a2a-connect/core/internal";
import { isSameOwner } from "../store/decide-commit.ts";
import type { Owner } from "../store/task-store.ts";
import { ownerShare } from "./capacity/shares.ts";
import type { EngineContext } from "./engine-context.ts";
import { LiveTask } from "./live-task.ts";
import { readTask } from "./read-task.ts";

interface HeldTask {
  readonly live: LiveTask;
  /** What it takes in memory. */
  readonly active: Holding;
  holders: number;
  /** Called when it is no longer in memory. */
  onDrop?: () => void;
}

type Loaded = Pick<HeldTask, "live" | "active">;

/** The tasks that this process works on or reads. Each is here once, as long as it has a holder. */
export class LiveTasks {
  readonly #context: EngineContext;
  readonly #active: SharedBudget;
  readonly #holdings = new Map<string, HeldTask>();
  readonly #loading = new Map<string, Promise<Loaded | undefined>>();
  #onRoom: () => void = () => {};
  #onLost: (live: LiveTask) => void = () => {};

  /** @param active counts the tasks that are in memory */
  constructor(context: EngineContext, active: SharedBudget) {
    this.#context = context;
    this.#active = active;
  }

  /**
   * The owner's task, held until `release`; undefined when the owner has no such task.
   *
   * @param caller for which call it is held; undefined: for none
   * @throws ConnectError CAPACITY when a caller's task has no room in memory
   */
  async acquire(owner: Owner, taskId: string, caller?: Reader): Promise<LiveTask | undefined> {
    for (;;) {
      const holding = this.#holdings.get(taskId);
      if (holding !== undefined && isSameOwner(holding.live.owner, owner)) {
        holding.holders++;
        return holding.live;
      }
      // A task of another owner costs the same read as one that does not exist: their times tell nothing apart.
      if (!(await this.#loadOnce(owner, taskId, caller))) {
        return undefined;
      } // another caller that waited for it may have released it, or lost it, in between
    }
  }

  /** The owner's task if it has a holder; not held for the caller. */
  peek(owner: Owner, taskId: string): LiveTask | undefined {
    const live = this.#holdings.get(taskId)?.live;
    return live !== undefined && isSameOwner(live.owner, owner) ? live : undefined;
  }

  /** Calls `onRoom` whenever a task has left memory. */
  watchRoom(onRoom: () => void): void {
    this.#onRoom = onRoom;
  }

  /** Calls `onLost` with every task that could not be written. */
  watchLost(onLost: (live: LiveTask) => void): void {
    this.#onLost = onLost;
  }

  /** Whether a task that was left behind has room in memory beside the others of its caller, and those that are being loaded. */
  hasRoom(owner: Owner, bytes: number, loadingBytes: number): boolean {
    return this.#active.hasRoom(ownerShare(owner), bytes, loadingBytes);
  }

  /** Adds a task that was just created, and what it takes; held until `release`. */
  adopt(live: LiveTask, active: Holding): void {
    this.#hold(live, active, 1);
  }

  /** A held task grows by a message. @throws ConnectError CAPACITY when there is no room for it */
  grow(live: LiveTask, bytes: number): void {
    this.#holdings.get(live.name.taskId)?.active.add(bytes);
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
      this.#drop(holding);
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

  #hold(live: LiveTask, active: Holding, holders: number): void {
    const holding: HeldTask = { live, active, holders };
    this.#holdings.set(live.name.taskId, holding);
    // A task that could not be written is read anew when it is next needed.
    const drop = () => {
      this.#drop(holding);
      this.#onLost(live);
    };
    live.lost.addEventListener("abort", drop, { once: true });
  }

  #drop(holding: HeldTask): void {
    const { live, active } = holding;
    const { taskId } = live.name;
    live.readers.dispose();
    active.end();
    if (this.#holdings.get(taskId) === holding) {
      this.#holdings.delete(taskId);
      holding.onDrop?.();
      this.#onRoom();
    }
  }

  /** @returns whether the owner has such a task */
  async #loadOnce(owner: Owner, taskId: string, caller: Reader | undefined): Promise<boolean> {
    const key = JSON.stringify([owner.tenant, owner.principal, taskId]);
    const loading =
      this.#loading.get(key) ?? this.#load(owner, taskId, caller).finally(() => this.#loading.delete(key));
    this.#loading.set(key, loading);
    const loaded = await loading;
    if (loaded !== undefined && !this.#holdings.has(taskId)) {
      this.#hold(loaded.live, loaded.active, 0);
    }
    return loaded !== undefined;
  }

  #load(owner: Owner, taskId: string, caller: Reader | undefined): Promise<Loaded | undefined> {
    const load = () => this.#read(owner, taskId, caller);
    return caller === undefined ? load() : this.#context.reads.tasks.run(caller, load);
  }

  async #read(owner: Owner, taskId: string, caller: Reader | undefined): Promise<Loaded | undefined> {
    const stored = await this.#context.store.find(owner, taskId, "full");
    if (stored === undefined) {
      return undefined;
    }
    const share = caller === undefined ? ownerShare(owner) : caller.share;
    const active = this.#active.open(share, caller !== undefined);
    try {
      const read = await readTask(this.#context, stored, "full", active.add);
      return { active, live: LiveTask.load(this.#context, this.#context.served.known, read) };
    } catch (error) {
      active.end();
      throw error;
    }
  }
}
