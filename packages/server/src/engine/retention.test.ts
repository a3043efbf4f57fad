import { setImmediate as nextTurn } from "node:timers/promises";
import { TaskState } from "@a2a-connect/proto";
import {
  createFakeClock,
  createPushConfig,
  createTurnCount,
  type EngineHarnessOptions,
  say,
} from "@a2a-connect/testing";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { startAgent, startScripted } from "../../test-support/agents.ts";
import { sendTask, stateOf, subscribe } from "../../test-support/tasks.ts";
import { createMemoryTaskStore } from "../store/memory-task-store.ts";
import type { Expiry, Owner, TaskCommit, TaskStore } from "../store/task-store.ts";
import { systemClock } from "./clock.ts";
import { defaultRetentionMs, Retention } from "./retention.ts";

const minute = 60_000;
const isGone = { code: Code.NotFound, rawMessage: "there is no such task" };

/** A harness whose agent completes every task with one artifact. */
async function quick(options: Partial<EngineHarnessOptions> = {}) {
  const harness = await startAgent((turn) => [turn.artifact({ name: "a", text: turn.text })], {}, options);
  const complete = async () => {
    const { id } = await sendTask(harness.client);
    await harness.clock.settle();
    return id;
  };
  return { ...harness, complete };
}

/** A retention over a store that only expires, as `answer` says. */
function lone(answer: (expiry: Expiry) => Promise<boolean>, keepMs: number | false = minute) {
  const clock = createFakeClock();
  const asked: Expiry[] = [];
  const forgotten: number[] = [];
  const log: unknown[] = [];
  const store: TaskStore = {
    ...createMemoryTaskStore(),
    expire(expiry) {
      asked.push(expiry);
      return answer(expiry);
    },
  };
  const forget = (before: number) => forgotten.push(before);
  const retention = new Retention({ store, clock, log: (record) => log.push(record), forget }, keepMs);
  return { retention, clock, asked, forgotten, log };
}

describe("a finished task", () => {
  it("is kept for 7 days and then gone for every operation", async () => {
    const { client, clock, complete } = await quick();
    const id = await complete();
    await clock.advance(minute);
    const young = await complete();
    await clock.advance(defaultRetentionMs - minute);
    expect((await client.getTask({ id })).id).toBe(id);
    await clock.advance(minute);
    for (const call of [
      () => client.getTask({ id }),
      () => client.sendMessage(say("more", { taskId: id })),
      () => client.cancelTask({ id }),
      () => subscribe(client, id).ended,
    ]) {
      await expect(call()).rejects.toMatchObject(isGone);
    }
    const { tasks, totalSize } = await client.listTasks({});
    expect([tasks.map((task) => task.id), totalSize]).toEqual([[young], 1]);
    await clock.advance(minute);
    expect((await client.listTasks({})).totalSize).toBe(0);
  }, 60_000);

  it("goes when retentionMs is over, a minute later at most", async () => {
    const { client, clock, complete } = await quick({ retentionMs: 10 * minute });
    const id = await complete();
    await clock.advance(10 * minute);
    expect((await client.getTask({ id })).id).toBe(id);
    await clock.advance(minute + 1);
    await expect(client.getTask({ id })).rejects.toMatchObject(isGone);
  });

  it("goes within seconds when it is kept for seconds", async () => {
    const { client, clock, complete } = await quick({ retentionMs: 2_000 });
    const id = await complete();
    await clock.advance(4_001);
    await expect(client.getTask({ id })).rejects.toMatchObject(isGone);
  });

  it("is kept for ever with false", async () => {
    const { client, clock, complete } = await quick({ retentionMs: false });
    const id = await complete();
    await clock.advance(30 * 24 * 60 * minute - 1);
    expect((await client.getTask({ id })).id).toBe(id);
  }, 60_000);

  it("that expired while the server was down is gone soon after the start", async () => {
    const store = createMemoryTaskStore();
    const { clock, complete, server } = await quick({ store: { ...store, close: async () => {} } });
    const id = await complete();
    await server.close();
    const later = createFakeClock(clock.now() + defaultRetentionMs + 1);
    const { client } = await quick({ store, clock: later });
    await later.advance(0);
    await expect(client.getTask({ id })).rejects.toMatchObject(isGone);
  });

  it("goes with its push configs", async () => {
    const store = createMemoryTaskStore();
    let owner: Owner = { tenant: "", principal: "" };
    const commit = (commit: TaskCommit) => {
      owner = commit.owner;
      return store.commit(commit);
    };
    const { clock, complete } = await quick({ store: { ...store, commit }, retentionMs: minute });
    const id = await complete();
    expect(await store.putPushConfig(owner, createPushConfig(id, "c"))).toBe(true);
    await clock.advance(3 * minute);
    expect(await store.findPushConfig(owner, id, "c")).toBeUndefined();
    expect(await store.listPushConfigs(owner, id, undefined, 10)).toBeUndefined();
  });
});

