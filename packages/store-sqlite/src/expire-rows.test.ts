import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { MessageSchema, TaskState } from "@a2a-connect/proto";
import type { TaskStore } from "@a2a-connect/server";
import type { EntryKind, Expiry } from "@a2a-connect/server/store";
import { alice, createCommit, createPushConfig } from "@a2a-connect/testing";
import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { describe, expect, it, onTestFinished } from "vitest";
import { startStore } from "../test-support/store-child.ts";
import { temporaryFile } from "../test-support/temporary-file.ts";
import { createSqliteTaskStore } from "./sqlite-task-store.ts";

const everything = { finishedBefore: 5_000, now: 5_000 };
const noRows = {
  tasks: 0,
  segments: 0,
  snapshots: 0,
  push_configs: 0,
  deliveries: 0,
  keys: 0,
  doomed: 0,
  pieces: 0,
};

describe("expire in a file", () => {
  it("leaves no row of what has expired behind", async () => {
    const file = temporaryFile();
    const store = createSqliteTaskStore({ file });
    for (let at = 0; at < 5; at += 1) await writeTask(store, `task-${at}`);
    await store.putReply(alice, createKey("reply"), create(MessageSchema, { messageId: "reply" }), 10);
    await expireAll(store, 7);
    await store.close();
    expect(countRows(file)).toEqual(noRows);
  });

  it("goes on where it was when the store is opened again", async () => {
    const file = temporaryFile();
    const first = createSqliteTaskStore({ file });
    await writeTask(first, "task-1");
    expect(await first.expire({ ...everything, limit: 3 })).toBe(true);
    await first.close();
    expect(countRows(file)).toMatchObject({ tasks: 0, doomed: 1, segments: 5, snapshots: 1 });
    const second = createSqliteTaskStore({ file });
    // The number of the doomed task was the highest: a new task must not get its entries.
    const commit = createCommit();
    await second.commit(commit);
    expect((await second.find(alice, "task-1", "full"))?.entries).toEqual(commit.entries);
    expect(await expireAll(second, 1_000)).toBe(1);
    expect(await second.events(alice, "task-1", 0, 10)).toEqual(commit.entries);
    await second.close();
    expect(countRows(file)).toEqual({ ...noRows, tasks: 1, segments: 1 });
  });

  it("removes a large task in many small steps, and a small one with large entries in several", async () => {
    const store = openStore();
    const chunks = 2_000;
    const end = await writeTask(store, "task-1", chunks);
    expect(end.sequence).toBe(chunks);
    expect(await expireAll(store, 20)).toBeGreaterThanOrEqual(chunks / 200);
    await writeTask(store, "task-2", 10, "x".repeat(256 * 1024));
    expect(await expireAll(store, 20)).toBeGreaterThan(5);
  });

  it("removes many webhooks in several steps, more of them when they are large", async () => {
    const file = temporaryFile();
    const store = createSqliteTaskStore({ file });
    const calls: number[] = [];
    for (const bytes of [100, 64 * 1024]) {
      const taskId = `task-${bytes}`;
      const pushConfigs = Array.from({ length: 100 }, (_, at) => ({
        ...createPushConfig(taskId, `${at}`),
        token: "x".repeat(bytes),
      }));
      await store.commit(createCommit({ taskId, state: TaskState.COMPLETED, pushConfigs }));
      calls.push(await expireAll(store, 20));
    }
    await store.close();
    expect(calls).toEqual([6, 26]);
    expect(countRows(file)).toEqual(noRows);
  });

  it("ends when its time is over: between two tasks, in a large one, and between kept Messages", async () => {
    let ticks = 0;
    const now = () => ticks++; // each look takes a millisecond
    const store = createSqliteTaskStore({ file: temporaryFile(), now });
    onTestFinished(() => store.close());
    const most = { limit: 1e6, maxMs: 5 };
    for (let at = 0; at < 50; at += 1) await writeTask(store, `task-${at}`, 1);
    expect(await expireAll(store, most)).toBe(13); // a look at the kept Messages and 4 tasks each
    await writeTask(store, "large", 20_000);
    expect(await expireAll(store, most)).toBeGreaterThan(3);
    for (let at = 0; at < 2_000; at += 1) {
      await store.putReply(alice, createKey(`${at}`), create(MessageSchema, { messageId: "reply" }), 10);
    }
    expect(await expireAll(store, most)).toBe(5);
  });

  it("leaves a file that does not grow under a steady load", { timeout: 60_000 }, async () => {
    const file = temporaryFile();
    await live(file, 0, 15);
    const warm = statSync(file).size;
    await live(file, 15, 75);
    expect(warm).toBeGreaterThan(256 * 1024);
    expect(statSync(file).size).toBeLessThanOrEqual(warm * 1.05);
  });

  it("makes room in a file that is full", async () => {
    const store = openStore(512 * 1024);
    let count = 0;
    for (let full = false; !full; count += 1) {
      full = await writeTask(store, `task-${count}`).then(
        () => false,
        () => true,
      );
    }
    expect(count).toBeGreaterThan(10);
    await expireAll(store, 50);
    for (let at = 0; at < count / 2; at += 1) await writeTask(store, `again-${at}`);
  });

  it.each([27, 77, 94])("may use a page more of a full file, where an index needs one (%i)", async (seed) => {
    let state = seed;
    const below = (end: number) => {
      state = (state * 48_271) % 2_147_483_647;
      return state % end;
    };
    const store = openStore(300_000);
    for (let refused = 0, at = 0; refused < 60; at += 1) {
      const owner = { tenant: "", principal: `${below(50)}`.padEnd(below(700), "x") };
      const taskId = `${at}`.padEnd(below(400), "y");
      const commit = createCommit({ taskId, state: TaskState.COMPLETED, at: below(90) });
      await store.commit({ ...commit, owner }).catch(() => {
        refused += 1;
      });
    }
    expect(await expireAll(store, 500)).toBeGreaterThan(0);
  });

  it("goes on without the writes beside it that the full file cannot take", async () => {
    const store = openStore(512 * 1024);
    await writeTask(store, "expired");
    const large = createCommit({
      taskId: "large",
      kinds: ["task", "artifact"],
      text: "x".repeat(400 * 1024),
    });
    const [removed, refused] = await Promise.allSettled([
      store.expire({ ...everything, limit: 200 }),
      store.commit(large),
    ]);
    expect(removed).toEqual({ status: "fulfilled", value: false });
    expect(refused).toMatchObject({ status: "rejected", reason: { code: Code.Unavailable } });
    expect(await store.find(alice, "expired", "full")).toBeUndefined();
  });

  it("loses nothing but whole tasks when it is killed in the middle", { timeout: 60_000 }, async () => {
    const file = temporaryFile();
    const child = startStore(
      { file },
      `
      const configs = (taskId) => [createPushConfig(taskId, "a")];
      for (let at = 0; at < 200; at += 1) {
        const taskId = "task-" + at;
        const keys = [{ key: taskId, fingerprint: new Uint8Array([1]), generation: 0 }];
        const kinds = ["task", ...Array.from({ length: 30 }, () => "artifact")];
        await store.commit(createCommit({ taskId, kinds, keys, state: ${TaskState.COMPLETED}, at, pushConfigs: configs(taskId) }));
      }
      while (await store.expire({ finishedBefore: 100, now: 0, limit: 3 })) console.log("expired");
      await new Promise((resolve) => setTimeout(resolve, 60_000));
      `,
    );
    await child.printed(100);
    child.kill();
    await child.ended;
    const store = createSqliteTaskStore({ file });
    let there = 0;
    for (let at = 0; at < 200; at += 1) {
      const taskId = `task-${at}`;
      const task = await store.find(alice, taskId, "full");
      const isThere = task !== undefined;
      there += isThere ? 1 : 0;
      expect(isThere || at < 100).toBe(true);
      expect((await store.events(alice, taskId, 0, 100)).length).toBe(isThere ? 31 : 0);
      expect(await store.listPushConfigs(alice, taskId, undefined, 10)).toEqual(
        isThere ? [createPushConfig(taskId, "a")] : undefined,
      );
      expect((await store.findKey(alice, taskId)) !== undefined).toBe(isThere);
    }
    expect(there).toBeLessThan(200);
    await expireAll(store, 1_000);
    await store.close();
    expect(countRows(file)).toEqual(noRows);
    using database = new DatabaseSync(file);
    expect({ ...database.prepare("pragma integrity_check").get() }).toEqual({ integrity_check: "ok" });
  });
});

