import { MessageSchema, TaskState } from "@a2a-connect/proto";
import type { TaskStore } from "@a2a-connect/server";
import type { TaskKey } from "@a2a-connect/server/store";
import { create } from "@bufbuild/protobuf";
import { describe, expect } from "vitest";
import { alice, createCommit, createPushConfig } from "../task-commit.ts";
import {
  accepted,
  committed,
  everything,
  noLog,
  present,
  readDue,
  refusalOf,
  type StoreTest,
} from "./opened-store.ts";

const bob = { tenant: "acme", principal: "bob" };
const key: TaskKey = { key: "one", fingerprint: new Uint8Array([1]), generation: 0 };
const reply = create(MessageSchema, { messageId: "reply" });

/** What expires, and what stays. */
export function expirySuite(it: StoreTest): void {
  describe("expire", () => {
    it("forgets tasks in a terminal state since before the time, and no others", async (store) => {
      for (const [name, state] of Object.entries(TaskState)) {
        if (typeof state !== "number" || state === TaskState.UNSPECIFIED) continue;
        await committed(store, { taskId: `${name} early`, state, at: 999 });
        await committed(store, { taskId: `${name} late`, state, at: 1_000, owner: bob });
      }
      await expireAll(store, { finishedBefore: 1_000 });
      expect(await idsOf(store, alice)).toEqual([
        "AUTH_REQUIRED early",
        "INPUT_REQUIRED early",
        "SUBMITTED early",
        "WORKING early",
      ]);
      expect(await idsOf(store, bob)).toHaveLength(8);
    });

    it("forgets no task without a time", async (store) => {
      await committed(store, { state: TaskState.COMPLETED, at: 0 });
      await expireAll(store, { finishedBefore: undefined });
      expect(await idsOf(store, alice)).toEqual(["task-1"]);
    });

    it("takes everything of a task with it", async (store) => {
      const end = await finishTask(store, "task-1");
      await expireAll(store, {});
      expect(await tracesOf(store)).toEqual({
        find: [undefined, undefined],
        claim: undefined,
        events: [],
        entries: { entries: [], end: noLog, more: false },
        configs: undefined,
        config: undefined,
        key: undefined,
        list: [],
        due: [],
        deliveries: [],
      });
      expect(await store.commit(createCommit({ after: end }))).toEqual({ refused: "conflict", tail: noLog });
      expect(await store.putPushConfig(alice, createPushConfig("task-1", "a"))).toBe(false);
    });

    it("leaves the same id and key to a new task, which has nothing of the old one", async (store) => {
      await finishTask(store, "task-1");
      await store.expire({ finishedBefore: 5_000, now: 0, limit: 1 });
      const commit = createCommit({ text: "new", keys: [{ ...key, fingerprint: new Uint8Array([2]) }] });
      await accepted(store, commit);
      await expireAll(store, {});
      expect(await store.find(alice, "task-1", "full")).toMatchObject({
        tail: { sequence: 1, generation: 1 },
        fence: 1,
        snapshot: undefined,
        entries: commit.entries,
      });
      expect(await store.events(alice, "task-1", 0, 10)).toEqual(commit.entries);
      expect(await store.listPushConfigs(alice, "task-1", undefined, 10)).toEqual([]);
      expect((await store.findKey(alice, "one"))?.fingerprint).toEqual(new Uint8Array([2]));
    });

    it("leaves a task that is unfinished or another owner's as it was", async (store) => {
      await finishTask(store, "task-1");
      const commit = createCommit({
        taskId: "task-2",
        owner: bob,
        kinds: ["task", "artifact", "journal"],
        snapshot: true,
        pushConfigs: [createPushConfig("task-2", "a")],
        keys: [key],
      });
      const after = await accepted(store, commit);
      const before = await store.find(bob, "task-2", "full");
      await expireAll(store, {});
      expect(await store.find(bob, "task-2", "full")).toEqual(before);
      expect(await store.findKey(bob, "one")).toMatchObject({ result: { taskId: "task-2" } });
      expect(await readDue(store, 0)).toMatchObject([{ taskId: "task-2", next: 1 }]);
      await committed(store, { owner: bob, taskId: "task-2", after });
    });

    it("forgets kept Messages whose time is over, and no others", async (store) => {
      const put = (name: string, expiresAt: number) =>
        store.putReply(alice, { ...key, key: name }, reply, expiresAt);
      await put("early", 999);
      await put("late", 1_000);
      await expireAll(store, { finishedBefore: undefined, now: 1_000 });
      expect(await store.findKey(alice, "early")).toBeUndefined();
      expect(await store.findKey(alice, "late")).toBeDefined();
      expect(await put("early", 5_000)).toBe(true);
      expect(refusalOf(await store.commit(createCommit({ keys: [{ ...key, key: "late" }] })))).toBe(
        "duplicate",
      );
    });

    it("removes about as many rows as it is told to, and says whether to go on", async (store) => {
      for (let at = 0; at < 30; at += 1) await finishTask(store, `task-${at}`, `key-${at}`);
      for (let at = 0; at < 30; at += 1)
        await store.putReply(alice, { ...key, key: `reply-${at}` }, reply, 100);
      expect(await store.expire({ finishedBefore: 5_000, now: 200, limit: 10 })).toBe(true);
      expect(await idsOf(store, alice)).toHaveLength(30);
      const calls = await expireAll(store, { limit: 10, now: 200 });
      expect(calls).toBeGreaterThan(5);
      expect(calls).toBeLessThan(200);
      expect(await idsOf(store, alice)).toEqual([]);
      expect(await store.expire({ finishedBefore: 5_000, now: 200, limit: 10 })).toBe(false);
    });

    it("never shows a task without some of its log, however few rows go at once", async (store) => {
      await finishTask(store, "task-1", "key-1");
      await finishTask(store, "task-2", "key-2");
      const whole = await snapshotOf(store);
      for (let more = true; more; ) {
        more = await store.expire({ finishedBefore: 5_000, now: 0, limit: 1 });
        for (const [at, task] of (await snapshotOf(store)).entries()) {
          if (task.find !== undefined) expect(task).toEqual(whole[at]);
          else expect(task).toEqual({ find: undefined, events: [], key: undefined });
        }
      }
      expect(await idsOf(store, alice)).toEqual([]);
    });

    it("leaves the room that the tasks took to others", async (store) => {
      if (store.room === undefined) return; // nothing bounds it
      const large = (taskId: string) => {
        const state = TaskState.COMPLETED;
        return committed(store, {
          taskId,
          kinds: ["task", "artifact"],
          text: "x".repeat(300_000),
          state,
          at: 2_000,
        });
      };
      await large("task-1");
      const before = store.room();
      await large("task-2");
      const full = store.room();
      expect(full.used - before.used).toBeGreaterThanOrEqual(300_000);
      await expireAll(store, {});
      const after = store.room();
      expect(full.used - after.used).toBeGreaterThanOrEqual(600_000);
      expect(after.free).toBeGreaterThan(full.free === Number.POSITIVE_INFINITY ? 0 : full.free);
    });

    it("runs beside commits", async (store) => {
      for (let at = 0; at < 10; at += 1) await finishTask(store, `old-${at}`, `key-${at}`);
      const results = await Promise.all(
        Array.from({ length: 50 }, async (_, at) => {
          await store.expire({ finishedBefore: 5_000, now: 0, limit: 3 });
          return store.commit(createCommit({ taskId: `new-${at}`, kinds: ["task", "artifact"] }));
        }),
      );
      expect(results.map(refusalOf)).toEqual(results.map(() => undefined));
      await expireAll(store, {});
      expect(await idsOf(store, alice)).toHaveLength(50);
      expect(present(await store.find(alice, "new-7", "full")).entries).toHaveLength(2);
    });
  });
}

