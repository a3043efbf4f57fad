import { findA2AError, invalidParams } from "@a2a-connect/core";
import { lastEventIdHeader, type Reader, type SharedBudget, untilAborted } from "@a2a-connect/core/internal";
import { isSameOwner } from "../store/decide-commit.ts";
import type { Owner, TaskRef } from "../store/task-store.ts";
import type { CallerBudgets } from "./capacity/caller-budgets.ts";
import type { KnownCallers } from "./capacity/known-callers.ts";
import type { EngineContext } from "./engine-context.ts";
import { LiveTask } from "./live-task.ts";
import { taskBytes } from "./memory-weight.ts";
import { type LoadedTask, readTask, taskNotFound } from "./read-task.ts";
import type { SeenTask, TaskHandle } from "./task-handle.ts";

interface KeptTask {
  readonly live: LiveTask;
  holders: number;
}

/** A task has no room in memory beside the others of its caller. */
export class NoRoom extends Error {
  /** What it takes there at least. */
  readonly bytes: number;

  constructor(bytes: number) {
    super("a task has no room in memory");
    this.bytes = bytes;
  }
}

/** A task that is being read from the store, for the calls of one caller or for the engine itself. */
class Load {
  /** How many wait for it. */
  waiting = 0;
  /** Whether there is such a task. */
  readonly found: Promise<boolean>;
  readonly #end = new AbortController();

  /** @param read looks at `waiting` before it keeps what it has read */
  constructor(read: (load: Load, signal: AbortSignal) => Promise<boolean>) {
    this.found = read(this, this.#end.signal);
    this.found.catch(() => {}); // those that wait are told, if there are any
  }

  /** Waits for it. @throws the reason of the signal, or why it has failed */
  async join(signal: AbortSignal | undefined): Promise<boolean> {
    this.waiting += 1;
    try {
      return await untilAborted(this.found, signal);
    } catch (error) {
      if (this.#end.signal.aborted && signal?.aborted !== true) return true; // it has ended with the calls before: look again
      throw error;
    } finally {
      this.waiting -= 1;
      if (this.waiting === 0) this.#end.abort(); // it leaves the line
    }
  }
}

/** The loads of one task. */
interface Loads {
  /** By caller: each reads in its own turns and memory, and has no other's task to wait for. */
  readonly byCaller: Map<string | null | undefined, Load>;
  /** How often the task has come into memory meanwhile: what a slower load has read may be old. */
  arrivals: number;
}

/** The tasks that this process works on or reads. Each is here once, as long as it has a holder. */
export class LiveTasks {
  readonly #context: EngineContext;
  readonly #budgets: CallerBudgets;
  readonly #kept = new Map<string, KeptTask>();
  /** Of unfinished tasks that have left memory. */
  readonly #callers: KnownCallers;
  /** By owner and task. */
  readonly #loads = new Map<string, Loads>();
  #unwatchRoom: (() => void) | undefined;
  #onLost: (live: LiveTask) => void = () => {};

  /**
   * @param budgets counts the tasks that are in memory
   * @param callers keeps who has created those that have left it
   */
  constructor(context: EngineContext, budgets: CallerBudgets, callers: KnownCallers) {
    this.#context = context;
    this.#budgets = budgets;
    this.#callers = callers;
  }

  /**
   * The owner's task, held until `release`; undefined when the owner has no such task.
   *
   * @param caller for which call it is held; undefined: for none
   * @param isBounded false: it has room in memory in any case
   * @throws ConnectError CAPACITY, or NoRoom for no call, when it has no room in memory; the reason of a call that has gone
   */
  async acquire(
    owner: Owner,
    taskId: string,
    caller?: Reader,
    isBounded = true,
  ): Promise<LiveTask | undefined> {
    for (let hasWaited = false; ; hasWaited = true) {
      const kept = this.#kept.get(taskId);
      if (kept !== undefined && isSameOwner(kept.live.owner, owner)) {
        kept.holders++;
        if (hasWaited) await this.#turnToGoOn(caller);
        return kept.live;
      }
      // A task of another owner costs the same read as one that does not exist: their times tell nothing apart.
      const load = this.#load(owner, taskId, caller, isBounded);
      try {
        if (!(await load.join(caller?.signal?.()))) {
          await this.#turnToGoOn(caller);
          return undefined;
        }
        // another call that waited for it may have released it, or lost it, in between
      } catch (error) {
        const come = this.#kept.get(taskId);
        if (come?.holders === 0) this.#drop(come); // in the moment in which all went that it was for
        await this.#turnToGoOn(caller);
        throw error;
      }
    }
  }

  /** Thousands of calls may have waited for one load. */
  async #turnToGoOn(caller: Reader | undefined): Promise<void> {
    if (caller !== undefined) await this.#context.wakes.calls.turn(caller.share);
  }

  /** The owner's task if it has a holder; not held for the caller. */
  peek(owner: Owner, taskId: string): LiveTask | undefined {
    const live = this.#kept.get(taskId)?.live;
    return live !== undefined && isSameOwner(live.owner, owner) ? live : undefined;
  }

  /** Calls `onRoom` whenever a task has left memory, from now on; undefined: nothing waits for that. */
  watchRoom(onRoom: (() => void) | undefined): void {
    this.#unwatchRoom?.();
    this.#unwatchRoom = onRoom && this.#budgets.watchRoom(onRoom);
  }

  /** Calls `onLost` with every task that could not be written. */
  watchLost(onLost: (live: LiveTask) => void): void {
    this.#onLost = onLost;
  }

  /** The caller for whom a task is taken up that no call needs: the one that has created it, or its owner. */
  callerOf({ owner, taskId }: TaskRef): string {
    return this.#kept.get(taskId)?.live.caller ?? this.#callers.find({ owner, taskId });
  }

  /** Whether a task that no call needs has room in memory beside the others of its caller, and those that are being loaded. */
  hasRoom(share: string, bytes: number, loadingBytes: number): boolean {
    return this.#budgets.active.hasRoom(share, bytes, loadingBytes);
  }

  /** Whether something of a caller is in memory. */
  hasAny(share: string): boolean {
    return this.#budgets.active.hasAny(share);
  }

  /** Whether a caller's tasks take more than twice its part of the memory. */
  isFarBeyondPart(share: string): boolean {
    return this.#budgets.active.isExceeded(share, 2);
  }

  /** Whether callers have taken nearly all of the memory: a further one would have little. */
  get isMemoryTaken(): boolean {
    return this.#budgets.active.isTaken;
  }

  /** Whether all tasks together, with those that are being loaded, take more than twice of what there is. */
  isMemoryOverdrawn(loadingBytes: number): boolean {
    return this.#budgets.active.isOverdrawn(2, loadingBytes);
  }

  /** Adds a task that was just created, held once: by its call, until that releases its handle. */
  adopt(live: LiveTask): void {
    this.#hold(live, 1);
  }

  /** Adds a holder of a task that is already held. */
  retain(live: LiveTask): void {
    const kept = this.#kept.get(live.name.taskId);
    if (kept?.live === live) {
      kept.holders++;
    }
  }

  release(live: LiveTask): void {
    const { taskId } = live.name;
    const kept = this.#kept.get(taskId);
    if (kept?.live === live && --kept.holders === 0) {
      this.#drop(kept);
    }
  }

  /** Drops the tasks that ended before a time, because the store has removed them: their readers get an error. */
  forget(endedBefore: number): void {
    for (const { live } of this.#kept.values()) {
      if (live.endedAt !== undefined && live.endedAt < endedBefore) {
        live.forget();
      }
    }
  }

  #hold(live: LiveTask, holders: number): void {
    const { taskId } = live.name;
    const kept: KeptTask = { live, holders };
    if (this.#kept.has(taskId)) throw new Error("a task is in memory already"); // no holder would ever drop the one before
    this.#kept.set(taskId, kept);
    const loads = this.#loads.size === 0 ? undefined : this.#loads.get(loadKey(live.owner, taskId));
    if (loads !== undefined) loads.arrivals += 1;
    // A task that could not be written is read anew when it is next needed.
    const drop = () => {
      this.#drop(kept);
      this.#onLost(live);
    };
    live.lost.addEventListener("abort", drop, { once: true });
  }

  #drop(kept: KeptTask): void {
    const { live } = kept;
    const { taskId } = live.name;
    live.readers.dispose();
    live.output.end();
    live.memory.end();
    this.#noteCaller(live);
    if (this.#kept.get(taskId) === kept) {
      this.#kept.delete(taskId);
      this.#budgets.tellRoom();
    }
  }

