import { findA2AError } from "@a2a-connect/core";
import { TaskSchema, TaskState } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { TaskRef, TaskWeight } from "../store/task-store.ts";
import { endings } from "./endings.ts";
import type { EngineContext } from "./engine-context.ts";
import { statusEvent } from "./events.ts";
import type { LiveTask } from "./live-task.ts";
import { type LiveTasks, NoRoom } from "./live-tasks.ts";
import { encodeEvent } from "./task-log.ts";
import { encodeSnapshot } from "./task-weight.ts";
import { type TakeUp, UnfinishedTasks } from "./unfinished-tasks.ts";

/** How many processes may begin to load a task without success; after that no more try. */
const maxFailedLoads = 2;

/**
 * What is taken up before the first call is answered: so many tasks, so many bytes of them as are stored, or as many as take so long.
 * Callers may have left any number of them asleep; and a megabyte of small events takes a quarter of a second to read.
 */
const beforeStart = { tasks: 1_000, bytes: 16 * 1024 * 1024, ms: 500 };

/** What a small task takes in memory besides its stored bytes, with its executor, about. */
const loadedTaskBytes = 16 * 1024;

/** Bytes of tasks that are being loaded at a time: more would all be ready at the end only. */
const maxLoadingBytes = 4 * 1024 * 1024;

/** What a task needs at most that is loaded beside any others of its caller after some time. */
const smallBytes = loadedTaskBytes + 64 * 1024;

/** How often those that were put off are looked at again: memory may have room although no task has left it. */
const lookMs = 1_000;

/** A task could not be read, although the store could be reached. It stays as it is until the next try. */
export class LoadFailure extends Error {}

/** A load that waits for room. */
interface Waiting {
  readonly task: TaskRef;
  /** Whose task it is. */
  readonly share: string;
  /** What it counts in `maxRecoveryBytes`. */
  readonly bytes: number;
  /** What it takes in memory, as far as that is known: values take up to 30 times as much as is stored of them. */
  readonly needed: number;
  /** Whether no other task may be loaded meanwhile. */
  readonly alone: boolean;
  /** @param place undefined: the server stops */
  readonly admit: (place: Place | undefined) => void;
  /** Called when it waits for other tasks, never after it was admitted. */
  readonly onPutOff: () => void;
}

type Load = Omit<Waiting, "admit">;

/** A load may begin. */
interface Place {
  /** Whether it has to have room in memory beside its caller's other tasks. */
  readonly isBounded: boolean;
}

/**
 * Loads tasks without a caller: the unfinished tasks of an earlier process, and those whose timer is due.
 *
 * - At most `maxRecoveryBytes` of them are in memory at a time, or one task. Tasks that have been there longer than
 *   `unloadAfterMs` do not count, because they may be waiting for the others. The next task waits that long at most, even without room.
 *   A caller has its share of these bytes, and callers take
 *   turns: tasks of one that stay at work, or are large, keep no other caller's tasks waiting.
 * - They have the same share of `maxActiveBytes` as those that their caller sends. Those beyond it are put off until others of it have
 *   left memory, and keep no other caller's tasks waiting. What a task takes there is known when it has been read: one that turns out
 *   to have no room is put off, too. A caller's only task has room in any case. Those in memory may wait for one that was put off, so
 *   one of each caller is loaded in each `unloadAfterMs`: a small one, or any until its caller has twice its part.
 * - Before it loads a task, the store counts the attempt, and resets the count when the load succeeds. A task with a
 *   failed attempt is loaded while no other is, so that a crash affects no other task. The third time it is FAILED with
 *   reason `unloadable`, without being read.
 */