describe("a task that has not ended", () => {
  it("is kept, however long it works or waits", async () => {
    const { client, clock, startAsking, startTask } = await startScripted(
      { inputTimeoutMs: false, inactivityTimeoutMs: false },
      { retentionMs: minute },
    );
    const { id } = await startAsking();
    await startTask();
    await clock.advance(60 * minute);
    expect((await client.listTasks({})).totalSize).toBe(2);
    expect(await stateOf(client, id)).toBe(TaskState.INPUT_REQUIRED);
  });
});

describe("a task that expires while it is read", () => {
  async function readSlowly() {
    const harness = await startScripted({}, { retentionMs: minute, limits: { maxTailBytes: 1 } });
    const { client, clock, script } = harness;
    const stream = client.sendStreamingMessage(say("go"))[Symbol.asyncIterator]();
    const first = stream.next();
    const { turn, yields, returns } = await script.nextTurn();
    for (let at = 0; at < 300; at += 1) await yields(turn.append("a", `${at}`));
    await first;
    returns();
    await clock.settle();
    return { ...harness, id: turn.taskId, stream };
  }

  it("ends the stream of a reader that is behind with TASK_NOT_FOUND, and is gone for everybody else", async () => {
    const { client, clock, stream, id } = await readSlowly();
    expect(await stateOf(client, id)).toBe(TaskState.COMPLETED);
    await clock.advance(3 * minute);
    await expect(client.getTask({ id })).rejects.toMatchObject(isGone);
    const readOn = async () => {
      for (let step = await stream.next(); step.done !== true; step = await stream.next());
    };
    await expect(readOn()).rejects.toMatchObject(isGone);
  });

  it("ends the stream of a reader that has all events as if nothing had been", async () => {
    const { clock, stream } = await readSlowly();
    let last = await stream.next();
    while (last.done !== true && last.value.payload.case !== "statusUpdate") last = await stream.next();
    await clock.advance(3 * minute);
    expect(await stream.next()).toMatchObject({ done: true });
  });
});

