import { TaskState } from "@a2a-connect/proto";
import { describe, expect, it, vi } from "vitest";
import { cancel, canceled, createDurableServers } from "../../../test-support/durable-servers.ts";
import { detached, endOf, lifecycle, sendTask, stateOf } from "../../../test-support/tasks.ts";
import { type Runnable, Scheduler } from "../capacity/scheduler.ts";
import { defaultEngineLimits } from "../engine-context.ts";
import { DurableExecution } from "./durable-execution.ts";

it("a task that waits to be read back behind another one of its caller is canceled at once, and cleans up", async () => {
  const undone: string[] = [];
  const goOn = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const { open, clock } = createDurableServers(
    async function* (task) {
      if (task.text === "large") {
        yield task.artifact({ text: "x".repeat(9_000_000) }); // then its caller has more than twice its part of the memory
        await goOn.promise;
        yield task.working("it has the turn for ten seconds");
        await end.promise;
        return;
      }
      try {
        await task.inbox.take();
      } finally {
        if (task.signal.aborted) await task.step("undo", () => undone.push(task.text));
      }
    },
    { limits: { ...defaultEngineLimits, maxActiveBytes: 2 * 2 ** 20 } },
  );
  const process = await open();
  const one = await sendTask(process.client, detached("one"));
  const other = await sendTask(process.client, detached("other"));
  await clock.settle();
  await sendTask(process.client, detached("large"));
  await clock.advance(40_000); // the executors of the others were dropped
  goOn.resolve();
  await clock.settle();
  await process.client.sendMessage(detached("more", { taskId: one.id }));
  await clock.settle(); // it waits for a turn, and is the next to be read back
  expect(await stateOf(process.client, one.id)).toBe(TaskState.SUBMITTED);
  const [before, answer] = [clock.now(), cancel(process, other.id)];
  await clock.settle();
  expect([await answer, clock.now(), undone]).toEqual([canceled, before, ["other"]]);
  end.resolve();
  await clock.advance(60_000);
  expect(await stateOf(process.client, one.id)).toBe(TaskState.COMPLETED);
});

it("tasks that are canceled while they have places and wait to be read back keep these, and clean up", async () => {
  const undone: string[] = [];
  const goOn = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const { open, clock } = createDurableServers(
    async function* (task) {
      if (task.text === "large") {
        yield task.artifact({ text: "x".repeat(9_000_000) }); // then its caller has more than twice its part of the memory
        await goOn.promise;
        yield task.working("it has the turn for ten seconds");
        await end.promise;
        return;
      }
      try {
        await task.inbox.take();
      } finally {
        if (task.signal.aborted) await task.step("undo", () => undone.push(task.text));
      }
    },
    { limits: { ...defaultEngineLimits, maxActiveBytes: 2 * 2 ** 20, maxRunning: 3 } },
  );
  const process = await open();
  const ids: string[] = [];
  for (const name of ["reads", "waits", "has no place", "none either"]) {
    ids.push((await sendTask(process.client, detached(name))).id);
    await clock.settle();
  }
  await sendTask(process.client, detached("large"));
  await clock.advance(40_000); // the executors of the others were dropped
  goOn.resolve();
  await clock.settle();
  for (const taskId of ids) await process.client.sendMessage(detached("more", { taskId }));
  await clock.settle(); // the first waits for a turn with its output, and the second for the first
  const before = clock.now();
  const answers = ids.slice(0, 2).map((id) => cancel(process, id));
  await clock.settle();
  expect([await Promise.all(answers), clock.now(), undone]).toEqual([
    [canceled, canceled],
    before,
    ["reads", "waits"],
  ]);
  end.resolve();
  await clock.advance(60_000);
  for (const id of ids.slice(2)) expect(await stateOf(process.client, id)).toBe(TaskState.COMPLETED);
});