export class Recovery {
  readonly #context: Pick<EngineContext, "store" | "clock" | "limits" | "log" | "randomId" | "onDeliveryDue">;
  readonly #tasks: LiveTasks;
  readonly #unfinished: UnfinishedTasks;
  readonly #onFull: (share?: string) => void;
  /** The bytes of tasks that were loaded here not long ago and are still in memory, or are being loaded. */
  #bytes = 0;
  /** The same, by caller. */
  readonly #bytesOf = new Map<string, number>();
  #loading = 0;
  #loadingBytes = 0;
  /** What they take in memory, as far as that is known, by caller. */
  readonly #loadingOf = new Map<string, number>();
  /** Whether what is being loaded is alone. */
  #isAlone = false;
  /** By caller; whose turn is next comes first. */
  readonly #waiting = new Map<string, Waiting[]>();
  /** Those of them that have not been told that they wait for others. */
  readonly #untold = new Set<Waiting>();
  /** The loads whose caller has its share of the memory, by caller. */
  readonly #putOff = new Map<string, Waiting[]>();
  /** When one of them is loaded in any case, by caller. */
  readonly #patientUntil = new Map<string, number>();
  readonly #overdue = new Set<Waiting>();
  /** Resolves when the server may begin although not all tasks have been taken up. */
  readonly #enough = Promise.withResolvers<void>();
  /** Failed loads before this process, of the tasks that it has not loaded yet although it tried: it counts as one attempt. */
  readonly #failedBefore = new Map<string, number>();
  #cancelPatience: (() => void) | undefined;
  #cancelLook: (() => void) | undefined;
  /** What was loaded here, or could not be. */
  #tasksDone = 0;
  #bytesDone = 0;
  #closed = false;

  /**
   * @param takeUp loads an unfinished task by `acquire`, to which it gives `onPutOff`
   * @param onFull called when the tasks at work leave no room, those of a caller or of all: then their waiting executors should be dropped
   */
  constructor(context: EngineContext, tasks: LiveTasks, takeUp: TakeUp, onFull: (share?: string) => void) {
    const { store, clock, log, nameOwner } = context;
    // The process knows only the callers of tasks that it has created.
    const isLeftBehind = (task: TaskRef) => tasks.callerOf(task) === nameOwner(task.owner);
    this.#context = context;
    this.#tasks = tasks;
    this.#unfinished = new UnfinishedTasks({ store, clock, log, isLeftBehind }, takeUp);
    this.#onFull = onFull;
  }

  /** Whether a load waits for room that this caller's tasks may leave. */
  isFullFor(share: string | undefined): boolean {
    return this.#waiting.size > 0 || (share !== undefined && this.#putOff.has(share));
  }

