import { ReadTurns } from "@a2a-connect/core/internal";
import type { DueTimer, TaskRef } from "../store/task-store.ts";
import type { EngineContext } from "./engine-context.ts";
import { isBefore, KnownTimers } from "./known-timers.ts";

/** Pages that are read in a turn of the event loop: together they take some milliseconds. */
const pagesInATurn = 4;

/** Tasks that are woken at a time, half of them for one caller. */
const maxAtATime = 200;

/** How many timers are handled at a time. */
interface Sizes {
  /** Places in memory, for tasks that are woken or are to be: the timers of other tasks stay in the store. */
  readonly places: number;
  /** Timers that are read from the store at once. */
  readonly page: number;
  /** Timers that are kept in memory before they are due, and those of one caller. */
  readonly known: number;
  readonly knownOfOne: number;
}

const defaultSizes: Sizes = { places: 50_000, page: 500, known: 20_000, knownOfOne: 64 };

/** A caller may have so many places as this part of those that are free: some are always left for others. */
const partOfFree = 1 / 8;

const retryMs = 1_000;

/** How often to read the clock: when it is set forward, no timer of the process notices. */
const lookMs = 1_000;

/** Wakes a task; `onPutOff` is called when it waits for others, for any time. */
type Wake = (task: TaskRef, onPutOff: () => void) => Promise<void>;

/** A task that is woken. */
interface Begun {
  readonly wakeAt: number;
  /** Its next timer, where that is due before it has been woken. */
  nextAt: number | undefined;
}

interface TimersContext extends Pick<EngineContext, "store" | "clock" | "log"> {
  /** Who has created a task. */
  readonly callerOf: (task: TaskRef) => string;
}

/**
 * Wakes tasks whose timer is due. The timers are rows of the store, so they fire after a restart, too. Memory has only
 * one alarm, for the earliest of them, and places for a part of those that are due.
 *
 * Millions of one caller may be due at the same moment. What is due is read once, and a caller's timers for which it has no place
 * are passed over; they are read, from the first of them on, when half of its places are free again. A caller that has few timers
 * does not wait until all have been read: its next ones are known. Callers that have places take turns.
 */
export class WakeTimers {
  readonly #context: TimersContext;
  readonly #wake: Wake;
  readonly #sizes: Sizes;
  readonly #turns = new ReadTurns(maxAtATime);
  /** The tasks that are woken, or wait for their turn, by id. */
  readonly #begun = new Map<string, Begun>();
  /** How many of them each caller has. */
  readonly #begunOf = new Map<string, number>();
  /** Whether all places were taken, and fewer than half are free since then: no timer begins meanwhile. */
  #isFull = false;
  /** Up to here the timers of the store have begun, or were passed over. */
  #reached: DueTimer | undefined;
  /** Where to read on for a caller: just before the first of its timers that was passed over. Whose turn is next comes first. */
  readonly #passedOver = new Map<string, DueTimer>();
  /** The next timers of each caller, and those that were due when they were committed: the store may have been read beyond them. */
  readonly #known: KnownTimers;
  /** When those tasks were due that have been woken since the store was asked: its answer may still have them. */
  readonly #rung = new Map<string, number>();
  #isReading = false;
  /** Whether it rang meanwhile. */
  #rangAgain = false;
  /** The callers of which a task could not be woken, until all is tried again. */
  readonly #failed = new Set<string>();
  #isRetrying = false;
  #alarmAt = Number.POSITIVE_INFINITY;
  #cancelAlarm: () => void = () => {};
  #cancelRetry: () => void = () => {};
  #cancelLook: () => void = () => {};
  #closed = false;

  constructor(context: TimersContext, wake: Wake, sizes: Sizes = defaultSizes) {
    this.#context = context;
    this.#wake = wake;
    this.#sizes = sizes;
    this.#known = new KnownTimers(sizes.known, sizes.knownOfOne);
  }

