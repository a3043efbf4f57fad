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
import { taskBytes } from "./memory-weight.ts";
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

/** Bytes of tasks that are being loaded at a time: more would all be ready at the end only. */
const maxLoadingBytes = 4 * 1024 * 1024;

/** What a task needs at most that is loaded beside any others of its caller after some time. */
const smallBytes = taskBytes + 64 * 1024;

/** Bytes of small tasks that are being loaded beside a large one at a time: what that consists of may take seconds to read. */
const maxBesideBytes = 512 * 1024;

/** How often those that were put off are looked at again: memory may have room although no task has left it. */
const lookMs = 1_000;

/** A task could not be read, although the store could be reached. It stays as it is until the next try. */
export class LoadFailure extends Error {}

/** A load that waits for its turn, or for room. */
interface Waiting {
  readonly task: TaskRef;
  /** Whose task it is. */
  readonly share: string;
  /** What it takes in memory, as far as that is known: values take up to 30 times as much as is stored of them. */
  readonly needed: number;
  /** Whether no other task may be loaded meanwhile. */
  readonly alone: boolean;
  /** @param place undefined: the server stops */
  readonly admit: (place: Place | undefined) => void;
  /** Called when it waits until tasks leave memory, never after it was admitted. */
  readonly onPutOff: () => void;
  /** Such a load keeps its place among its caller's when it is put off again, also after a try, and is overdue after some time. */
  wasPutOff: boolean;
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
 * - They have the same share of `maxActiveBytes` as those that their caller sends, and callers take turns. Tasks beyond the share are
 *   put off until others of their caller have left memory, and keep no other caller's tasks waiting. What a task takes there is known
 *   when it has been read: one that turns out to have no room is put off, too. A caller's only task has room in any case, until callers
 *   have taken all.
 * - Those in memory may wait for one that was put off, so one of each caller is loaded in each `unloadAfterMs`: a small one, or any until
 *   its caller has twice its part; when callers have taken all, until they have twice `maxActiveBytes`.
 * - A few megabytes of them are read at a time, and a small one of each other caller beside a large one.
 * - Before it loads a task, the store counts the attempt, and resets the count when the load succeeds. A task with a
 *   failed attempt is loaded while no other is, so that a crash affects no other task. The third time it is FAILED with
 *   reason `unloadable`, without being read.
 */
export class Recovery {
  readonly #context: Pick<
    EngineContext,
    "store" | "clock" | "wakes" | "limits" | "log" | "randomId" | "onDeliveryDue"
  >;
  readonly #tasks: LiveTasks;
  readonly #unfinished: UnfinishedTasks;
  readonly #onFull: (share?: string) => void;
  #loading = 0;
  #loadingBytes = 0;
  /** How many of these are of small tasks. */
  #loadingSmallBytes = 0;
  /** What they take in memory, as far as that is known, by caller. */
  readonly #loadingOf = new Map<string, number>();
  /** Whether what is being loaded is alone. */
  #isAlone = false;
  /** By caller; whose turn is next comes first. */
  readonly #waiting = new Map<string, Waiting[]>();
  /** The loads that have no room in memory, by caller. */
  readonly #putOff = new Map<string, Waiting[]>();
  /** When one of them is loaded although it has none, by caller. */
  readonly #patientUntil = new Map<string, number>();
  /** Resolves when the server may begin although not all tasks have been taken up. */
  readonly #enough = Promise.withResolvers<void>();
  /** Failed loads before this process, of the tasks that it has not loaded yet although it tried: it counts as one attempt. */
  readonly #failedBefore = new Map<string, number>();
  #cancelLook: (() => void) | undefined;
  #looksSoon = false;
  /** What was loaded here, or could not be. */
  #tasksDone = 0;
  #bytesDone = 0;
  #closed = false;

  /**
   * @param takeUp loads an unfinished task by `acquire`, to which it gives `onPutOff`
   * @param onFull called when the tasks of a caller leave no room, or those of all: then their waiting executors should be dropped
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

  /** Whether every unfinished task of an earlier process has been taken up. */
  get isDone(): boolean {
    return this.#unfinished.isDone;
  }

