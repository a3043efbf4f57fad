import { TaskState } from "@a2a-connect/proto";
import { reasonOf, say } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { collectGarbage } from "../../../test-support/collect-garbage.ts";
import { createDurableServers } from "../../../test-support/durable-servers.ts";
import { createHeldStore } from "../../../test-support/held-store.ts";
import { detached, sendTask, stateOf } from "../../../test-support/tasks.ts";
import type { DurableTask } from "../../agent/durable-task.ts";
import { createMemoryTaskStore } from "../../store/memory-task-store.ts";
import { defaultEngineLimits } from "../engine-context.ts";

describe("a durable executor that waits", () => {
  it("is dropped after its time, with all that it held, and is read back when it is needed", async () => {
    const held: WeakRef<object>[] = [];
    const store = createHeldStore();
    const { open, clock } = createDurableServers(
      async function* (task) {
        const big = { bytes: new Uint8Array(1_000) };
        held.push(new WeakRef(big), new WeakRef(task));
        yield* task.ask("?");
        yield task.append("a", `${big.bytes.length}`);
      },
      { store, limits: { ...defaultEngineLimits, unloadAfterMs: 5_000 } },
    );
    const { client } = await open();
    const { id } = await sendTask(client);
    await clock.advance(4_999);
    expect(await collectGarbage(() => held.every((ref) => ref.deref() === undefined), 4)).toBe(false);
    const reads = store.calls.find;
    await client.getTask({ id });
    expect(store.calls.find).toBe(reads); // still in memory
    await clock.advance(1);
    await client.getTask({ id });
    expect(store.calls.find).toBe(reads + 1);
    expect(await collectGarbage(() => held.every((ref) => ref.deref() === undefined))).toBe(true);
    expect((await sendTask(client, say("yes", { taskId: id }))).artifacts).toHaveLength(1);
  });

  it("is dropped before its time when 1,000 others have waited less long", async () => {
    const begun: string[] = [];
    const servers = createDurableServers(async function* (task) {
      begun.push(task.taskId);
      yield* task.ask("?");
    });
    const { client } = await servers.open();
    const ids: string[] = [];
    for (let count = 0; count < 1_001; count += 1) ids.push((await sendTask(client)).id);
    const [oldest = "", second = ""] = ids;
    begun.length = 0;
    for (const taskId of [second, oldest]) await sendTask(client, say("yes", { taskId }));
    expect(begun).toEqual([oldest]); // its code runs again
  });

  it("leaves no alarm of its own behind, however many wait, and all time out after a restart", {
    timeout: 60_000,
  }, async () => {
    const tasks = 2_000;
    const servers = createDurableServers(async function* (task) {
      yield* task.ask("?");
    });
    const first = await servers.open();
    await Promise.all(Array.from({ length: tasks }, () => first.client.sendMessage(say("go"))));
    expect(servers.clock.alarms).toBeGreaterThan(1_000); // of those that are in memory
    await servers.clock.advance(30_000);
    expect(servers.clock.alarms).toBeLessThan(5);
    first.kill();
    const next = await servers.open();
    await servers.clock.advance(570_000);
    const { totalSize } = await next.client.listTasks({ status: TaskState.CANCELED, pageSize: 1 });
    expect([totalSize, next.log]).toEqual([tasks, []]);
  });

  it("gives its place to others, and waits for one when it goes on", async () => {
    const order: string[] = [];
    const { open, clock } = createDurableServers(
      async function* (task) {
        order.push(`${task.text} begins`);
        if (task.text === "asks") yield* task.ask("?");
        else await task.step("work", () => new Promise<void>((resolve) => void clock.schedule(900, resolve)));
        order.push(`${task.text} ends`);
      },
      { limits: { ...defaultEngineLimits, maxRunning: 1 } },
    );
    const { client } = await open();
    const { id } = await sendTask(client, say("asks"));
    await client.sendMessage(detached("works"));
    await client.sendMessage(detached("works too"));
    await clock.settle();
    const answered = client.sendMessage(say("yes", { taskId: id }));
    await clock.settle();
    expect(order).toEqual(["asks begins", "works begins"]);
    await clock.advance(2_000);
    await answered;
    expect(order).toEqual([
      "asks begins",
      "works begins",
      "works ends",
      "works too begins",
      "works too ends",
      "asks ends",
    ]);
  });

  it("that yields while it seems to wait is not dropped", async () => {
    const { open, clock } = createDurableServers(async function* (task) {
      void task.sleep(3_600_000);
      for (let chunk = 0; chunk < 5; chunk += 1) {
        yield task.append("a", `${chunk}`);
        await new Promise<void>((resolve) => void clock.schedule(20_000, resolve)); // something that is none of ours
      }
    });
    const { client, log } = await open();
    const { id } = await sendTask(client, detached());
    await clock.advance(100_000);
    const task = await client.getTask({ id });
    expect([task.status?.state, task.artifacts[0]?.parts.length, log]).toEqual([TaskState.COMPLETED, 5, []]);
  });
});