  /** A commit says when the task is to be woken; undefined: never. */
  note({ owner, taskId }: TaskRef, wakeAt: number | undefined): void {
    if (this.#closed) return;
    if (wakeAt === undefined) {
      this.#known.remove(taskId);
      return;
    }
    const caller = this.#context.callerOf({ owner, taskId });
    const surplus = this.#known.add({ owner, taskId, wakeAt, caller });
    if (surplus !== undefined && surplus.wakeAt <= this.#now()) this.#passOver(surplus, surplus.caller);
    this.#ringAt(wakeAt);
  }

  /** Sets the alarm for the timers in the store, and begins to read the clock. */
  async start(): Promise<void> {
    await this.#setAlarm();
    this.#lookAgain();
  }

  close(): void {
    this.#closed = true;
    this.#cancelAlarm();
    this.#cancelRetry();
    this.#cancelLook();
  }

  /** The time. Where the clock was set back, the timers that are to come are read again. */
  #now(): number {
    const now = this.#context.clock.now();
    if (this.#reached !== undefined && this.#reached.wakeAt > now) {
      this.#reached = { ...this.#reached, wakeAt: now, taskId: "" };
    }
    return now;
  }

  /** Sets the alarm for the first timer of the store that has not been read. */
  async #setAlarm(): Promise<void> {
    const [first] = await this.#context.store.due(Number.MAX_SAFE_INTEGER, 1, this.#reached);
    if (first !== undefined) this.#ringAt(first.wakeAt);
  }

  /** Sets the alarm, unless it rings before. */
  #ringAt(at: number): void {
    if (this.#closed || at >= this.#alarmAt) return;
    this.#cancelAlarm();
    this.#alarmAt = at;
    const { clock } = this.#context;
    this.#cancelAlarm = clock.schedule(Math.max(0, at - clock.now()), () => void this.#ring());
  }

