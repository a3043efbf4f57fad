import { TaskState } from "@a2a-connect/proto";
import { createFakeClock } from "@a2a-connect/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMemoryTaskStore } from "../store/memory-task-store.ts";
import type { LogTail, TaskRef } from "../store/task-store.ts";
import { WakeTimers } from "./wake-timers.ts";

interface Setting {
  /** Wakes a task; default: `end`, after which it has no timer any more. */
  readonly wake?: (taskId: string, end: () => Promise<void>, onPutOff: () => void) => Promise<void>;
  readonly callerOf?: (task: TaskRef) => string;
  readonly sizes?: ConstructorParameters<typeof WakeTimers>[2];
}

/** Wakes of this task never end. So nothing is read from the beginning again, as it is when no task is being woken. */
const forEver = "woken for ever";

/** Timers over a store in memory. */
function setUp({ wake = (_, end) => end(), callerOf = ({ owner }) => owner.principal, sizes }: Setting = {}) {
  const clock = createFakeClock();
  /** By how much the clock was set. */
  const set = { ms: 0 };
  const now = () => clock.now() + set.ms;
  const tails = new Map<string, LogTail>();
  const woken: string[] = [];
  /** How many timers the store has given, and in how many turns of the event loop it gives a page. */
  const read = { timers: 0, turns: 0 };
  const memory = createMemoryTaskStore();
  const store: typeof memory = {
    ...memory,
    async due(...query) {
      const page = await memory.due(...query);
      read.timers += page.length;
      for (let turn = 0; turn < read.turns; turn += 1) await clock.nextTurn();
      return page;
    },
  };
  const timers = new WakeTimers(
    { store, clock: { ...clock, now }, callerOf, log: () => {} },
    ({ owner: { principal }, taskId }, onPutOff) => {
      if (taskId === forEver) return new Promise(() => {});
      woken.push(taskId);
      return wake(taskId, () => commit(principal, taskId, undefined), onPutOff);
    },
    sizes,
  );

  async function commit(principal: string, taskId: string, wakeAt: number | undefined): Promise<void> {
    await put(principal, taskId, wakeAt);
    timers.note({ owner: { tenant: "", principal }, taskId }, wakeAt);
  }

  /** Stores when the task is to be woken; undefined: never. */
  async function put(principal: string, taskId: string, wakeAt: number | undefined): Promise<void> {
    const owner = { tenant: "", principal };
    const { sequence, generation } = tails.get(taskId) ?? { sequence: 0, generation: 0 };
    const tail = { sequence: sequence + 1, generation: generation + 1 };
    tails.set(taskId, tail);
    await memory.commit({
      owner,
      taskId,
      expectedSequence: sequence,
      fence: 1,
      entries: [{ ...tail, kind: sequence === 0 ? "task" : "status", payload: new Uint8Array() }],
      index: { contextId: "context", state: TaskState.WORKING, statusTimestamp: 1_000, wakeAt },
      snapshot: undefined,
      pushConfigs: [],
      keys: [],
    });
  }

  /** Tasks of a caller that are all to be woken at the same time. */
  async function commitMany(principal: string, count: number, wakeAt: number): Promise<void> {
    for (let at = 0; at < count; at += 1) await commit(principal, `${at}-${principal}`, wakeAt);
  }

  return { clock, set, now, store, timers, woken, read, put, commit, commitMany };
}

describe("timers of a task, while another task is being woken", () => {
  it("are due again before their task has been woken, and ring then", async () => {
    const gate = Promise.withResolvers<void>();
    const { now, clock, woken, commit } = setUp({
      async wake(taskId, end) {
        if (woken.length > 1) return end();
        await commit("bob", taskId, now() + 10);
        await gate.promise;
      },
    });
    const at = now() + 100;
    await commit("alice", forEver, at);
    await commit("bob", "bob's", at + 1);
    await clock.advance(200);
    gate.resolve();
    await clock.advance(1);
    expect(woken).toEqual(["bob's", "bob's"]);
  });

  it("are committed while the store reads them, and ring", async () => {
    const { now, clock, store, woken, commit } = setUp();
    const { due } = store;
    const gate = Promise.withResolvers<void>();
    let hasBob = false;
    store.due = async (...query) => {
      const found = await due(...query);
      if (found.length === 1 && !hasBob) await gate.promise;
      return found;
    };
    const at = now() + 100;
    await commit("alice", forEver, at);
    await clock.advance(200);
    hasBob = true;
    await commit("bob", "bob's", at - 1);
    gate.resolve();
    await clock.advance(1);
    expect(woken).toEqual(["bob's"]);
  });

  it("are committed for a time up to which the store was read before the clock was set back, and ring", async () => {
    const { clock, set, now, woken, commit } = setUp();
    await commit("alice", forEver, now() + 1_000);
    await clock.advance(2_000);
    set.ms -= 2_000;
    await commit("bob", "bob's", now() + 500);
    await clock.advance(499);
    expect(woken).toEqual([]);
    await clock.advance(1);
    expect(woken).toEqual(["bob's"]);
  });
});