describe("canceled tasks of one caller that have to be read back", () => {
  /** A process with so many of them, whose executors were dropped, and what their clean-ups do in the newest process. */
  async function begin(tasks: number, size: "large" | "small" = "large") {
    const seen = { asleep: 0, cleaning: { now: 0, most: 0, over: 0 } };
    const goOn = Promise.withResolvers<void>();
    const servers = createDurableServers(
      async function* (task) {
        if (task.text === "other") {
          await task.sleep(3_000);
          return;
        }
        if (task.text === "output") {
          yield task.artifact({ text: "x".repeat(3_000_000) }); // then their caller has more than twice its part of the memory
          await goOn.promise;
          yield task.working("it has the turn for ten seconds");
          await new Promise(() => {});
        }
        try {
          const characters = task.text === "large" ? 380_000 : 1_000; // three of these are more than their caller's part
          for (const name of ["a", "b", "c"]) await task.step(name, () => "x".repeat(characters));
          seen.asleep += 1;
          await task.sleep(3_600_000);
        } finally {
          if (task.signal.aborted) {
            await task.step("undo", async () => {
              const { cleaning } = seen;
              cleaning.now += 1;
              cleaning.most = Math.max(cleaning.most, cleaning.now);
              await new Promise<void>((resolve) => void clock.schedule(8_000, resolve));
              cleaning.now -= 1;
              cleaning.over += 1;
            });
          }
        }
      },
      { limits: { ...defaultEngineLimits, maxActiveBytes: 2 ** 20, maxRunning: 6 } },
    );
    const process = await servers.open();
    const { clock } = servers;
    /** A journal is read in turns of the event loop that the clock does not know. */
    const until = async (isTrue: () => boolean) => {
      while (!isTrue()) await clock.settle();
    };
    const ids: string[] = [];
    for (let sent = 1; sent <= tasks; sent++) {
      ids.push((await sendTask(process.client, detached(size))).id);
      await until(() => seen.asleep === sent);
      await clock.advance(31_000);
    }
    const begun = (count: number) => until(() => seen.cleaning.now + seen.cleaning.over >= count);
    const cleanUps = async (count: number) => {
      await begun(count);
      await clock.advance(8_000);
    };
    return { ...servers, process, ids, seen, goOn, begun, cleanUps };
  }

  it("clean up at once when they are small, also while their caller has far more than its part in memory", async () => {
    const { process, clock, ids, seen, cleanUps } = await begin(4, "small");
    await sendTask(process.client, detached("output"));
    await clock.advance(1_000);
    const answers = Promise.all(ids.map((id) => cancel(process, id)));
    await cleanUps(4);
    expect(await answers).toEqual(ids.map(() => canceled));
    expect(seen.cleaning.most).toBe(4);
  });

  it("clean up a few at a time when they are large, each for as long as the grace period permits, while the caller's other tasks go on", async () => {
    const { process, ids, seen, cleanUps } = await begin(8);
    const other = await sendTask(process.client, detached("other"));
    const answers = Promise.all(ids.map((id) => cancel(process, id)));
    for (const count of [2, 4]) await cleanUps(count);
    expect(await stateOf(process.client, other.id)).toBe(TaskState.COMPLETED);
    for (const count of [6, 8]) await cleanUps(count);
    expect(await answers).toEqual(ids.map(() => canceled));
    expect(seen.cleaning).toEqual({ now: 0, most: 2, over: 8 });
  });

  it("do so when each is canceled while it is the next of its caller to be read back", async () => {
    const { process, clock, ids, seen, goOn, cleanUps } = await begin(4);
    await sendTask(process.client, detached("output"));
    await clock.advance(1_000);
    goOn.resolve();
    await clock.settle();
    for (const id of ids) await process.client.sendMessage(detached("more", { taskId: id }));
    const answers = [];
    for (const id of ids) {
      answers.push(cancel(process, id));
      for (let turns = 0; turns < 30; turns++) await clock.settle();
    }
    for (const count of [1, 2, 3, 4]) await cleanUps(count);
    expect(await Promise.all(answers)).toEqual(ids.map(() => canceled));
    expect(seen.cleaning).toEqual({ now: 0, most: 1, over: 4 });
  });

  it("do so in the next process", async () => {
    const { open, process, ids, seen, begun, cleanUps } = await begin(5);
    for (const id of ids) void cancel(process, id).catch(() => {});
    await begun(2);
    process.kill();
    seen.cleaning = { now: 0, most: 0, over: 0 };
    const next = await open();
    for (const count of [2, 4, 5]) await cleanUps(count);
    for (const id of ids) expect(endOf(await next.client.getTask({ id }))).toEqual(canceled);
    expect(seen.cleaning).toEqual({ now: 0, most: 2, over: 5 });
  });
});

