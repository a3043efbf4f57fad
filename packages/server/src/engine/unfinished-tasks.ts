import type { TaskRef, UnfinishedQuery } from "../store/task-store.ts";
import type { EngineContext } from "./engine-context.ts";

/** Unfinished tasks that are taken up at a time: before the server answers calls, and beside them. */
const pageSize = { beforeStart: 100, besideCalls: 8 };

/** While so many tasks wait for room, of all principals, one of each is enough. */
const manyWaiting = 1_000;

/** How long after a failed read the next names are asked for again. */
const retryMs = 1_000;

/** Takes up an unfinished task; `onPutOff` is called when that waits for others of its caller. Must not reject. */
export type TakeUp = (task: TaskRef, onPutOff: () => void) => Promise<void>;

/** The unfinished tasks of one principal. */
interface Course {
  readonly principal: string;
  /** Which of them have not been taken up: `first`, whose name was read to find the principal, and those after a task. */
  readonly rest: { readonly hasTimer: boolean; readonly first?: TaskRef; readonly after: TaskRef }[];
  /**
   * How many were put off, and wait. While there is a page of them, no further names are read: the principal may have any number of
   * tasks. It is more than one where there can be, because a large task has room later than smaller ones behind it.
   */
  waiting: number;
}

interface NamesContext extends Pick<EngineContext, "store" | "clock" | "log"> {
  /** Whether an earlier process has left a task behind. */
  readonly isLeftBehind: (task: TaskRef) => boolean;
}

/**
 * Reads the names of unfinished tasks, and has each task taken up. Each principal has a page of its tasks taken up, of all its
 * tenants, then those that have more have their next page, in turns.
 *
 * Tasks without a timer are first: they were at work. Those with a timer may be many that only sleep, of one caller.
 *
 * A task that has been taken up and sleeps since is named twice. That does no harm: the second time its executor is there, or has been
 * dropped and waits again. A task that loses its timer meanwhile may be named not at all: what removed the timer has taken it up.
 */
export class UnfinishedTasks {
  readonly #context: NamesContext;
  readonly #takeUp: TakeUp;
  readonly #courses = new Map<string, Course>();
  /** Those that may have their next page; whose turn is next comes first. */
  readonly #turns = new Set<Course>();
  /** How many tasks wait, of all. */
  #waiting = 0;
  #isReading = false;
  #inBackground = false;
  #closed = false;

  constructor(context: NamesContext, takeUp: TakeUp) {
    this.#context = context;
    this.#takeUp = takeUp;
  }

  /**
   * Resolves when each task has been taken up, or waits behind others of its caller; the others follow when those have been taken up.
   *
   * @throws ConnectError `Unavailable` when the store cannot be reached, and the server does not answer calls yet
   */
  async takeUpAll(): Promise<void> {
    this.#isReading = true;
    for (const hasTimer of [false, true]) {
      await this.#beginAll(hasTimer);
      for (const course of this.#turns) await this.#takePage(course);
    }
    this.#isReading = false;
    this.#inBackground = true;
  }

  /** Whether no task of an earlier process is left to be taken up. */
  get isDone(): boolean {
    return this.#inBackground && !this.#isReading && this.#courses.size === 0;
  }

  /** The server answers calls from now on. */
  goToBackground(): void {
    this.#inBackground = true;
  }

  close(): void {
    this.#closed = true;
  }

  async #beginAll(hasTimer: boolean): Promise<void> {
    let after: UnfinishedQuery["after"];
    for (;;) {
      const [first] = await this.#names({ hasTimer, after, limit: 1 });
      if (first === undefined) return;
      const { principal } = first.owner;
      const course = this.#courses.get(principal) ?? { principal, rest: [], waiting: 0 };
      // From its own task on: a principal that sorts before it may get tasks meanwhile.
      course.rest.push({ hasTimer, first, after: first });
      this.#courses.set(principal, course);
      this.#queue(course);
      if (this.#turns.has(course)) await this.#takePage(course);
      after = { principal };
    }
  }

  async #takePage(course: Course): Promise<void> {
    const { principal, rest, waiting } = course;
    const [query] = rest;
    if (query === undefined) return;
    const { hasTimer, first, after } = query;
    const known = first === undefined ? waiting : waiting + 1;
    const limit = Math.max(1, (this.#inBackground ? this.#mostOfOne : pageSize.beforeStart) - known);
    const names = await this.#names({ hasTimer, after, limit });
    const page = names.filter(({ owner }) => owner.principal === principal);
    const last = page.at(-1);
    if (last === undefined || page.length < limit) rest.shift();
    else rest[0] = { hasTimer, after: last };
    const tasks = first === undefined ? page : [first, ...page];
    await Promise.all(tasks.map((task) => this.#take(task, course)));
    this.#queue(course);
  }

  /** Resolves when the task was taken up, or put off. */
  async #take(task: TaskRef, course: Course): Promise<void> {
    // Callers without credentials are one principal: tasks of this process that wait for one of them would keep those of the others waiting.
    if (!this.#context.isLeftBehind(task)) return;
    const putOff = Promise.withResolvers<void>();
    let isPutOff = false;
    const onPutOff = () => {
      if (!isPutOff) this.#count(course, 1);
      isPutOff = true;
      putOff.resolve();
    };
    const taken = this.#takeUp(task, onPutOff).then(() => {
      if (!isPutOff) return;
      this.#count(course, -1);
      this.#queue(course);
      if (!this.#isReading) void this.#readOn();
    });
    await Promise.race([taken, putOff.promise]);
  }

  #count(course: Course, change: number): void {
    course.waiting += change;
    this.#waiting += change;
  }

  async #readOn(): Promise<void> {
    this.#isReading = true;
    for (const course of this.#turns) await this.#takePage(course);
    this.#isReading = false;
  }

  /** The next turn of a principal comes behind the others', if it may have one. */
  #queue(course: Course): void {
    const { principal, rest, waiting } = course;
    this.#turns.delete(course);
    if (rest.length === 0 && waiting === 0) this.#courses.delete(principal);
    if (rest.length > 0 && waiting < this.#mostOfOne) this.#turns.add(course);
  }

  /** How many tasks of one principal may wait. */
  get #mostOfOne(): number {
    return this.#waiting < manyWaiting ? pageSize.besideCalls : 1;
  }

  /** The next names. Beside calls it tries again while the store fails. */
  async #names(query: UnfinishedQuery): Promise<readonly TaskRef[]> {
    const { store, clock, log } = this.#context;
    while (!this.#closed) {
      try {
        if (this.#inBackground) await clock.nextTurn();
        return await store.unfinished(query);
      } catch (error) {
        if (!this.#inBackground) throw error;
        log({ level: "warn", message: "unfinished tasks could not be read; trying again", error });
        const { promise, resolve } = Promise.withResolvers<void>();
        clock.schedule(retryMs, resolve);
        await promise;
      }
    }
    return [];
  }
}