  /** Whether a load waits for room that this caller's tasks may leave. */
  isFullFor(share: string | undefined): boolean {
    if (this.#putOff.size === 0) return false;
    return this.#tasks.isMemoryTaken || (share !== undefined && this.#putOff.has(share));
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
    const turn = this.#context.wakes.loads.turn(this.#tasks.callerOf(task)); // each of a hundred agents may have many
    if (turn !== undefined) await turn;
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
    const alone = failed > 0;
    let wasPutOff = false;
    const notePutOff = () => {
      wasPutOff = true;
      onPutOff();
    };
    for (let needed = weight.bytes + taskBytes; ; ) {
      const load = { task, share, needed, alone, onPutOff: notePutOff, wasPutOff };
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
    { task, share, needed }: Load,
    { isBounded }: Place,
    failed: number,
    stored: number,
  ): Promise<LiveTask | undefined> {
    let hasRoom = true;
    try {
      return await this.#load({ task, share }, failed, isBounded);
    } catch (error) {
      hasRoom = !(error instanceof NoRoom);
      throw error;
    } finally {
      this.#loading--;
      this.#loadingBytes -= needed;
      if (isSmall(needed)) this.#loadingSmallBytes -= needed;
      addTo(this.#loadingOf, share, -needed);
      if (hasRoom) this.#endPatience(share);
      this.#isAlone = false;
      this.#tasksDone += 1;
      this.#bytesDone += stored;
      if (this.#tasksDone >= beforeStart.tasks || this.#bytesDone >= beforeStart.bytes) {
        this.#enough.resolve();
      }
      this.#takeBack();
    }
  }

  /** Loads that wait for room end without one. */
  close(): void {
    this.#closed = true;
    this.#unfinished.close();
    this.#cancelLook?.();
    const loads = [...this.#waiting.values(), ...this.#putOff.values()].flat();
    this.#waiting.clear();
    this.#putOff.clear();
    this.#patientUntil.clear();
    for (const { admit } of loads) admit(undefined);
    this.#enough.resolve();
  }

  async #load(
    { task, share }: Pick<Load, "task" | "share">,
    failed: number,
    isBounded: boolean,
  ): Promise<LiveTask | undefined> {
    const { owner, taskId } = task;
    const { store } = this.#context;
    this.#failedBefore.set(taskId, failed);
    const note = (loads: number) =>
      store
        .noteLoads(owner, taskId, loads, share)
        .catch((error: unknown) =>
          this.#warn("the result of loading a task could not be stored", taskId, error),
        );
    try {
      await store.noteLoads(owner, taskId, failed + 1, share); // it may be stored although the store does not answer
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
      share,
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
    pushTo(this.#waiting, { ...load, admit: resolve });
    this.#admit();
    return promise;
  }

  #admit(): void {
    this.#putOffAll();
    for (let next = this.#findNext(); next !== undefined; next = this.#findNext()) {
      this.#admitOne(next);
      this.#putOffAll();
    }
    if (this.#putOff.size === 0) this.#tasks.watchRoom(undefined);
    this.#lookLater();
  }

  /** Puts off what has no room. What is being loaded is counted when it was read. */
  #putOffAll(): void {
    for (const [first] of [...this.#waiting.values()]) {
      for (let next = first; next !== undefined; [next] = this.#waiting.get(next.share) ?? []) {
        if (this.#mayLoad(next)) break;
        removeFrom(this.#waiting, next);
        this.#putOffOne(next);
      }
    }
  }

  #putOffOne(load: Waiting): void {
    const { share } = load;
    const others = this.#putOff.get(share);
    if (others === undefined) this.#putOff.set(share, [load]);
    else if (load.wasPutOff) others.unshift(load);
    else others.push(load);
    load.wasPutOff = true;
    load.onPutOff();
    this.#enough.resolve();
    if (!this.#patientUntil.has(share)) this.#bePatient(share);
    if (others !== undefined) return;
    this.#tasks.watchRoom(() => this.#takeBackSoon());
    this.#onFull(this.#tasks.isMemoryTaken ? undefined : share);
  }

  /** Once in a turn of the event loop: thousands of tasks may leave memory together, and each look goes through all that was put off. */
  #takeBackSoon(): void {
    if (this.#looksSoon) return;
    this.#looksSoon = true;
    void this.#context.clock.nextTurn().then(() => {
      this.#looksSoon = false;
      this.#takeBack();
    });
  }

  /** A task has left memory, or was loaded: the first of each caller that has room now is next. */
  #takeBack(): void {
    for (const loads of [...this.#putOff.values()]) {
      const [first] = loads;
      if (first === undefined || this.#waiting.has(first.share)) continue;
      const isOverdue = this.#isOverdue(first.share);
      const next = isOverdue ? loads.find((load) => this.#mayLoad(load)) : first;
      if (next !== undefined && this.#mayLoad(next)) this.#retry(next);
    }
    this.#admit();
  }

  #lookLater(): void {
    if (this.#putOff.size === 0 || this.#closed || this.#cancelLook !== undefined) return;
    const look = () => {
      this.#cancelLook = undefined;
      const all = [...this.#putOff.values()].flat();
      for (const load of all.filter(({ task }) => this.#isLoaded(task))) this.#retry(load);
      this.#takeBack();
    };
    this.#cancelLook = this.#context.clock.schedule(lookMs, look, { background: true });
  }

  #bePatient(share: string): void {
    this.#patientUntil.set(share, this.#context.clock.ticks() + this.#context.limits.unloadAfterMs);
  }

  /** Unless others of the caller wait, or are tried. */
  #endPatience(share: string): void {
    const isDone = [this.#putOff, this.#waiting, this.#loadingOf].every((loads) => !loads.has(share));
    if (isDone) this.#patientUntil.delete(share);
  }

  #isOverdue(share: string): boolean {
    return this.#context.clock.ticks() >= (this.#patientUntil.get(share) ?? Number.POSITIVE_INFINITY);
  }

  #retry(load: Waiting): void {
    removeFrom(this.#putOff, load);
    pushTo(this.#waiting, load);
  }

  /** Whether it need not wait until tasks leave memory. */
  #mayLoad(load: Waiting): boolean {
    const { share, task } = load;
    if (this.#hasMemory(load) || this.#isLoaded(task)) return true;
    const isOnly = !this.#loadingOf.has(share) && !this.#tasks.hasAny(share);
    if (isOnly && !this.#tasks.isMemoryTaken) return true;
    return load.wasPutOff && this.#isOverdue(share) && this.#isBearable(load);
  }

  #hasMemory({ share, needed }: Load): boolean {
    return this.#tasks.hasRoom(share, needed, this.#loadingOf.get(share) ?? 0);
  }

  /** Whether it may be loaded without room when it has waited for long. */
  #isBearable({ share, needed }: Load): boolean {
    if (this.#tasks.isMemoryTaken && this.#tasks.isMemoryOverdrawn(this.#loadingBytes)) return false;
    return isSmall(needed) || !this.#tasks.isFarBeyondPart(share);
  }

  /** Whether a call has loaded it meanwhile. */
  #isLoaded({ owner, taskId }: TaskRef): boolean {
    return this.#tasks.peek(owner, taskId) !== undefined;
  }

  /** The first load of the caller whose turn it is, or a small one of another caller beside a large one. */
  #findNext(): Waiting | undefined {
    const [[first] = []] = this.#waiting.values();
    if (first === undefined || this.#isAlone) return undefined;
    const fits =
      this.#loading === 0 || (!first.alone && this.#loadingBytes + first.needed <= maxLoadingBytes);
    return fits ? first : this.#findBeside(); // it is next when the others have been loaded
  }

  /** Only while a large one is being loaded: if small ones went on, one after the other, it would never be the turn of a large one. */
  #findBeside(): Waiting | undefined {
    const isLargeLoading = this.#loadingBytes > this.#loadingSmallBytes;
    if (!isLargeLoading) return undefined;
    for (const [first] of this.#waiting.values()) {
      if (first === undefined || first.alone || this.#loadingOf.has(first.share)) continue;
      if (isSmall(first.needed) && this.#loadingSmallBytes + first.needed <= maxBesideBytes) return first;
    }
    return undefined;
  }

  #admitOne(load: Waiting): void {
    const { share, needed } = load;
    const isBounded = this.#hasMemory(load);
    removeFrom(this.#waiting, load);
    if (!isBounded && this.#isOverdue(share)) this.#bePatient(share);
    this.#loading++;
    this.#loadingBytes += needed;
    if (isSmall(needed)) this.#loadingSmallBytes += needed;
    addTo(this.#loadingOf, share, needed);
    this.#isAlone = load.alone;
    load.admit({ isBounded });
  }

  #warn(message: string, taskId: string | undefined, error: unknown): void {
    this.#context.log({ level: "warn", message, ...(taskId === undefined ? {} : { taskId }), error });
  }
}

function isSmall(needed: number): boolean {
  return needed <= smallBytes;
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

/** Removes a load. Its caller's next turn comes behind the other callers'. */
function removeFrom(loads: Map<string, Waiting[]>, load: Waiting): void {
  const others = loads.get(load.share) ?? [];
  others.splice(others.indexOf(load), 1);
  loads.delete(load.share);
  if (others.length > 0) loads.set(load.share, others);
}
