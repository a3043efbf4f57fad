import { TaskState } from "@a2a-connect/proto";
import { say } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { createDurableServers, type Process } from "../../../test-support/durable-servers.ts";
import { createHeldStore } from "../../../test-support/held-store.ts";
import { detached, endOf, lifecycle, sendTask, stateOf, subscribe } from "../../../test-support/tasks.ts";
import type { DurableExecutor } from "../../agent/agent-definition.ts";
import { createMemoryTaskStore } from "../../store/memory-task-store.ts";
import { encodeCommand } from "../command.ts";
import { defaultEngineLimits } from "../engine-context.ts";

const hourMs = 3_600_000;

/** Processes over one store; `ran` counts how often executors were called. */
function createProcesses(execute: DurableExecutor, limits = {}) {
  let read = Promise.resolve();
  const memory = createMemoryTaskStore();
  const store = createHeldStore({
    ...memory,
    entries: (...args) => read.then(() => memory.entries(...args)),
  });
  let runs = 0;
  const servers = createDurableServers(
    (task) => {
      runs += 1;
      return execute(task);
    },
    { store, limits: { ...defaultEngineLimits, ...limits } },
  );
  const { open, clock } = servers;
  /** Begins such tasks, which wait. A start after that has noted in their logs that they do. @returns their ids */
  async function rest(tasks: number, metadata = {}): Promise<readonly string[]> {
    const first = await open();
    const ids: string[] = [];
    for (let at = 0; at < tasks; at += 1)
      ids.push((await sendTask(first.client, detached("go", metadata))).id);
    await clock.advance(1_000);
    first.kill();
    const second = await open();
    await clock.advance(1_000);
    second.kill();
    runs = 0;
    return ids;
  }
  /** Logs are read when the returned function is called. */
  function holdReads(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    read = promise;
    return resolve;
  }
  return { ...servers, store, rest, holdReads, countRuns: () => runs };
}

const waits: DurableExecutor = async function* (task) {
  try {
    await Promise.race([task.inbox.take(), task.sleep(hourMs)]);
    yield task.complete();
  } finally {
    if (task.signal.aborted) await task.step("clean up", () => {});
  }
};

async function passTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
}