describe("durable tasks that are not in memory, while work that lasts has all places of their caller", () => {
  /** @returns 21 of them, the last with a deadline in a minute */
  async function begin() {
    const goOn = Promise.withResolvers<void>();
    const undone: string[] = [];
    const { open, clock } = createDurableServers(
      async function* (task) {
        if (task.text === "lasts") {
          await task.step("long", () => goOn.promise);
          return;
        }
        try {
          await task.sleep(360_000_000);
        } finally {
          await task.step("undo", () => void undone.push(task.text));
        }
      },
      { limits: { ...defaultEngineLimits, maxRunning: 16 }, agent: { inactivityTimeoutMs: false } },
    );
    const process = await open();
    const ids: string[] = [];
    for (let at = 0; at < 20; at++) ids.push((await sendTask(process.client, detached(`${at}`))).id);
    const deadline = new Date(clock.now() + 60_000).toISOString();
    const late = await sendTask(process.client, detached("late", lifecycle({ deadline })));
    await clock.advance(31_000); // they are dropped
    for (let at = 0; at < 20; at++) await sendTask(process.client, detached("lasts"));
    await clock.settle();
    return { process, clock, ids, late: late.id, undone, goOn };
  }

  it("end with the grace period when they are canceled, and at their deadline", async () => {
    const { process, clock, ids, late, undone, goOn } = await begin();
    const answers = Promise.all(ids.map((id) => cancel(process, id)));
    await clock.advance(9_999);
    expect(await stateOf(process.client, ids[0] ?? "")).toBe(TaskState.SUBMITTED);
    await clock.advance(1);
    expect(await answers).toEqual(ids.map(() => canceled));
    await clock.advance(30_000);
    expect(endOf(await process.client.getTask({ id: late }))).toEqual([TaskState.CANCELED, "deadline"]);
    goOn.resolve();
    await clock.settle();
    expect([undone, process.log]).toEqual([[], []]);
  });

  it("clean up when they get a place within that time, one after the other", async () => {
    const { process, clock, ids, undone, goOn } = await begin();
    const answers = Promise.all(ids.map((id) => cancel(process, id)));
    await clock.advance(9_000);
    goOn.resolve();
    await clock.advance(1_000);
    expect(await answers).toEqual(ids.map(() => canceled));
    expect(undone).toEqual(ids.map((_, at) => `${at}`));
  });
});