function openStore(maxFileBytes?: number): TaskStore {
  const store = createSqliteTaskStore({ file: temporaryFile(), maxFileBytes });
  onTestFinished(() => store.close());
  return store;
}

/** Writes tasks round after round and lets those of the round before expire, beside one that stays. */
async function live(file: string, from: number, to: number): Promise<void> {
  const store = createSqliteTaskStore({ file });
  if (from === 0) await store.commit(createCommit({ taskId: "stays" }));
  for (let round = from; round < to; round += 1) {
    const tasks = Array.from({ length: 20 }, (_, at) =>
      writeTask(store, `task-${round}-${at}`, 50, "x".repeat(200), round),
    );
    const finishedBefore = round;
    while (await store.expire({ finishedBefore, now: 0, limit: 500 }));
    await Promise.all(tasks);
  }
  await store.close();
}

/** A finished task with a log of about `length` entries, in commits of up to ten, and a row in every table. */
async function writeTask(
  store: TaskStore,
  taskId: string,
  length = 60,
  text = "x".repeat(500),
  at = 1_000,
): Promise<{ readonly sequence: number }> {
  let tail = { sequence: 0, generation: 0 };
  while (tail.sequence < length) {
    const isFirst = tail.sequence === 0;
    const count = Math.min(10, length - tail.sequence - (isFirst ? 1 : 0));
    const chunks = Array.from(
      { length: count },
      (_, nth): EntryKind => (nth % 10 === 9 ? "journal" : "artifact"),
    );
    const result = await store.commit(
      createCommit({
        taskId,
        after: { tail, fence: 1 },
        kinds: isFirst ? ["task", ...chunks] : chunks,
        state: TaskState.COMPLETED,
        at,
        text,
        snapshot: true,
        pushConfigs: isFirst ? [createPushConfig(taskId, "a")] : [],
        keys: isFirst ? [createKey(taskId)] : [],
      }),
    );
    if ("refused" in result) throw new Error(`the commit was refused: ${result.refused}`);
    tail = result.tail;
  }
  return tail;
}

function createKey(key: string): { key: string; fingerprint: Uint8Array; generation: number } {
  return { key, fingerprint: new Uint8Array(32), generation: 0 };
}

/** Calls until there is no more to do; returns how many calls that took. @param most of a call: rows, or more than that */
async function expireAll(store: TaskStore, most: number | Pick<Expiry, "limit" | "maxMs">): Promise<number> {
  const bounds = typeof most === "number" ? { limit: most } : most;
  let calls = 1;
  while (await store.expire({ ...everything, ...bounds })) calls += 1;
  return calls;
}

/** Rows of each table of a file that is closed. */
function countRows(file: string): Record<string, number> {
  using database = new DatabaseSync(file);
  return Object.fromEntries(
    Object.keys(noRows).map((table) => [
      table,
      Number(database.prepare(`select count(*) as count from ${table}`).get()?.["count"]),
    ]),
  );
}