/** A task with rows in every table of a store, finished at 2,000. */
async function finishTask(store: TaskStore, taskId: string, name = key.key): ReturnType<typeof accepted> {
  const first = createCommit({
    taskId,
    kinds: ["task", "artifact", "input", "journal"],
    snapshot: true,
    pushConfigs: [createPushConfig(taskId, "a"), createPushConfig(taskId, "b")],
    keys: [{ ...key, key: name }],
  });
  const after = await accepted(store, first);
  const kinds = ["command", "artifact", "status"] as const;
  const state = TaskState.COMPLETED;
  return committed(store, { taskId, after, kinds, state, at: 2_000, wakeAt: 10 });
}

interface ExpireInit {
  readonly finishedBefore?: number | undefined;
  readonly now?: number;
  readonly limit?: number;
}

/** Calls until there is no more to remove; returns how many calls that took. */
async function expireAll(store: TaskStore, init: ExpireInit): Promise<number> {
  const expiry = { finishedBefore: 5_000, now: 0, limit: 100, ...init };
  let calls = 1;
  while (await store.expire(expiry)) {
    calls += 1;
    if (calls > 1_000) expect.fail("expire does not come to an end");
  }
  return calls;
}

async function idsOf(store: TaskStore, owner: typeof alice): Promise<readonly string[]> {
  const { tasks, totalSize } = await store.list({ ...everything, owner, view: "head" });
  expect(totalSize).toBe(tasks.length);
  return tasks.map(({ taskId }) => taskId).sort();
}

/** All reads of task-1. */
async function tracesOf(store: TaskStore): Promise<unknown> {
  return {
    find: [await store.find(alice, "task-1", "full"), await store.find(alice, "task-1", "head")],
    claim: await store.claim(alice, "task-1"),
    events: await store.events(alice, "task-1", 0, 10),
    entries: await store.entries(alice, "task-1", noLog, "all", 10),
    configs: await store.listPushConfigs(alice, "task-1", undefined, 10),
    config: await store.findPushConfig(alice, "task-1", "a"),
    key: await store.findKey(alice, "one"),
    list: await idsOf(store, alice),
    due: await store.due(10_000, 10),
    deliveries: await readDue(store, 10_000),
  };
}

/** All reads of task-1 and task-2. */
async function snapshotOf(store: TaskStore): Promise<readonly { readonly find: unknown }[]> {
  return Promise.all(
    [1, 2].map(async (at) => ({
      find: await store.find(alice, `task-${at}`, "full"),
      events: await store.events(alice, `task-${at}`, 0, 10),
      key: await store.findKey(alice, `key-${at}`),
    })),
  );
}