  /**
   * Takes up every unfinished task. Resolves when that is done for all of them, for enough to begin with, or for as many as
   * there is room for; the others follow, when there is.
   *
   * @throws ConnectError `Unavailable` when the store cannot be reached
   */
  async recoverAll(): Promise<void> {
    const all = this.#unfinished.takeUpAll();
    const stopTimer = this.#context.clock.schedule(beforeStart.ms, () => this.#enough.resolve());
    await Promise.race([all, this.#enough.promise]).finally(stopTimer);
    this.#unfinished.goToBackground();
    all.catch((error: unknown) => this.#warn("unfinished tasks could not be read", undefined, error));
  }

  /**
   * The task, loaded when there is room for it, claimed, and held until it is released. Undefined when it no longer
   * exists, when it was failed as unloadable, and when the server stops.
   *
   * @param onPutOff called when it waits until other tasks leave room
   * @throws LoadFailure when it cannot be read; ConnectError `Unavailable` when the store cannot be reached
   */
  async acquire(task: TaskRef, onPutOff: () => void): Promise<LiveTask | undefined> {
    const { owner, taskId } = task;
    if (this.#tasks.peek(owner, taskId) !== undefined) {
      return this.#claim(task); // it is in memory already
    }
    const weight = await this.#context.store.weigh(owner, taskId);
    if (weight === undefined) {
      return undefined;
    }
    const failed = this.#failedBefore.get(taskId) ?? weight.loads;
    if (failed >= maxFailedLoads) {
      await this.#fail(weight);
      return undefined;
    }
    const share = this.#tasks.callerOf(task);
    const bytes = Math.min(weight.bytes + loadedTaskBytes, this.#context.limits.maxRecoveryBytes);
    const alone = failed > 0;
    for (let needed = weight.bytes + loadedTaskBytes; ; ) {
      const load = { task, share, bytes, needed, alone, onPutOff };
      const place = await this.#room(load);
      if (place === undefined) return undefined;
      try {
        return await this.#loadAt(load, place, failed, weight.bytes);
      } catch (error) {
        if (!(error instanceof NoRoom)) throw error;
        if (error.bytes > needed) needed = 2 * error.bytes; // of what the task takes only a part was read; twice as much makes few tries
      }
    }
  }

  /** @param stored the bytes of the task in the store */
  async #loadAt(
    { task, share, bytes, needed }: Load,
    { isBounded }: Place,
    failed: number,
    stored: number,
  ): Promise<LiveTask | undefined> {
    let isHeld = false;
    try {
      const live = await this.#load(task, failed, isBounded);
      isHeld = live !== undefined && this.#hold(live, share, bytes);
      return live;
    } finally {
      this.#loading--;
      this.#loadingBytes -= bytes;
      addTo(this.#loadingOf, share, -needed);
      this.#isAlone = false;
      this.#tasksDone += 1;
      this.#bytesDone += stored;
      if (this.#tasksDone >= beforeStart.tasks || this.#bytesDone >= beforeStart.bytes) {
        this.#enough.resolve();
      }
      this.#release(share, isHeld ? 0 : bytes);
    }
  }

  /** Counts a loaded task until it leaves memory, or has been there for long. @returns whether it counts */
  #hold(live: LiveTask, share: string, bytes: number): boolean {
    let left = bytes;
    const giveBack = () => {
      cancelTimer();
      this.#release(share, left);
      left = 0;
    };
    const { clock, limits } = this.#context;
    const cancelTimer = clock.schedule(limits.unloadAfterMs, giveBack, { background: true });
    const isHeld = this.#tasks.onDrop(live, giveBack);
    if (!isHeld) cancelTimer();
    return isHeld;
  }

  /** Loads that wait for room end without one. */
  close(): void {
    this.#closed = true;
    this.#unfinished.close();
    this.#cancelPatience?.();
    this.#cancelLook?.();
    const loads = [...this.#waiting.values(), ...this.#putOff.values()].flat();
    this.#waiting.clear();
    this.#putOff.clear();
    this.#untold.clear();
    this.#overdue.clear();
    for (const { admit } of loads) admit(undefined);
    this.#enough.resolve();
  }

  async #load(task: TaskRef, failed: number, isBounded: boolean): Promise<LiveTask | undefined> {
    const { owner, taskId } = task;
    const { store } = this.#context;
    this.#failedBefore.set(taskId, failed);
    const note = (loads: number) =>
      store
        .noteLoads(owner, taskId, loads)
        .catch((error: unknown) =>
          this.#warn("the result of loading a task could not be stored", taskId, error),
        );
    try {
      await store.noteLoads(owner, taskId, failed + 1); // it may be stored although the store does not answer
      const live = await this.#claim(task, isBounded);
      await note(0); // until then the store counts an attempt that has not failed
      this.#failedBefore.delete(taskId);
      return live;
    } catch (error) {
      if (findA2AError(error)?.reason === "TASK_NOT_FOUND") {
        this.#failedBefore.delete(taskId);
        return undefined;
      }
      if (error instanceof NoRoom || (error instanceof ConnectError && error.code === Code.Unavailable)) {
        void note(failed);
        throw error;
      }
      throw new LoadFailure(`a task could not be loaded; start ${failed + 1} of ${maxFailedLoads}`, {
        cause: error,
      });
    }
  }

  async #claim({ owner, taskId }: TaskRef, isBounded = true): Promise<LiveTask | undefined> {
    const live = await this.#tasks.acquire(owner, taskId, undefined, isBounded);
    try {
      await live?.claim(live.caller);
      return live;
    } catch (error) {
      if (live !== undefined) {
        this.#tasks.release(live);
      }
      throw error;
    }
  }

  /**
   * Ends a task whose log cannot be read. The log stays. The commit has a snapshot that replaces it for readers:
   * GetTask and ListTasks show the task as FAILED, without its history and artifacts.
   */
  async #fail({ owner, taskId, index, tail, fence }: TaskWeight): Promise<void> {
    const { store, clock, randomId, log, onDeliveryDue } = this.#context;
    const share = this.#tasks.callerOf({ owner, taskId });
    const { contextId } = index;
    const at = Math.max(clock.now(), index.statusTimestamp);
    const event = statusEvent({ taskId, contextId }, endings.unloadable, at, randomId);
    const { payload, step, kind } = encodeEvent(event);
    const status = step.case === "statusUpdate" ? step.value.status : undefined;
    const sequence = tail.sequence + 1;
    const committed = store.commit({
      owner,
      taskId,
      expectedSequence: tail.sequence,
      fence,
      entries: [{ sequence, generation: tail.generation + 1, kind, payload }],
      index: { contextId, state: TaskState.FAILED, statusTimestamp: at, wakeAt: undefined },
      snapshot: encodeSnapshot(
        create(TaskSchema, { id: taskId, contextId, ...(status === undefined ? {} : { status }) }),
        sequence,
      ),
      pushConfigs: [],
      keys: [],
    });
    // Also when the store rejects: it may have written the commit, and only its answer is lost.
    const result = await committed.finally(() => onDeliveryDue({ owner, taskId, share }));
    if ("refused" in result) {
      return; // another process continues it
    }
    log({
      level: "error",
      message: "a task was failed, because it could not be loaded two times before",
      taskId,
    });
  }

  /** Resolves when there is room; with undefined when the server stops. */
  #room(load: Load): Promise<Place | undefined> {
    if (this.#closed) {
      return Promise.resolve(undefined);
    }
    const { promise, resolve } = Promise.withResolvers<Place | undefined>();
    const waiting = { ...load, admit: resolve };
    pushTo(this.#waiting, waiting);
    this.#untold.add(waiting);
    this.#tasks.watchRoom(() => this.#takeBack());
    this.#admit();
    return promise;
  }

  #release(share: string, bytes: number): void {
    this.#count(share, -bytes);
    this.#takeBack();
  }