describe("sleeps", () => {
  it("of thousands end together, a few at a time, and cost a few commits each", {
    timeout: 60_000,
  }, async () => {
    const sleepers = 1_000;
    const store = createHeldStore();
    const { open, clock } = createDurableServers(
      async function* (task) {
        await task.sleep(60_000);
        yield task.append("a", await task.step("work", () => "done"));
      },
      { store, limits: { ...defaultEngineLimits, maxRunning: 3 } },
    );
    const first = await open();
    for (let at = 0; at < sleepers; at += 1) await first.client.sendMessage(detached());
    await clock.advance(59_000);
    const before = store.calls.commit;
    await clock.advance(5_000);
    const { totalSize } = await first.client.listTasks({ status: TaskState.COMPLETED, pageSize: 1 });
    expect([totalSize, first.log]).toEqual([sleepers, []]);
    expect((store.calls.commit - before) / sleepers).toBeLessThan(5);
  });

  it("that earlier runs began are had again after a restart, also where they are more than a caller may begin", async () => {
    const dayMs = 86_400_000;
    const { open, clock } = createDurableServers(
      async function* (task) {
        await Promise.all(Array.from({ length: 100 }, () => task.sleep(dayMs)));
        yield task.complete("done");
      },
      { limits: { ...defaultEngineLimits, maxActiveBytes: 2 * 2 ** 20 } }, // 256 of 4 KiB
    );
    const first = await open();
    const ids: string[] = [];
    for (let sent = 0; sent < 6; sent += 1) {
      ids.push((await sendTask(first.client, detached())).id);
      await clock.advance(40_000); // its executor is dropped
    }
    first.kill();
    const { client } = await open();
    await clock.advance(dayMs + 3_600_000);
    expect(await Promise.all(ids.map((id) => stateOf(client, id)))).toEqual(
      Array(6).fill(TaskState.COMPLETED),
    );
  });

  it("hold up nobody while they are due and there is no place: no commit is made for that", async () => {
    const store = createHeldStore();
    const ends = Promise.withResolvers<void>();
    const { open, clock } = createDurableServers(
      async function* (task) {
        if (task.text === "blocks") await task.step("block", () => ends.promise);
        else await task.sleep(20_000);
        yield task.working("awake");
      },
      { store, limits: { ...defaultEngineLimits, maxRunning: 1 } },
    );
    const { client } = await open();
    const { id } = await sendTask(client, detached());
    await clock.settle();
    await client.sendMessage(detached("blocks"));
    await clock.advance(21_000);
    const before = store.calls.commit;
    await clock.advance(60_000);
    expect(store.calls.commit - before).toBeLessThan(3);
    ends.resolve();
    await clock.settle();
    expect(await stateOf(client, id)).toBe(TaskState.COMPLETED);
  });

  for (const ms of [0, -5, 0.5, 999, 1_000, 1_001, 29_000.7, 31_000]) {
    it(`last ${ms} ms, in this process and over a crash in the middle`, async () => {
      for (const crash of [false, true]) {
        const { open, clock } = createDurableServers(async function* (task) {
          await task.sleep(ms);
          yield task.working("awake");
        });
        const first = await open();
        const { id } = await sendTask(first.client, detached());
        await clock.settle();
        const whole = Math.max(0, Math.ceil(ms));
        if (whole > 0) await clock.advance(whole - 1);
        let { client } = first;
        if (crash) {
          first.kill();
          ({ client } = await open());
          await clock.settle();
        }
        const state = async () => await stateOf(client, id);
        expect(await state()).toBe(whole === 0 ? TaskState.COMPLETED : TaskState.SUBMITTED);
        await clock.advance(1);
        expect(await state()).toBe(TaskState.COMPLETED);
      }
    });
  }

  for (const ms of [Number.NaN, Number.POSITIVE_INFINITY]) {
    it(`do not last ${ms} ms`, async () => {
      const errors: unknown[] = [];
      const { open } = createDurableServers(async function* (task) {
        await task.sleep(ms).catch((error: unknown) => errors.push(error));
        yield task.working();
      });
      await (await open()).client.sendMessage(say("go"));
      expect(errors).toEqual([new RangeError(`a sleep takes a number of milliseconds, not ${ms}`)]);
    });
  }

  for (const [where, jump] of [
    ["back", -7_200_000],
    ["forward", 7_200_000],
  ] as const) {
    it(`that are over stay over when the clock has jumped ${where} since`, async () => {
      let skew = 0;
      const store = createMemoryTaskStore();
      const servers = createDurableServers(
        async function* (task) {
          await task.sleep(60_000);
          yield task.append("a", "awake");
          yield* task.ask("?");
        },
        { store },
      );
      const { now } = servers.clock;
      Object.assign(servers.clock, { now: () => now() + skew });
      const first = await servers.open();
      const { id } = await sendTask(first.client, detached());
      await servers.clock.advance(60_000);
      first.kill();
      skew = jump;
      const next = await servers.open();
      if (jump > 600_000) {
        await servers.clock.advance(1);
        expect(reasonOf(await next.client.getTask({ id }))).toBe("input-timeout");
        return;
      }
      expect((await sendTask(next.client, say("yes", { taskId: id }))).status?.state).toBe(
        TaskState.COMPLETED,
      );
    });
  }
});