  #lookAgain(): void {
    const look = () => {
      if (this.#context.clock.now() >= this.#alarmAt) {
        this.#cancelAlarm();
        void this.#ring();
      }
      this.#lookAgain();
    };
    if (!this.#closed) {
      this.#cancelLook = this.#context.clock.schedule(lookMs, look, { background: true });
    }
  }

  #tryLater(error: unknown): void {
    if (this.#isRetrying || this.#closed) return;
    this.#isRetrying = true;
    const { clock, log } = this.#context;
    log({ level: "error", message: "due timers could not be handled; trying again", error });
    this.#cancelRetry = clock.schedule(retryMs, () => {
      this.#isRetrying = false;
      this.#failed.clear();
      void this.#ring();
    });
  }

  /** Reads what is due, and what was passed over of the callers that have places again. */
  async #ring(): Promise<void> {
    this.#alarmAt = Number.POSITIVE_INFINITY;
    this.#rangAgain = true;
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#rangAgain && !this.#closed) {
        this.#rangAgain = false;
        do await this.#readDue();
        while (await this.#readPassedOver());
        if (!this.#isFull) await this.#setAlarm();
      }
    } catch (error) {
      this.#tryLater(error);
    } finally {
      this.#isReading = false;
    }
  }

  /** Reads on through what is due, and begins what has places. */
  async #readDue(): Promise<void> {
    const { store, clock } = this.#context;
    const { page } = this.#sizes;
    for (let pages = 1; !this.#closed && !this.#isFull; pages += 1) {
      this.#rung.clear();
      const due = await store.due(this.#now(), page, this.#reached);
      for (const timer of this.#known.takeDue(this.#now())) this.#take(timer); // not while the store cannot be read
      for (const timer of due) {
        if (this.#isFull) return;
        if (!this.#hasRung(timer)) this.#take(timer);
        this.#reached = timer;
      }
      if (due.length < page) return;
      if (pages % pagesInATurn === 0) await clock.nextTurn();
    }
  }

  /** Reads one page for the next caller that has places again. @returns whether there is one */
  async #readPassedOver(): Promise<boolean> {
    const { store, clock } = this.#context;
    const { page } = this.#sizes;
    const [caller, place] = this.#nextPassedOver() ?? [];
    if (caller === undefined || this.#closed) return false;
    this.#rung.clear();
    const due = await store.due(this.#now(), page, place);
    // What is passed over below sets the next place. A late timer may have set an earlier one meanwhile.
    if (this.#passedOver.get(caller) === place) this.#passedOver.delete(caller);
    for (const timer of due) if (!this.#hasRung(timer)) this.#take(timer);
    const last = due.length < page ? undefined : due.at(-1);
    if (last !== undefined && !this.#passedOver.has(caller)) this.#passedOver.set(caller, last);
    await clock.nextTurn();
    return true;
  }

  #nextPassedOver(): readonly [string, DueTimer] | undefined {
    for (const next of this.#passedOver) if (this.#mayReadOn(next[0])) return next;
    return undefined;
  }

  /** Whether half of the places that the caller may have are free, and none of its tasks has failed since the last try. */
  #mayReadOn(caller: string): boolean {
    return this.#hasRoom(caller, 2) && !this.#failed.has(caller);
  }

  /** Whether the caller may have one place more, and so many times as many as it has. */
  #hasRoom(caller: string, times = 1): boolean {
    const own = this.#begunOf.get(caller) ?? 0;
    return !this.#isFull && own * times < (this.#sizes.places - this.#begun.size) * partOfFree;
  }

  /** Whether a timer that the store knows has rung already. */
  #hasRung({ taskId, wakeAt }: DueTimer): boolean {
    return this.#rung.get(taskId) === wakeAt;
  }

  #take(timer: DueTimer): void {
    const { taskId, wakeAt } = timer;
    const begun = this.#begun.get(taskId);
    if (begun !== undefined) {
      if (wakeAt !== begun.wakeAt) begun.nextAt = wakeAt;
      return;
    }
    const caller = this.#context.callerOf(timer);
    if (this.#hasRoom(caller)) this.#begin(timer, caller);
    else this.#passOver(timer, caller);
  }

  #passOver(timer: DueTimer, caller: string): void {
    const place = this.#passedOver.get(caller);
    if (place === undefined || !isBefore(place, timer)) this.#passedOver.set(caller, placeBefore(timer));
  }

  #begin(timer: DueTimer, caller: string): void {
    const { taskId, wakeAt } = timer;
    const begun: Begun = { wakeAt, nextAt: undefined };
    this.#known.remove(taskId);
    this.#begun.set(taskId, begun);
    this.#begunOf.set(caller, (this.#begunOf.get(caller) ?? 0) + 1);
    if (this.#begun.size === this.#sizes.places) this.#isFull = true;
    let woken = Promise.resolve();
    const begin = () => {
      const putOff = Promise.withResolvers<void>();
      woken = this.#wake(timer, putOff.resolve);
      // What is put off needs no turn: two callers whose tasks wait for memory could have the turns of all.
      return Promise.race([woken, putOff.promise.then(() => this.#context.clock.nextTurn())]);
    };
    void this.#turns
      .run({ share: caller }, begin)
      .then(() => woken)
      .then(() => {
        if (this.#isReading) this.#rung.set(taskId, wakeAt);
      })
      .catch((error: unknown) => {
        this.#passOver(timer, caller);
        this.#failed.add(caller);
        this.#tryLater(error);
      })
      .then(() => {
        this.#begun.delete(taskId);
        if (begun.nextAt !== undefined) this.note(timer, begun.nextAt);
        this.#ended(caller);
      });
  }

  /** A timer of the caller has rung: reads on when there are places again. */
  #ended(caller: string): void {
    const left = (this.#begunOf.get(caller) ?? 0) - 1;
    if (left > 0) this.#begunOf.set(caller, left);
    else this.#begunOf.delete(caller);
    const wasFull = this.#isFull;
    if (this.#begun.size <= this.#sizes.places / 2) this.#isFull = false;
    if (this.#closed) return;
    if (this.#begun.size === 0 && this.#passedOver.size === 0) {
      this.#reached = undefined; // a task may have been woken, and have a timer that is due as before
      this.#setAlarm().catch((error: unknown) => this.#tryLater(error));
    } else if ((wasFull && !this.#isFull) || (this.#passedOver.has(caller) && this.#mayReadOn(caller))) {
      this.#ringAt(this.#context.clock.now());
    }
  }
}

/** A place in the order of timers from which on this one is the first, or nearly so. */
function placeBefore(timer: DueTimer): DueTimer {
  return { ...timer, taskId: timer.taskId.slice(0, -1) };
}
