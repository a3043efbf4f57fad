import { TaskState } from "@a2a-connect/proto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { compareText, type OrderFilter, TaskOrder } from "./memory-order.ts";

const { WORKING, COMPLETED, FAILED } = TaskState;

class Task {
  static reads = 0;
  readonly taskId: string;
  readonly #index: { contextId: string; state: TaskState; statusTimestamp: number; wakeAt: undefined };

  constructor(taskId: string, statusTimestamp: number, state: TaskState = WORKING) {
    this.taskId = taskId;
    this.#index = { contextId: "", state, statusTimestamp, wakeAt: undefined };
  }

  get index() {
    Task.reads += 1;
    return this.#index;
  }
}

it("reads a page and counts all of a hundred thousand tasks without looking at more than a few stretches", () => {
  const order = new TaskOrder<Task>(({ index }) => index.statusTimestamp);
  for (let at = 0; at < 100_000; at += 1)
    order.add(new Task(`${at}`, (at * 7_919) % 100_003, at === 5 ? FAILED : WORKING));
  const middle = { statusTimestamp: 50_000, taskId: "" };
  const filters: readonly OrderFilter[] = [
    { state: undefined, since: undefined },
    { state: undefined, since: 20_000 },
    { state: FAILED, since: undefined },
    { state: WORKING, since: 20_000 },
  ];
  for (const filter of filters) {
    for (const after of [undefined, middle]) {
      Task.reads = 0;
      const page: Task[] = [];
      for (const task of order.newestFirst(after, filter)) {
        page.push(task);
        if (page.length === 50) break;
      }
      expect(page.length).toBe(
        filter.state === FAILED ? (after === undefined || 5 * 7_919 < 50_000 ? 1 : 0) : 50,
      );
      expect(order.count(filter)).toBeGreaterThan(0);
      expect(Task.reads).toBeLessThan(5_000);
    }
  }
});

it("reads a hundred thousand tasks oldest first, page by page, with a few comparisons for each page", () => {
  const order = new TaskOrder<Task>(({ index }) => index.statusTimestamp);
  for (let at = 0; at < 100_000; at += 1) order.add(new Task(`${at}`, (at * 7_919) % 100_003));
  Task.reads = 0;
  for (let time = 0; time < 100_003; time += 500) {
    for (const { index } of order.oldestFirst({ time, taskId: "" })) {
      if (index.statusTimestamp >= time + 500) break;
    }
  }
  expect(Task.reads).toBeLessThan(2 * 100_000);
});

it("adds and removes one of a hundred thousand tasks with a few comparisons", () => {
  const order = new TaskOrder<Task>(({ index }) => index.statusTimestamp);
  const tasks = Array.from({ length: 100_000 }, (_, at) => new Task(`${at}`, (at * 7_919) % 100_003));
  for (const task of tasks) order.add(task);
  Task.reads = 0;
  for (const task of tasks.slice(0, 1_000)) {
    order.remove(task);
    order.add(task);
  }
  expect(Task.reads).toBeLessThan(1_000 * 100);
});

it("gives what a sorted list would give, whatever was added and removed before", () => {
  const ids = fc.constantFrom("a", "b", "\u{1f642}", "\uffff");
  const steps = fc.array(
    fc.record({
      id: fc.tuple(ids, fc.nat(600)).map(([name, at]) => `${name}${at}`),
      at: fc.nat(40),
      state: fc.constantFrom(WORKING, COMPLETED),
      removes: fc.boolean(),
    }),
    { minLength: 1, maxLength: 3_000, size: "max" },
  );
  const query = fc.record({
    state: fc.constantFrom(undefined, WORKING, COMPLETED, FAILED),
    since: fc.option(fc.nat(41), { nil: undefined }),
    after: fc.option(fc.record({ statusTimestamp: fc.nat(41), taskId: ids }), { nil: undefined }),
  });
  fc.assert(
    fc.property(steps, query, (all, { after, ...filter }) => {
      const order = new TaskOrder<Task>(({ index }) => index.statusTimestamp);
      const tasks = new Map<string, Task>();
      for (const { id, at, state, removes } of all) {
        const known = tasks.get(id);
        if (known !== undefined) order.remove(known);
        tasks.delete(id);
        if (removes && known !== undefined) continue;
        const task = new Task(id, at, state);
        tasks.set(id, task);
        order.add(task);
      }
      const matches = [...tasks.values()]
        .filter(({ index }) => filter.state === undefined || index.state === filter.state)
        .filter(({ index }) => filter.since === undefined || index.statusTimestamp >= filter.since)
        .sort((one, other) => compareNewestFirst(toPlace(one), toPlace(other)));
      const rest = matches.filter(
        (task) => after === undefined || compareNewestFirst(toPlace(task), after) > 0,
      );
      expect([...order.newestFirst(after, filter)].map(({ taskId }) => taskId)).toEqual(
        rest.map(({ taskId }) => taskId),
      );
      expect(order.count(filter)).toBe(matches.length);
      const place = { taskId: after?.taskId ?? "", statusTimestamp: after?.statusTimestamp ?? 0 };
      const newer = [...tasks.values()]
        .filter((task) => compareNewestFirst(toPlace(task), place) <= 0)
        .sort((one, other) => compareNewestFirst(toPlace(other), toPlace(one)));
      const { taskId, statusTimestamp: time } = place;
      expect([...order.oldestFirst({ time, taskId })]).toEqual(newer);
      expect(order.isEmpty).toBe(tasks.size === 0);
    }),
    { numRuns: 30 },
  );
});

interface Place {
  readonly statusTimestamp: number;
  readonly taskId: string;
}

function toPlace({ taskId, index: { statusTimestamp } }: Task): Place {
  return { taskId, statusTimestamp };
}

function compareNewestFirst(one: Place, other: Place): number {
  return other.statusTimestamp - one.statusTimestamp || compareText(other.taskId, one.taskId);
}