describe("durable tasks that end while they wait for a place", () => {
  const deadline = "2026-01-01T00:01:00Z";
  const ways = [
    [
      "at their deadline, which is over before a start",
      lifecycle({ deadline }),
      [TaskState.CANCELED, "deadline"],
    ],
    ["by a cancel, while they only wait in memory", {}, canceled],
  ] as const;
  for (const [how, metadata, end] of ways) {
    it(`wait for it no more when they end ${how}`, async () => {
      const started: (readonly [Scheduler, Runnable])[] = [];
      const { start } = Scheduler.prototype;
      vi.spyOn(Scheduler.prototype, "start").mockImplementation(function (this: Scheduler, ...args) {
        started.push([this, args[0]]);
        return start.apply(this, args);
      });
      const { open, clock } = createDurableServers(
        async function* (task) {
          if (task.text === "lasts") await task.step("long", () => new Promise(() => {}));
          await task.sleep(360_000_000);
          yield task.complete();
        },
        { limits: { ...defaultEngineLimits, maxRunning: 16 } },
      );
      let process = await open();
      const ids: string[] = [];
      for (let at = 0; at < 10; at++) {
        ids.push((await sendTask(process.client, detached("sleeps", metadata))).id);
      }
      await clock.settle();
      for (let at = 0; at < 20; at++) await sendTask(process.client, detached("lasts"));
      await clock.settle();
      if (end === canceled) {
        for (const id of ids) void cancel(process, id);
      } else {
        process.kill();
        await clock.advance(60_000);
        started.length = 0;
        process = await open();
      }
      await clock.advance(10_000);
      vi.restoreAllMocks();
      for (const id of ids) expect(endOf(await process.client.getTask({ id }))).toEqual(end);
      const waiting = started.filter(([scheduler, work]) => scheduler.withdraw(work));
      expect(waiting.filter(([, work]) => work instanceof DurableExecution && work.isGone)).toHaveLength(0);
      expect(waiting.length).toBeGreaterThan(0); // those that last, for which there is no place
    });
  }
});

it("a task that is canceled while all places are taken cleans up in the next free one, before tasks of its caller that have not begun", async () => {
  for (const [restMs, bytes] of [
    [1_000, 9_000_000], // more than twice its caller's part of the memory: executors begin once in ten seconds
    [40_000, 9_000_000], // its executor was dropped
    [1_000, 9],
  ] as const) {
    const undone: string[] = [];
    const ends: (() => void)[] = [];
    const { open, clock } = createDurableServers(
      async function* (task) {
        if (task.text === "rest") {
          try {
            await task.sleep(3_600_000);
          } finally {
            await task.step("undo", () => undone.push(task.text));
          }
        } else {
          if (task.text === "large") yield task.artifact({ text: "x".repeat(bytes) });
          await new Promise<void>((resolve) => ends.push(resolve));
        }
      },
      { limits: { ...defaultEngineLimits, maxActiveBytes: 2 * 2 ** 20, maxRunning: 2 } },
    );
    const process = await open();
    const rest = await sendTask(process.client, detached("rest"));
    await clock.settle();
    await sendTask(process.client, detached("large"));
    await clock.advance(restMs);
    for (const name of ["1", "2", "3"]) await sendTask(process.client, detached(name));
    await clock.settle();
    expect(ends).toHaveLength(2);
    const [before, answer] = [clock.now(), cancel(process, rest.id)];
    await clock.settle();
    expect(undone).toEqual([]);
    ends[1]?.();
    await clock.settle();
    expect([undone, await answer, clock.now() - before]).toEqual([["rest"], canceled, 0]);
    process.kill();
  }
});

it("a cancel of a task whose clean-up waits ends with its grace period, also while its caller has more than its part of the memory", async () => {
  let runs = 0;
  const { open, clock } = createDurableServers(
    async function* (task) {
      if (task.text === "large") {
        yield task.artifact({ text: "x".repeat(9_000_000) });
        await new Promise<void>((resolve) => void clock.schedule(600_000, resolve));
        return;
      }
      runs += 1;
      try {
        await task.sleep(3_600_000);
      } finally {
        await task.sleep(3_600_000);
      }
    },
    { limits: { ...defaultEngineLimits, maxActiveBytes: 2 * 2 ** 20 } },
  );
  const process = await open();
  const { id } = await sendTask(process.client, detached("sleeps"));
  await clock.settle();
  await sendTask(process.client, detached("large"));
  await clock.settle();
  const answer = cancel(process, id);
  await clock.advance(10_000);
  expect([await answer, runs]).toEqual([canceled, 1]);
});
