import { countFirst } from "@a2a-connect/core/internal";
import { TaskState } from "@a2a-connect/proto";
import type { MemoryTask } from "./memory-task.ts";
import type { ListCursor, TaskIndex } from "./task-store.ts";

/** Which tasks of an order; filters are combined with AND. */
export interface OrderFilter {
  readonly state: TaskState | undefined;
  /** Inclusive lower bound of the time, milliseconds. */
  readonly since: number | undefined;
}

/** What the order reads of a task. */
interface OrderedTask {
  readonly taskId: string;
  /** Undefined: its state is unspecified. */
  readonly index?: Pick<TaskIndex, "state">;
}

/** A place in the order. */
interface Place {
  readonly time: number;
  readonly taskId: string;
}

/** Neighbours in the order, oldest first. */
interface Stretch<Task> {
  readonly tasks: Task[];
  /** How many of them have which state. */
  readonly states: number[];
}

/** A stretch that grows beyond this is cut in two. */
const maxStretch = 512;

/**
 * Tasks by a time of theirs, then by id. It is kept while tasks come, go and change, so that a page costs as much as its
 * tasks, and a count as many steps as there are stretches of a few hundred tasks.
 */
export class TaskOrder<Task extends OrderedTask = MemoryTask> {
  readonly #timeOf: (task: Task) => number;
  readonly #stretches: Stretch<Task>[] = [];

  constructor(timeOf: (task: Task) => number) {
    this.#timeOf = timeOf;
  }

  get isEmpty(): boolean {
    return this.#stretches.length === 0;
  }

  add(task: Task): void {
    const place = this.#placeOf(task);
    const at = Math.min(this.#findStretch(place), this.#stretches.length - 1);
    const stretch = this.#stretches[at];
    if (stretch === undefined) {
      this.#stretches.push(createStretch([task]));
      return;
    }
    stretch.tasks.splice(this.#countBefore(stretch, place), 0, task);
    count(stretch, task, 1);
    if (stretch.tasks.length <= maxStretch) return;
    const half = maxStretch / 2;
    const [older, newer] = [stretch.tasks.slice(0, half), stretch.tasks.slice(half)];
    this.#stretches.splice(at, 1, createStretch(older), createStretch(newer));
  }

  /** Call it before the task's index changes: the task is found by what it was added with. */
  remove(task: Task): void {
    const place = this.#placeOf(task);
    const at = this.#findStretch(place);
    const stretch = this.#stretches[at];
    const index = stretch === undefined ? 0 : this.#countBefore(stretch, place);
    if (stretch === undefined || stretch.tasks[index] !== task) return;
    stretch.tasks.splice(index, 1);
    count(stretch, task, -1);
    if (stretch.tasks.length === 0) this.#stretches.splice(at, 1);
  }

  /** How many tasks the filter lets through. */
  count({ state, since }: OrderFilter): number {
    const oldest = since === undefined ? undefined : { time: since, taskId: "" };
    const begin = oldest === undefined ? 0 : this.#findStretch(oldest);
    let total = 0;
    for (const [at, stretch] of this.#stretches.slice(begin).entries()) {
      const { tasks, states } = stretch;
      if (at === 0 && oldest !== undefined) {
        const newer = tasks.slice(this.#countBefore(stretch, oldest));
        total += newer.filter((task) => hasState(task, state)).length;
      } else {
        total += state === undefined ? tasks.length : (states[state] ?? 0);
      }
    }
    return total;
  }

  /** The tasks that the filter lets through, newest first, from the one after `after` on. */
  *newestFirst(after: ListCursor | undefined, { state, since }: OrderFilter): Generator<Task> {
    const place = after && { time: after.statusTimestamp, taskId: after.taskId };
    const last = this.#stretches.length - 1;
    const begin = place === undefined ? last : Math.min(this.#findStretch(place), last);
    for (let at = begin; at >= 0; at -= 1) {
      const stretch = this.#stretches[at] ?? createStretch<Task>([]);
      const { tasks, states } = stretch;
      if (state !== undefined && (states[state] ?? 0) === 0 && !this.#isOlder(tasks[0], since)) continue;
      const end = at === begin && place !== undefined ? this.#countBefore(stretch, place) : tasks.length;
      for (let index = end - 1; index >= 0; index -= 1) {
        const task = tasks[index];
        if (task === undefined || this.#isOlder(task, since)) return;
        if (hasState(task, state)) yield task;
      }
    }
  }

  /** All tasks, oldest first, from the first one on that is not before `place`. */
  *oldestFirst(place: Place): Generator<Task> {
    const begin = this.#findStretch(place);
    for (let at = begin; at < this.#stretches.length; at += 1) {
      const stretch = this.#stretches[at] ?? createStretch<Task>([]);
      yield* at === begin ? stretch.tasks.slice(this.#countBefore(stretch, place)) : stretch.tasks;
    }
  }

  /** The first stretch whose newest task is not older than this place; their number when all are older. */
  #findStretch(place: Place): number {
    return countFirst(this.#stretches, ({ tasks }) => {
      const newest = tasks.at(-1);
      return newest !== undefined && this.#isBefore(newest, place);
    });
  }

  /** How many tasks of the stretch are older than this place. */
  #countBefore({ tasks }: Stretch<Task>, place: Place): number {
    return countFirst(tasks, (task) => this.#isBefore(task, place));
  }

  #isBefore(task: Task, place: Place): boolean {
    const { time, taskId } = this.#placeOf(task);
    return time === place.time ? compareText(taskId, place.taskId) < 0 : time < place.time;
  }

  #isOlder(task: Task | undefined, since: number | undefined): boolean {
    return task !== undefined && since !== undefined && this.#placeOf(task).time < since;
  }

  #placeOf(task: Task): Place {
    return { time: this.#timeOf(task), taskId: task.taskId };
  }
}

function createStretch<Task extends OrderedTask>(tasks: Task[]): Stretch<Task> {
  const stretch: Stretch<Task> = { tasks, states: [] };
  for (const task of tasks) count(stretch, task, 1);
  return stretch;
}

function count({ states }: Stretch<OrderedTask>, task: OrderedTask, change: number): void {
  const state = stateOf(task);
  states[state] = (states[state] ?? 0) + change;
}

function hasState(task: OrderedTask, state: TaskState | undefined): boolean {
  return state === undefined || stateOf(task) === state;
}

function stateOf({ index }: OrderedTask): TaskState {
  return index?.state ?? TaskState.UNSPECIFIED;
}

/**
 * Orders ids by code point, like their UTF-8 bytes: the order of every store. JavaScript's own `<` compares UTF-16
 * units and puts characters beyond U+FFFF before U+E000.
 *
 * @returns negative, zero or positive, as `Array.prototype.sort` expects
 */
export function compareText(one: string, other: string): number {
  const shared = Math.min(one.length, other.length);
  for (let at = 0; at < shared; at += 1) {
    const difference = rank(one.charCodeAt(at)) - rank(other.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

/** Moves the surrogates (U+D800 to U+DFFF) above all other UTF-16 units. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