it("a timer that has failed rings again, although the id of its task begins the id of one that was passed over", async () => {
  let fails = true;
  const { now, clock, woken, commit } = setUp({
    async wake(taskId, end) {
      if (fails && taskId === "1") throw new Error("disk");
      await end();
    },
    sizes: { places: 17, page: 10, known: 1, knownOfOne: 1 },
  });
  await commit("bob", forEver, now());
  for (const taskId of ["1", "10", "11", "12"]) await commit("alice", taskId, now() + 10);
  await clock.advance(10);
  fails = false;
  await clock.advance(2_000);
  expect(woken.toSorted()).toEqual(["1", "1", "10", "11", "12"]);
});

describe("timers of one caller, more than memory takes", () => {
  for (const when of ["that has few", "after a restart"]) {
    it(`keep none of another caller waiting ${when}, although none of them has rung, and then each rings once`, async () => {
      const gate = Promise.withResolvers<void>();
      let readBefore = 0;
      const { now, clock, timers, woken, read, put, commit } = setUp({
        wake(taskId, end) {
          if (taskId !== "bob's") return gate.promise.then(end);
          readBefore = read.timers;
          return end();
        },
      });
      const store = when === "after a restart" ? put : commit;
      const at = now() + 1_000;
      await store("alice", forEver, at - 1);
      for (let task = 0; task < 55_000; task += 1) await store("alice", `${task}`, at);
      await store("bob", "bob's", at);
      await timers.start();
      await clock.advance(1_000);
      expect(woken).toContain("bob's");
      expect(woken.length).toBeLessThan(200);
      expect(readBefore).toBeLessThan(when === "after a restart" ? 60_000 : 1_000);
      gate.resolve();
      await clock.advance(1);
      expect([woken.length, new Set(woken).size]).toEqual([55_001, 55_001]);
      expect(read.timers).toBeLessThan(3 * 55_000);
      timers.close();
    });
  }

  it("are not read again when a late timer is committed, or when one fails", async () => {
    const gate = Promise.withResolvers<void>();
    let fails = true;
    const { now, clock, woken, read, commit, commitMany } = setUp({
      async wake(taskId, end) {
        if (fails && taskId === "0-alice") throw new Error("disk");
        if (taskId !== "bob's") await gate.promise;
        await end();
      },
    });
    await commitMany("alice", 20_000, now() + 1_000);
    await clock.advance(1_000);
    read.timers = 0;
    await commit("bob", "bob's", now() - 500);
    await clock.advance(3_000);
    expect(woken).toContain("bob's");
    expect(read.timers).toBe(0);
    fails = false;
    gate.resolve();
    await clock.advance(1_000);
    expect(new Set(woken).size).toBe(20_001);
    expect(woken.filter((taskId) => taskId === "0-alice").length).toBeGreaterThan(1);
    expect(read.timers).toBeLessThan(3 * 20_000);
    expect(clock.alarms).toBe(0);
  });

  it("are read a few times at most, of many callers that have as many", async () => {
    const { now, clock, woken, read, commit, commitMany } = setUp({
      sizes: { places: 1_000, page: 100, known: 100, knownOfOne: 10 },
    });
    const at = now() + 1_000;
    await commit("grace", forEver, at - 1);
    for (const principal of ["alice", "bob", "carol"]) await commitMany(principal, 2_000, at);
    for (const principal of ["dave", "erin", "frank"]) await commitMany(principal, 2_000, at + 1);
    await clock.advance(1_001);
    expect([woken.length, new Set(woken).size]).toEqual([12_000, 12_000]);
    expect(read.timers).toBeLessThan(5 * 12_000);
  });
});