  #count(share: string, change: number): void {
    this.#bytes += change;
    addTo(this.#bytesOf, share, change);
  }

  #admit(): void {
    this.#putOffAll();
    for (let next = this.#findNext(); next !== undefined; next = this.#findNext()) {
      this.#admitOne(next);
      this.#putOffAll();
    }
    if (this.#waiting.size === 0) {
      this.#cancelPatience?.();
      this.#cancelPatience = undefined;
      if (this.#putOff.size === 0) this.#tasks.watchRoom(undefined);
      return;
    }
    if (this.#loading > 0) return;
    for (const waiting of this.#untold) this.#tell(waiting); // all that wait, wait for what is at work
    if (this.#cancelPatience === undefined) {
      this.#cancelPatience = this.#context.clock.schedule(this.#context.limits.unloadAfterMs, () => {
        this.#cancelPatience = undefined;
        this.#putOffAll();
        const [[first] = []] = this.#waiting.values();
        if (this.#loading === 0 && first !== undefined) {
          this.#admitOne(first);
        }
        this.#admit();
      });
      this.#enough.resolve();
      this.#onFull();
    }
  }

  /** Puts off what callers wait for that have their share. What is being loaded is counted when it was read. */
  #putOffAll(): void {
    for (const [first] of [...this.#waiting.values()]) {
      for (let next = first; next !== undefined; [next] = this.#waiting.get(next.share) ?? []) {
        if (this.#mayLoad(next)) break;
        shiftFrom(this.#waiting, next);
        const isFirst = !this.#putOff.has(next.share);
        if (isFirst) this.#bePatient(next.share);
        pushTo(this.#putOff, next);
        this.#tell(next);
        this.#enough.resolve();
        if (isFirst) this.#onFull(next.share);
      }
    }
    this.#lookLater();
  }

  #tell(waiting: Waiting): void {
    this.#untold.delete(waiting);
    waiting.onPutOff();
  }

  /** A task has left memory, or was loaded: the first of each caller that has room now is next. */
  #takeBack(): void {
    for (const [first] of [...this.#putOff.values()]) {
      if (first === undefined || !this.#mayLoad(first)) continue;
      shiftFrom(this.#putOff, first);
      pushTo(this.#waiting, first);
    }
    this.#admit();
  }

  #lookLater(): void {
    if (this.#putOff.size === 0 || this.#closed || this.#cancelLook !== undefined) return;
    const look = () => {
      this.#cancelLook = undefined;
      const all = [...this.#putOff.values()].flat();
      for (const load of all.filter(({ task }) => this.#isLoaded(task))) this.#retry(load);
      for (const [share, until] of this.#patientUntil) {
        if (this.#context.clock.ticks() >= until) this.#loadOverdue(share);
      }
      this.#takeBack();
    };
    this.#cancelLook = this.#context.clock.schedule(lookMs, look, { background: true });
  }

  #bePatient(share: string): void {
    this.#patientUntil.set(share, this.#context.clock.ticks() + this.#context.limits.unloadAfterMs);
  }

  #loadOverdue(share: string): void {
    const isFar = this.#tasks.isFarBeyondPart(share);
    const next = this.#putOff.get(share)?.find(({ needed }) => needed <= smallBytes || !isFar);
    if (next !== undefined) {
      this.#overdue.add(next);
      this.#retry(next);
    }
    if (this.#putOff.has(share)) this.#bePatient(share);
    else this.#patientUntil.delete(share);
  }

  #retry(load: Waiting): void {
    removeFrom(this.#putOff, load);
    pushTo(this.#waiting, load);
  }

  /** Whether it need not wait until others of its caller leave memory. */
  #mayLoad(load: Waiting): boolean {
    const { share, task } = load;
    const isOnly = !this.#loadingOf.has(share) && !this.#tasks.hasAny(share);
    return isOnly || this.#hasMemory(load) || this.#isLoaded(task) || this.#overdue.has(load);
  }

  #hasMemory({ share, needed }: Load): boolean {
    return this.#tasks.hasRoom(share, needed, this.#loadingOf.get(share) ?? 0);
  }

  /** Whether a call has loaded it meanwhile. */
  #isLoaded({ owner, taskId }: TaskRef): boolean {
    return this.#tasks.peek(owner, taskId) !== undefined;
  }

  /** The first load of the caller whose turn it is, of those whose caller has room. */
  #findNext(): Waiting | undefined {
    for (const [first] of this.#waiting.values()) {
      if (first === undefined || !this.#hasRoom(first)) continue;
      const fits =
        this.#loading === 0 || (!first.alone && this.#loadingBytes + first.bytes <= maxLoadingBytes);
      return fits && !this.#isAlone ? first : undefined; // it is next when the others have been loaded
    }
    return undefined;
  }

  #hasRoom({ share, bytes }: Waiting): boolean {
    const { maxRecoveryBytes, maxShare } = this.#context.limits;
    const own = this.#bytesOf.get(share) ?? 0;
    const others = this.#bytes - own;
    if (own === 0) return this.#bytes === 0 || this.#bytes + bytes <= maxRecoveryBytes;
    return own + bytes <= (maxRecoveryBytes - others) * maxShare;
  }

  #admitOne(load: Waiting): void {
    const isBounded = this.#hasMemory(load);
    shiftFrom(this.#waiting, load);
    this.#untold.delete(load);
    this.#overdue.delete(load);
    this.#count(load.share, load.bytes);
    this.#loading++;
    this.#loadingBytes += load.bytes;
    addTo(this.#loadingOf, load.share, load.needed);
    this.#isAlone = load.alone;
    load.admit({ isBounded });
  }

  #warn(message: string, taskId: string | undefined, error: unknown): void {
    this.#context.log({ level: "warn", message, ...(taskId === undefined ? {} : { taskId }), error });
  }
}

/** @param change by which a caller's number changes; 0 is not kept */
function addTo(numbers: Map<string, number>, share: string, change: number): void {
  const number = (numbers.get(share) ?? 0) + change;
  if (number === 0) numbers.delete(share);
  else numbers.set(share, number);
}

function pushTo(loads: Map<string, Waiting[]>, load: Waiting): void {
  const others = loads.get(load.share);
  if (others === undefined) loads.set(load.share, [load]);
  else others.push(load);
}

function removeFrom(loads: Map<string, Waiting[]>, load: Waiting): void {
  const others = (loads.get(load.share) ?? []).filter((other) => other !== load);
  if (others.length === 0) loads.delete(load.share);
  else loads.set(load.share, others);
}

/** Removes the first load of its caller, whose next turn comes behind the other callers'. */
function shiftFrom(loads: Map<string, Waiting[]>, { share }: Waiting): void {
  const others = loads.get(share) ?? [];
  others.shift();
  loads.delete(share);
  if (others.length > 0) loads.set(share, others);
}
