import fc from "fast-check";
import { expect, it } from "vitest";
import { isBefore, type KnownTimer, KnownTimers } from "./known-timers.ts";

const timer = (caller: string, taskId: string, wakeAt: number): KnownTimer => ({
  owner: { tenant: "", principal: caller },
  taskId,
  wakeAt,
  caller,
});

it("keeps those of a caller that are due first, and takes each when it is due", () => {
  const timers = new KnownTimers(100, 2);
  const given = [30, 10, 20].map((at) => timer("alice", `task ${at}`, at));
  expect(given.map((one) => timers.add(one))).toEqual([undefined, undefined, given[0]]);
  expect(timers.add(timer("bob", "task 40", 40))).toBeUndefined();
  expect(timers.takeDue(9)).toEqual([]);
  expect(timers.takeDue(15)).toEqual([given[1]]);
  expect(timers.takeDue(100).map(({ taskId }) => taskId)).toEqual(["task 20", "task 40"]);
  expect(timers.takeDue(100)).toEqual([]);
});

it("keeps those that are due first of all callers, when these have more than it takes", () => {
  const timers = new KnownTimers(2, 2);
  const [first, second, third] = [timer("alice", "a", 1), timer("bob", "b", 3), timer("carol", "c", 2)];
  expect([first, second, third].map((one) => timers.add(one))).toEqual([undefined, undefined, second]);
  expect(timers.add(second)).toBe(second);
  expect(timers.takeDue(3)).toEqual([first, third]);
});

it("loses no timer: each is taken when it is due, or was given back, or another one of its task has replaced it", () => {
  const steps = fc.array(
    fc.record({
      taskId: fc.nat(30).map(String),
      caller: fc.constantFrom("alice", "alice", "bob", "carol"),
      wakeAt: fc.nat(100),
      does: fc.constantFrom("add", "add", "add", "remove", "take"),
    }),
    { maxLength: 200 },
  );
  fc.assert(
    fc.property(steps, (all) => {
      const timers = new KnownTimers(12, 5);
      const kept = new Map<string, KnownTimer>();
      for (const { taskId, caller, wakeAt, does } of all) {
        if (does === "add") {
          const added = timer(caller, taskId, wakeAt);
          kept.set(taskId, added);
          const surplus = timers.add(added);
          if (surplus !== undefined) {
            expect(kept.get(surplus.taskId)).toEqual(surplus);
            kept.delete(surplus.taskId);
          }
        } else if (does === "remove") {
          timers.remove(taskId);
          kept.delete(taskId);
        } else {
          const due = [...kept.values()].filter((one) => one.wakeAt <= wakeAt);
          for (const one of due) kept.delete(one.taskId);
          expect(timers.takeDue(wakeAt)).toEqual(due.sort((one, other) => (isBefore(one, other) ? -1 : 1)));
        }
        expect(kept.size).toBeLessThanOrEqual(12);
        for (const name of ["alice", "bob"]) {
          expect([...kept.values()].filter((one) => one.caller === name).length).toBeLessThanOrEqual(5);
        }
      }
    }),
  );
});