describe("a sleep beside an open question", () => {
  const reminded: number[] = [];
  const remindAfter = (ms: number, options: Parameters<typeof createDurableServers>[1] = {}) => {
    reminded.length = 0;
    const servers = createDurableServers(
      async function* (task) {
        const reminder = task
          .sleep(ms)
          .then(() => task.step("remind", () => reminded.push(servers.clock.now() - begun)));
        const answer = yield* task.ask("?");
        await reminder;
        yield task.append("a", answer.text);
      },
      { agent: { inputTimeoutMs: false }, ...options },
    );
    const begun = servers.clock.now();
    return servers;
  };

  for (const ms of [10_000, 60_000, 3_600_000]) {
    for (const crash of [false, true]) {
      const where = crash ? "after a restart" : "in this process";
      it(`of ${ms} ms ends at its time ${where}, and what follows is done once`, async () => {
        const { open, clock } = remindAfter(ms);
        const first = await open();
        const { id } = await sendTask(first.client);
        await clock.advance(ms - 1);
        if (crash) first.kill();
        const { client, log } = crash ? await open() : first;
        expect(reminded).toEqual([]);
        await clock.advance(1);
        expect(reminded).toEqual([ms]);
        expect(await stateOf(client, id)).toBe(TaskState.INPUT_REQUIRED);
        await clock.advance(86_400_000);
        const task = await sendTask(client, say("yes", { taskId: id }));
        expect([task.status?.state, reminded, log]).toEqual([TaskState.COMPLETED, [ms], []]);
      });
    }
  }

  it("leaves nothing behind that rings again", async () => {
    const store = createHeldStore();
    const { open, clock } = remindAfter(60_000, { store });
    await (await open()).client.sendMessage(say("go"));
    await clock.advance(120_000);
    expect([reminded, clock.alarms, await store.due(Number.MAX_SAFE_INTEGER, 1)]).toEqual([[60_000], 0, []]);
  });

  it("is gone on with when the process dies in what follows", async () => {
    const store = createMemoryTaskStore();
    let attempts = 0;
    const servers = createDurableServers(
      async function* (task) {
        const reminder = task
          .sleep(60_000)
          .then(() => task.step("remind", () => (++attempts === 1 ? new Promise(() => {}) : "done")));
        yield* task.ask("?");
        await reminder;
      },
      { store, agent: { inputTimeoutMs: false } },
    );
    const first = await servers.open();
    await first.client.sendMessage(say("go"));
    await servers.clock.advance(90_000);
    expect(attempts).toBe(1);
    first.kill();
    await servers.open();
    await servers.clock.advance(60_000);
    expect(attempts).toBe(2);
  });
});