describe("the sweep", () => {
  it("works in batches, between which everybody else has a turn, and tells what is gone when all is", async () => {
    let batches = 0;
    let turns = 0;
    const turnsAt: number[] = [];
    const { retention, clock, asked, forgotten } = lone(async () => {
      turnsAt.push(turns);
      batches += 1;
      return batches < 4;
    });
    let counting = true;
    const count = async () => {
      for (; counting; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    };
    const counted = count();
    const start = clock.now();
    retention.start();
    await clock.advance(0);
    counting = false;
    await counted;
    expect(new Set(turnsAt).size).toBe(4);
    expect(asked).toEqual(
      Array.from({ length: 4 }, () => ({ finishedBefore: start - minute, now: start, limit: 500, maxMs: 5 })),
    );
    expect(forgotten).toEqual([start - minute]);
    await retention.close();
  });

  it("takes turns with those of other agents: one batch of all of them in a turn", async () => {
    const removed = createTurnCount();
    const sweeps = Array.from({ length: 8 }, () => {
      let batches = 0;
      const store: TaskStore = {
        ...createMemoryTaskStore(),
        async expire() {
          removed.count();
          batches += 1;
          return batches < 4;
        },
      };
      return new Retention({ store, clock: systemClock, log: () => {}, forget: () => {} }, minute);
    });
    for (const sweep of sweeps) sweep.start();
    await expect.poll(() => removed.total).toBe(32);
    expect(removed.mostInATurn).toBeLessThanOrEqual(2); // the count may begin in the middle of a turn
    await Promise.all(sweeps.map((sweep) => sweep.close()));
  });

  it("has a batch in each turn, also when the store needs all of one", async () => {
    const allBatches = 50;
    let batches = 0;
    const store: TaskStore = {
      ...createMemoryTaskStore(),
      async expire() {
        await nextTurn();
        batches += 1;
        return batches < allBatches;
      },
    };
    const retention = new Retention({ store, clock: systemClock, log: () => {}, forget: () => {} }, minute);
    retention.start();
    while (batches === 0) await nextTurn();
    let turns = 0;
    for (; batches < allBatches; turns += 1) await nextTurn();
    expect(turns).toBeLessThan(allBatches * 1.5);
    await retention.close();
  });

  it("may take a part of a turn where turns are long, up to 20 ms", async () => {
    const clock = createFakeClock();
    let ticks = 0;
    const turnsMs = [4, 40, 60, 10_000, 4, 4];
    const asked: (number | undefined)[] = [];
    const store: TaskStore = {
      ...createMemoryTaskStore(),
      async expire({ maxMs }) {
        ticks += turnsMs[asked.length] ?? 0;
        asked.push(maxMs);
        return asked.length < turnsMs.length;
      },
    };
    const timed = { ...clock, ticks: () => ticks };
    const retention = new Retention({ store, clock: timed, log: () => {}, forget: () => {} }, minute);
    retention.start();
    await clock.advance(0);
    expect(asked).toEqual([5, 5, 10, 15, 20, 5]);
    await retention.close();
  });

  it("asks for kept Messages only when tasks are kept for ever", async () => {
    const { retention, clock, asked, forgotten } = lone(async () => false, false);
    const start = clock.now();
    retention.start();
    await clock.advance(0);
    await clock.advance(minute);
    expect(asked).toEqual([
      { finishedBefore: undefined, now: start, limit: 500, maxMs: 5 },
      { finishedBefore: undefined, now: start + minute, limit: 500, maxMs: 5 },
    ]);
    expect(forgotten).toEqual([]);
    await retention.close();
  });

  it("logs a failure and tries again a minute later", async () => {
    const failure = new ConnectError("disk full", Code.Unavailable);
    let failing = true;
    const { retention, clock, asked, forgotten, log } = lone(async () => {
      if (failing) throw failure;
      return false;
    });
    retention.start();
    await clock.advance(0);
    expect(log).toEqual([
      { level: "error", message: "expired data could not be removed; trying again", error: failure },
    ]);
    failing = false;
    await clock.advance(minute);
    expect([asked.length, forgotten.length, log.length]).toEqual([2, 1, 1]);
    await retention.close();
  });

  it("stops between two batches when the server closes, and is not begun again", async () => {
    const held = Promise.withResolvers<boolean>();
    const { retention, clock, asked, forgotten, log } = lone(() => held.promise);
    retention.start();
    await clock.advance(0);
    const closing = retention.close();
    let closed = false;
    void closing.then(() => {
      closed = true;
    });
    await clock.settle();
    expect(closed).toBe(false);
    held.resolve(true);
    await closing;
    await clock.advance(10 * minute);
    expect([asked.length, forgotten, log]).toEqual([1, [], []]);
  });

  it("is no reason for the process to stay", async () => {
    const { retention, clock } = lone(async () => false);
    retention.start();
    await clock.advance(0);
    expect(clock.alarms).toBe(0);
    await retention.close();
  });

  for (const keepMs of [-1, Number.NaN]) {
    it(`does not take ${keepMs} for a length of time`, () => {
      expect(() => lone(async () => false, keepMs)).toThrow(
        "retentionMs is a number of milliseconds or false",
      );
    });
  }
});