describe("a durable task that has only waited since an earlier start", () => {
  it("is not run at a start, and leaves memory and its place at once", async () => {
    const { open, clock, store, rest, countRuns } = createProcesses(waits, { maxRunning: 1 });
    const [id = ""] = await rest(200);
    const { commit } = store.calls;
    const { alarms } = clock;
    const { client } = await open();
    await clock.settle();
    expect([countRuns(), store.calls.commit - commit, clock.alarms - alarms]).toEqual([0, 0, 1]); // that of the next timer
    const { find } = store.calls;
    await client.getTask({ id });
    expect(store.calls.find).toBe(find + 1);
    await sendTask(client, detached());
    await clock.settle();
    expect(countRuns()).toBe(1);
  });

  type Act = (process: Process, id: string) => Promise<unknown>;
  const deadline = lifecycle({ deadline: "2026-01-01T00:30:00Z" });
  const completed = [TaskState.COMPLETED, undefined, false];
  const canceled = [TaskState.CANCELED, "canceled", true];
  const moments: readonly (readonly [string, Act, readonly unknown[], object?])[] = [
    ["gets a message", ({ client }, id) => sendTask(client, say("more", { taskId: id })), completed],
    ["is canceled", ({ client }, id) => client.cancelTask({ id }), canceled],
    ["wakes", ({ clock }) => clock.advance(hourMs), completed],
    [
      "has its deadline",
      ({ clock }) => clock.advance(hourMs),
      [TaskState.CANCELED, "deadline", true],
      deadline,
    ],
  ];
  for (const [what, act, end, metadata] of moments) {
    it(`goes on when it ${what}, at any moment after the start, and its followers see that`, async () => {
      for (let turns = -30; turns <= 30; turns += 1) {
        const { open, clock, rest, holdReads, countRuns, journal } = createProcesses(waits);
        const [id = ""] = await rest(1, metadata);
        const readLogs = holdReads();
        const process = await open();
        const follower = subscribe(process.client, id);
        await clock.settle();
        if (turns > 0) readLogs();
        else void passTurns(-turns).then(readLogs);
        await passTurns(turns);
        await act(process, id);
        await clock.settle();
        await follower.ended;
        const hasCleanedUp = (await journal(id)).some(({ op }) => op.includes("clean up"));
        const task = await process.client.getTask({ id });
        expect([turns, countRuns(), ...endOf(task), hasCleanedUp]).toEqual([turns, 1, ...end]);
      }
    });
  }

  const takes: DurableExecutor = async function* (task) {
    await task.inbox.take();
    yield task.complete();
  };
  const asks: DurableExecutor = async function* (task) {
    yield* task.ask("how?");
    yield task.complete();
  };

  it("takes the message that came while it came to rest, although the process has ended meanwhile", async () => {
    let restedBehindMessage = 0;
    for (let ms = 0; ms <= 12; ms += 1) {
      const memory = createMemoryTaskStore();
      let commitMs = 0;
      const servers = createDurableServers(takes, {
        store: {
          ...memory,
          async commit(commit) {
            if (commitMs > 0) await new Promise<void>((done) => void clock.schedule(commitMs, done));
            return memory.commit(commit);
          },
        },
      });
      const { open, clock, log } = servers;
      const first = await open();
      const { id } = await sendTask(first.client, detached());
      await clock.settle();
      first.kill();
      commitMs = 10;
      const second = await open({ commit: 3, written: true });
      for (let passed = 0; passed < ms; passed += 1) await clock.advance(1);
      void sendTask(second.client, say("more", { taskId: id })).catch(() => {});
      for (let passed = 0; passed < 100; passed += 1) await clock.advance(1);
      commitMs = 0;
      second.kill();
      const entries = await log(id);
      const hasMessage = entries.some(({ kind }) => kind === "input");
      const last = Buffer.from(entries.at(-1)?.payload ?? []).toString();
      if (hasMessage && last.includes('"atRest":true')) restedBehindMessage += 1;
      const third = await open();
      await clock.settle();
      const { status } = await third.client.getTask({ id });
      if (hasMessage) expect([ms, status?.state]).toEqual([ms, TaskState.COMPLETED]);
    }
    expect(restedBehindMessage).toBeGreaterThan(5);
  });

  it.each([
    ["a message of the inbox", takes],
    ["an answer", asks],
  ])("is run at a start when its log says that, behind %s that it has not read", async (_, execute) => {
    const memory = createMemoryTaskStore();
    const servers = createDurableServers(execute, {
      store: {
        ...memory,
        async commit(commit) {
          const { entries, expectedSequence } = commit;
          if (expectedSequence === 0 || entries.every(({ kind }) => kind !== "input"))
            return memory.commit(commit);
          const payload = encodeCommand({ type: "survived", atRest: true, at: clock.now() });
          const sequence = expectedSequence + entries.length + 1;
          const note = { sequence, generation: undefined, kind: "command", payload } as const;
          process.kill();
          return memory.commit({ ...commit, entries: [...entries, note] });
        },
      },
    });
    const { open, clock } = servers;
    const process = await open();
    const { id } = await sendTask(process.client, detached());
    await clock.settle();
    void sendTask(process.client, say("more", { taskId: id })).catch(() => {});
    await clock.settle();
    const { client } = await open();
    await clock.settle();
    expect((await client.getTask({ id })).status?.state).toBe(TaskState.COMPLETED);
  });

  it("does not end each start together with others, when its code cannot bear them beside it", async () => {
    const servers = createProcesses(async function* (task) {
      atWork += 1; // takes memory
      if (atWork > 2) {
        process?.kill();
        await new Promise(() => {});
      }
      for (let turn = 0; turn < 50; turn += 1) await servers.clock.nextTurn();
      atWork -= 1;
      await task.sleep(24 * hourMs);
      yield task.complete();
    });
    const { open, clock } = servers;
    let atWork = 0;
    let process: Process | undefined = await open();
    const { client, kill } = process;
    for (let at = 0; at < 5; at += 1) {
      await sendTask(client, detached());
      await clock.advance(1_000);
    }
    kill();
    const deaths: boolean[] = [];
    for (let at = 0; at < 10; at += 1) {
      atWork = 0;
      process = undefined;
      process = await open();
      for (let second = 0; second < 200 && !process.dead; second += 1) await clock.advance(1_000);
      deaths.push(process.dead);
      process.kill();
    }
    const last = deaths.lastIndexOf(true);
    expect([deaths.length, deaths[last + 1], last < 6]).toEqual([10, false, true]);
  });

  it("is run at each start when it was told to stop, so that it ends with its grace period", async () => {
    const { open, clock, rest } = createProcesses(async function* (task) {
      try {
        await task.sleep(hourMs);
      } finally {
        await task.inbox.take(); // for longer than it may
      }
      yield task.complete();
    });
    const [id = ""] = await rest(1);
    for (let at = 0; at < 2; at += 1) {
      const { client, kill } = await open();
      if (at === 0) void client.cancelTask({ id }).catch(() => {});
      await clock.advance(at === 0 ? 100 : 5_000);
      kill();
    }
    const { client } = await open();
    await clock.advance(10_000);
    expect(endOf(await client.getTask({ id }))).toEqual([TaskState.CANCELED, "canceled"]);
  });
});

it("an executor that waits for room at a yield, beside a message that it would take, is not at rest", async () => {
  const work = (ms: number) => new Promise<void>((resolve) => void clock.schedule(ms, resolve));
  const { open, clock } = createProcesses(
    async function* (task) {
      void task.inbox.take();
      for (let at = 0; at < 4; at += 1) {
        await task.step(`work ${at}`, () => work(5_000));
        yield task.artifact({ id: `part ${at}`, text: "x".repeat(100_000), last: false });
      }
      yield task.complete();
    },
    { maxActiveBytes: 2 ** 21 }, // some 20 of the artifacts
  );
  const { client } = await open();
  const ids: string[] = [];
  for (let at = 0; at < 12; at += 1) ids.push((await sendTask(client, detached("go"))).id);
  for (let seconds = 0; seconds < 600; seconds += 1) await clock.advance(1_000);
  const states = await Promise.all(ids.map(async (id) => (await client.getTask({ id })).status?.state));
  expect(new Set(states)).toEqual(new Set([TaskState.COMPLETED]));
});

it("an executor whose sleep is over at once, beside a message that it would take, is not at rest", async () => {
  const { open, clock } = createProcesses(
    async function* (task) {
      void task.inbox.take();
      yield task.artifact({ id: "large", text: "x".repeat(1_800_000), last: false });
      await task.sleep(0);
      yield task.complete();
    },
    { maxActiveBytes: 2 ** 20 }, // one that rests leaves memory at once
  );
  const { client } = await open();
  const { id } = await sendTask(client, detached());
  await clock.advance(hourMs);
  expect(await stateOf(client, id)).toBe(TaskState.COMPLETED);
});
