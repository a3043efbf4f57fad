import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { TaskState } from "@a2a-connect/proto";
import { describe, expect, it } from "vitest";
import { createMemoryTaskStore } from "./memory-task-store.ts";
import type { DueTimer, TaskCommit, TaskIndex } from "./task-store.ts";

function firstCommit(taskId: string, payload = new Uint8Array()): TaskCommit {
  return {
    owner: { tenant: "", principal: "alice" },
    taskId,
    expectedSequence: 0,
    fence: 1,
    entries: [{ sequence: 1, generation: 1, kind: "task", payload }],
    index: { contextId: "context", state: TaskState.WORKING, statusTimestamp: 1_000, wakeAt: undefined },
    snapshot: undefined,
    pushConfigs: [],
    keys: [],
  };
}

it("reads a page of due timers without a look at the others", async () => {
  const store = createMemoryTaskStore();
  let looks = 0;
  class CountedIndex implements TaskIndex {
    readonly contextId = "context";
    readonly state = TaskState.WORKING;
    readonly statusTimestamp = 1_000;

    get wakeAt() {
      looks += 1;
      return 2_000;
    }
  }
  for (let at = 0; at < 5_000; at += 1) {
    await store.commit({ ...firstCommit(`task-${at}`), index: new CountedIndex() });
  }
  looks = 0;
  const seen = new Set<string>();
  let page: readonly DueTimer[] = [];
  do {
    page = await store.due(2_000, 100, page.at(-1));
    for (const { taskId } of page) seen.add(taskId);
  } while (page.length > 0);
  expect(seen.size).toBe(5_000);
  expect(looks).toBeLessThan(3 * 5_000);
});

it("removes expired tasks batch by batch without a look at those that stay", async () => {
  const store = createMemoryTaskStore();
  let looks = 0;
  class CountedIndex implements TaskIndex {
    readonly contextId = "context";
    readonly statusTimestamp = 1_000;
    readonly wakeAt = undefined;
    readonly #state: TaskState;

    constructor(state: TaskState) {
      this.#state = state;
    }

    get state() {
      looks += 1;
      return this.#state;
    }
  }
  for (let at = 0; at < 5_500; at += 1) {
    const index = new CountedIndex(at < 5_000 ? TaskState.WORKING : TaskState.COMPLETED);
    await store.commit({ ...firstCommit(`task-${at}`), index });
  }
  looks = 0;
  let batches = 0;
  while (await store.expire({ finishedBefore: 2_000, now: 0, limit: 10 })) batches += 1;
  expect(batches).toBe(50);
  expect(looks).toBeLessThan(10 * 500);
});

it("weighs a task without a look at its log", async () => {
  const store = createMemoryTaskStore();
  let looks = 0;
  class CountedEntry {
    readonly kind = "artifact";
    readonly sequence: number;
    readonly generation: number;

    constructor(sequence: number) {
      this.sequence = sequence;
      this.generation = sequence;
    }

    get payload() {
      looks += 1;
      return new Uint8Array(3);
    }
  }
  const first = firstCommit("task", new Uint8Array(100));
  await store.commit(first);
  const entries = Array.from({ length: 5_000 }, (_, at) => new CountedEntry(2 + at));
  await store.commit({ ...first, expectedSequence: 1, entries });
  looks = 0;
  expect(await store.weigh(first.owner, "task")).toMatchObject({ bytes: 100 + 3 * 5_000 });
  expect(looks).toBe(0);
});

it("shares its room with the other stores of the process that have no limit of their own, until it is closed", async () => {
  const size = 2 ** 20;
  const [one, two] = [createMemoryTaskStore(), createMemoryTaskStore()];
  const own = createMemoryTaskStore({ maxBytes: 10 * size });
  const freeOf = (store: typeof one) => store.room?.().free ?? 0;
  const before = freeOf(two);
  await one.commit(firstCommit("task", new Uint8Array(size)));
  expect(before - freeOf(two)).toBeGreaterThan(size);
  expect([one.room?.().place, two.room?.().place]).toEqual(["heap", "heap"]);
  expect(own.room?.()).toEqual({ used: 0, free: 10 * size, place: undefined });
  await one.close();
  expect(freeOf(two)).toBe(before);
});

describe("its part of that room", () => {
  /** What a program prints that makes stores, and has `commit` and `collect`. In a process of its own: here V8 may collect other tests' stores. */
  async function run(program: string): Promise<readonly number[]> {
    const start = `
      import { createMemoryTaskStore } from ${JSON.stringify(new URL("./memory-task-store.ts", import.meta.url))};
      const { entries: [entry], ...first } = ${JSON.stringify(firstCommit("task"))};
      const commit = { ...first, entries: [{ ...entry, payload: new Uint8Array(2 ** 20) }] };
      const collect = async () => {
        for (let turn = 0; turn < 5; turn += 1) {
          await new Promise(setImmediate); // V8 tells what it has collected in a turn of its own
          gc();
        }
      };`;
    const args = ["--expose-gc", "--input-type=module", "--eval", start + program];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    return stdout.split(" ").map(Number);
  }

  it("stays with a copy", async () => {
    const [used, given] = await run(`
      const copy = { ...createMemoryTaskStore() };
      await copy.commit(commit);
      const before = copy.room().free;
      await collect();
      console.log(copy.room().used, copy.room().free - before);`);
    expect(used).toBeGreaterThan(2 ** 20);
    expect(given).toBe(0);
  });

  it("comes back when it is collected, but nothing of one that has a limit of its own", async () => {
    const [taken, left] = await run(`
      const { room } = createMemoryTaskStore();
      const before = room().free;
      const use = async (options) => {
        await createMemoryTaskStore(options).commit(commit);
        return before - room().free;
      };
      const taken = await use({});
      await use({ maxBytes: 2 ** 30 });
      await collect();
      console.log(taken, before - room().free);`);
    expect(taken).toBeGreaterThan(2 ** 20);
    expect(left).toBe(0);
  });
});