describe("beside a question", () => {
  interface Beside {
    readonly task: DurableTask;
    readonly wait: (ms: number) => Promise<void>;
    readonly done: () => void;
  }
  /** Asks beside what `begin` has begun. */
  async function ask(begin: (beside: Beside) => unknown) {
    const store = createHeldStore();
    const { open, clock } = createDurableServers(
      async function* (task) {
        const beside = begin({ task, wait, done });
        yield* task.ask("?");
        await beside;
      },
      { store, agent: { inputTimeoutMs: false } },
    );
    const wait = (ms: number) => new Promise<void>((resolve) => void clock.schedule(ms, resolve));
    let count = 0;
    const done = () => {
      count += 1;
    };
    const process = await open();
    await process.client.sendMessage(say("go"));
    await clock.advance(100);
    const [row] = await store.due(Number.MAX_SAFE_INTEGER, 1);
    const { commit: commits } = store.calls;
    async function crash(): Promise<void> {
      process.kill();
      await clock.advance(10_000); // the process has begun something that goes on without it
      count = 0;
      await open();
    }
    return { clock, commits, wakesIn: row && row.wakeAt - clock.now() + 100, crash, count: () => count };
  }

  const busy: readonly (readonly [string, (beside: Beside) => unknown])[] = [
    ["a step", ({ task, wait, done }) => task.step("notify", () => wait(5_000).then(done))],
    [
      "a sleep of less than a second",
      ({ task, done }) => task.sleep(500).then(() => task.step("notify", done)),
    ],
    [
      "the short wait for another attempt",
      ({ task, done }) => {
        const attempt = (attempts: number) => (attempts === 1 ? Promise.reject(new Error("once")) : done());
        return task.step("notify", (step) => attempt(step.attempt), {
          retries: 1,
          backoff: { initialMs: 500 },
        });
      },
    ],
  ];
  it.each(busy)("%s is gone on with after a crash", async (_, begin) => {
    const { clock, crash, count } = await ask(begin);
    await crash();
    await clock.advance(120_000);
    expect(count()).toBe(1);
  });

  it("a step that code outside of steps begins later is gone on with after a crash", async () => {
    const { clock, crash, count } = await ask(({ task, wait, done }) =>
      wait(5_000).then(() => task.step("notify", () => wait(8_000).then(done))),
    );
    await clock.advance(6_000);
    await crash();
    await clock.advance(120_000);
    expect(count()).toBe(1);
  });

  const resting: readonly (readonly [string, number | undefined, (beside: Beside) => unknown])[] = [
    ["nothing", undefined, () => {}],
    ["a long sleep", 3_600_000, ({ task }) => task.sleep(3_600_000)],
    ["a take of the inbox", undefined, ({ task }) => task.inbox.take()],
  ];
  it.each(resting)("%s needs no further look, and no commit for one", async (_, wakesIn, begin) => {
    expect(await ask(begin)).toMatchObject({ commits: 1, wakesIn });
  });
});