  /** The process remembers who has created an unfinished task that leaves memory. */
  #noteCaller({ owner, name, ended, caller }: LiveTask): void {
    this.#callers.note({ owner, taskId: name.taskId }, ended ? undefined : caller);
  }

  /** The load of a task that goes on for this caller, or a new one. */
  #load(owner: Owner, taskId: string, caller: Reader | undefined, isBounded: boolean): Load {
    const key = loadKey(owner, taskId);
    const loads = this.#loads.get(key) ?? { byCaller: new Map(), arrivals: 0 };
    this.#loads.set(key, loads);
    const whose = caller === undefined ? undefined : (caller.share ?? null);
    const known = loads.byCaller.get(whose);
    if (known !== undefined) return known;
    const load = new Load((self, signal) => {
      const read = () => this.#read(owner, taskId, caller, loads, self, isBounded);
      const reader = caller && { share: caller.share, signal: () => signal };
      const reading = reader && this.#context.reads.tasks.read({ owner, taskId }, reader, read);
      return (reading ?? read()).finally(() => {
        loads.byCaller.delete(whose);
        if (loads.byCaller.size === 0) this.#loads.delete(key);
      });
    });
    loads.byCaller.set(whose, load);
    return load;
  }

  /** Reads a task and holds it, unless another load was faster or no call waits any more. @returns whether the owner has such a task */
  async #read(
    owner: Owner,
    taskId: string,
    caller: Reader | undefined,
    loads: Loads,
    load: Load,
    isBounded: boolean,
  ): Promise<boolean> {
    if (this.peek(owner, taskId) !== undefined) return true;
    let { arrivals } = loads;
    const stored = await this.#context.store.find(owner, taskId, "full");
    if (stored === undefined) return false;
    const creator = this.#callers.find({ owner, taskId });
    const share = caller === undefined ? creator : caller.share;
    const memory = this.#budgets.active.open(share);
    let needed = 0;
    const count = (bytes: number) => {
      needed += bytes;
      if (isBounded) memory.add(bytes);
      else memory.grow(bytes);
    };
    try {
      count(taskBytes);
      const read = await readTask(this.#context, stored, "full", count);
      let isCurrent = true;
      if (loads.arrivals > arrivals) {
        ({ arrivals } = loads);
        isCurrent = await this.#isCurrent(read.stored);
      }
      // Nothing waits from here on: other loads may end in the same turn.
      const isAlone = loads.arrivals === arrivals && this.peek(owner, taskId) === undefined;
      if (!isCurrent || !isAlone || load.waiting === 0) {
        memory.end();
        return true;
      }
      const origin = { agent: this.#context.served.known, owner, memory, caller: creator };
      this.#hold(LiveTask.load(this.#context, origin, read), 0);
      return true;
    } catch (error) {
      memory.end();
      const isRefused = caller === undefined && findA2AError(error)?.reason === "CAPACITY";
      throw isRefused ? new NoRoom(needed) : error;
    }
  }

  /** Whether a task, which has been in memory since it was read, has left it as it was. */
  async #isCurrent({ owner, taskId, tail, fence }: LoadedTask["stored"]): Promise<boolean> {
    const now = await this.#context.store.weigh(owner, taskId);
    return now?.tail.sequence === tail.sequence && now.fence === fence;
  }
}