it("timers of tasks that are put off keep no other caller's waiting, and ring once", async () => {
  const gate = Promise.withResolvers<void>();
  const { now, clock, woken, commit, commitMany } = setUp({
    async wake(taskId, end, onPutOff) {
      if (taskId !== "carol's") {
        onPutOff();
        await gate.promise;
      }
      await end();
    },
  });
  const at = now() + 1_000;
  for (const caller of ["alice", "bob"]) await commitMany(caller, 300, at);
  await commit("carol", "carol's", at + 1);
  await clock.advance(1_001);
  expect(woken).toContain("carol's");
  gate.resolve();
  await clock.advance(1);
  expect([woken.length, new Set(woken).size]).toEqual([601, 601]);
  expect(clock.alarms).toBe(0);
});

it("timers of more callers than memory takes ring when there are places again", async () => {
  const gate = Promise.withResolvers<void>();
  const { now, clock, woken, read, commit } = setUp({
    wake: (_, end) => gate.promise.then(end),
    sizes: { places: 1_000, page: 100, known: 100, knownOfOne: 10 },
  });
  const at = now() + 1_000;
  await commit("grace", forEver, at - 1);
  for (let caller = 0; caller < 3_000; caller += 1) await commit(`caller ${caller}`, `task ${caller}`, at);
  await clock.advance(1_000);
  expect(read.timers).toBeLessThanOrEqual(1_100);
  gate.resolve();
  await clock.advance(1);
  expect([woken.length, new Set(woken).size]).toEqual([3_000, 3_000]);
  expect(clock.alarms).toBe(0);
});

it("each timer rings once, at its time or soon after, beside failures, waits, new names, late commits and a clock that is set", async () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({
        kind: fc.constant("commit" as const),
        caller: fc.constantFrom("alice", "alice", "alice", "bob", "carol"),
        count: fc.integer({ min: 1, max: 30 }),
        ms: fc.integer({ min: -50, max: 100 }),
        /** When each of these tasks has its second timer, after the first. */
        againMs: fc.constantFrom(undefined, -5, 1, 50),
      }),
      fc.record({ kind: fc.constant("advance" as const), ms: fc.integer({ min: 0, max: 100 }) }),
      fc.record({ kind: fc.constant("set" as const), ms: fc.integer({ min: -100, max: 100 }) }),
      fc.record({
        kind: fc.constantFrom("hold" as const, "release" as const, "fail" as const, "heal" as const),
      }),
      fc.record({ kind: fc.constant("rename" as const) }),
      fc.record({ kind: fc.constant("slow" as const), turns: fc.nat(2) }),
    ),
    { minLength: 1, maxLength: 40 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      let gate = Promise.resolve();
      let release = () => {};
      let fails = false;
      let renamed = 0;
      /** By task, which is a number: its timers, and how many of them have rung. */
      const tasks: { readonly caller: string; readonly times: number[]; rung: number }[] = [];
      const early: string[] = [];
      const { now, clock, set, read, commit, timers } = setUp({
        sizes: { places: 40, page: 6, known: 20, knownOfOne: 5 },
        callerOf: ({ owner: { principal }, taskId }) =>
          Number(taskId) < renamed ? "callers without credentials" : principal,
        async wake(taskId) {
          const task = tasks[Number(taskId)];
          if (task === undefined) throw new Error("there is no such task");
          if (now() < (task.times[task.rung] ?? 0)) early.push(taskId);
          await gate;
          if (fails) throw new Error("disk");
          task.rung += 1;
          await commit(task.caller, taskId, task.times[task.rung]);
        },
      });
      await timers.start();
      await commit("dave", forEver, now());
      for (const step of all) {
        if (step.kind === "advance") await clock.advance(step.ms);
        if (step.kind === "slow") read.turns = step.turns;
        if (step.kind === "set") set.ms += step.ms;
        if (step.kind === "fail") fails = true;
        if (step.kind === "heal") fails = false;
        if (step.kind === "rename") renamed = tasks.length;
        if (step.kind === "release") release();
        if (step.kind === "hold") {
          release();
          ({ promise: gate, resolve: release } = Promise.withResolvers<void>());
        }
        if (step.kind !== "commit") continue;
        for (let count = 0; count < step.count; count += 1) {
          const { caller, ms, againMs } = step;
          const at = now() + ms;
          tasks.push({ caller, times: againMs === undefined ? [at] : [at, at + againMs], rung: 0 });
          await commit(caller, `${tasks.length - 1}`, at);
        }
      }
      fails = false;
      release();
      await clock.advance(10_000);
      timers.close();
      if (all.every(({ kind }) => kind !== "set")) expect(early).toEqual([]);
      expect(tasks.filter(({ times, rung }) => rung !== times.length)).toEqual([]);
      expect(clock.alarms).toBe(0);
    }),
    { numRuns: process.env["A2A_LONG"] === "1" ? 500 : 150 },
  );
});