function loadKey({ tenant, principal }: Owner, taskId: string): string {
  return JSON.stringify([tenant, principal, taskId]);
}

/** Who calls; its share is that of the slots and the memory, too. */
export interface Caller extends Reader {
  readonly owner: Owner;
}

/** A task that is in memory for a call, until it is released. */
export interface Held {
  readonly reader: Reader;
  readonly live: LiveTask;
  readonly release: () => void;
}

/** Tasks that are held in memory for calls: each call counts as a follower of its caller, and releases its task. */
export class HeldTasks {
  readonly #tasks: LiveTasks;
  readonly #followers: SharedBudget;

  constructor(tasks: LiveTasks, followers: SharedBudget) {
    this.#tasks = tasks;
    this.#followers = followers;
  }

  /** A task that exists, for a caller. @throws ConnectError TASK_NOT_FOUND, CAPACITY */
  async acquire(caller: Caller, taskId: string): Promise<Held> {
    const follower = this.#followers.open(caller.share);
    follower.add(1);
    const live = await this.#tasks.acquire(caller.owner, taskId, caller).catch((error: unknown) => {
      follower.end();
      throw error;
    });
    if (live === undefined) {
      follower.end();
      throw taskNotFound(taskId);
    }
    const release = () => {
      follower.end();
      this.#tasks.release(live);
    };
    return { live, reader: caller, release };
  }

  /** The handle of a task that `adopt` holds for this call, with all its events. */
  handleOfNew(live: LiveTask, reader: Reader): TaskHandle {
    return this.handle({ live, reader, release: () => this.#tasks.release(live) }, 0, undefined);
  }

  /** @param first the current task; undefined when only the events after `cursor` are wanted */
  handle(
    { live, reader: { share }, release }: Held, // not the whole reader: a send's has the message
    accepted: number,
    first: SeenTask | undefined,
    cursor = 0,
  ): TaskHandle {
    let kept = first;
    const takeFirst = () => {
      const taken = kept;
      kept = undefined;
      return taken;
    };
    return {
      kind: "task",
      accepted,
      takeFirst,
      cursor: first?.generation ?? cursor,
      seen: () => live.seen(),
      weigh: (historyLength) => (historyLength === 0 ? live.bytesBesideHistory : live.bytes),
      settled(signal) {
        kept = undefined;
        return live.settledAfter(accepted, signal, share);
      },
      eventsAfter: (generation, signal) => live.readers.eventsAfter(generation, signal, share),
      release,
    };
  }

  /**
   * The handle of a message that was taken before, whether the task has ended or not.
   *
   * @param accepted generation after which the message's consequences begin
   * @param lastEventId the last event that the caller has; undefined for a caller that begins with the current task
   * @throws ConnectError InvalidArgument when there is no event `lastEventId` yet
   */
  attach(held: Held, accepted: number, lastEventId: number | undefined): TaskHandle {
    const { live, release } = held;
    if (lastEventId === undefined) {
      return this.handle(held, accepted, live.seen());
    }
    try {
      assertEventExists(lastEventId, live.generation);
    } catch (error) {
      release();
      throw error;
    }
    return this.handle(held, accepted, undefined, lastEventId);
  }
}

/** @throws ConnectError InvalidArgument */
export function assertEventExists(lastEventId: number, generation: number): void {
  if (lastEventId > generation) {
    throw invalidParams({
      field: lastEventIdHeader,
      description: `there is no event ${lastEventId} of this task yet`,
    });
  }
}
