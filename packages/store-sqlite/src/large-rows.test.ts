import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { TaskState } from "@a2a-connect/proto";
import type { TaskStore } from "@a2a-connect/server";
import type { EntryKind, LogEntry, LogPage, LogTail } from "@a2a-connect/server/store";
import { alice, createCommit } from "@a2a-connect/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { everything } from "../test-support/everything.ts";
import { temporaryFile } from "../test-support/temporary-file.ts";
import { createSqliteTaskStore } from "./sqlite-task-store.ts";

const mebibyte = 2 ** 20;
const beginning = { sequence: 0, generation: 0 };
const messageBytes = 60 * 1024;

const reads: readonly (readonly [string, (store: TaskStore) => Promise<unknown>])[] = [
  ["a task", (store) => store.find(alice, "task-1", "summary")],
  ["a task with artifacts", (store) => store.find(alice, "task-1", "results")],
  ["a page of the log", (store) => store.entries(alice, "task-1", beginning, "summary", 5_000)],
  ["a page of events", (store) => store.events(alice, "task-1", 0, 5_000)],
  ["a list", (store) => store.list(everything)],
];

describe("reads that leave out what lies beside the statuses", () => {
  for (const [what, read] of reads) {
    it(`read a MiB or two of rows in a turn of the event loop: ${what}`, async () => {
      const store = openStore();
      for (const taskId of ["task-1", "task-2"]) await fill(store, taskId, 100, ["input", "status"]);
      const rows = countRowsPerTurn();
      await Promise.all(Array.from({ length: 4 }, () => read(store)));
      const { bytes } = await rows.end();
      expect(Math.max(...bytes)).toBeLessThanOrEqual(2.5 * mebibyte);
      expect(Math.max(...bytes)).toBeGreaterThan(messageBytes);
    });

    it(`pass some two thousand entries in a turn of the event loop: ${what}`, async () => {
      const store = openStore();
      for (const taskId of ["task-1", "task-2"]) await fill(store, taskId, 3_000, ["status"]);
      const rows = countRowsPerTurn();
      await Promise.all(Array.from({ length: 4 }, () => read(store)));
      const { counts } = await rows.end();
      expect(Math.max(...counts)).toBeLessThanOrEqual(2_100);
      expect(Math.max(...counts)).toBeGreaterThan(900);
    });
  }

  it.each<[string, (store: TaskStore) => Promise<unknown>]>([
    ["a list", (store) => store.list(everything)],
    ["reads of tasks", readEach((store, taskId) => store.find(alice, taskId, "full"))],
    ["pages of events", readEach((store, taskId) => store.events(alice, taskId, 0, 5_000))],
  ])("pass the notes of few tasks in a turn of the event loop: %s", async (_, read) => {
    const store = openStore();
    for (const taskId of tenTasks) {
      const kinds = ["task", ...Array<EntryKind>(40_000).fill("journal")] as const;
      await store.commit(createCommit({ taskId, kinds }));
    }
    let [turns, counting] = [0, true];
    const counted = (async () => {
      for (; counting; turns += 1) await nextTurn();
    })();
    await read(store);
    counting = false;
    await counted;
    expect(turns).toBeGreaterThanOrEqual(5);
  });

  for (const kinds of [
    ["input", "status"],
    ["status", "input"],
  ] as const) {
    it(`give page by page what one page would have: rows of ${kinds.join(" and ")}`, async () => {
      const store = openStore();
      const written = await fill(store, "task-1", 100, kinds);
      const { tasks } = await store.list(everything);
      const found = await store.find(alice, "task-1", "summary");
      const ofFind = [...(found?.entries ?? [])];
      if (found?.more !== undefined) ofFind.push(...(await readLog(store, found.more)));
      const events = [];
      for (let last = 0, page: readonly LogEntry[] = []; ; last += page.length) {
        page = await store.events(alice, "task-1", last, 5_000);
        if (page.length === 0) break;
        events.push(...page);
      }
      expect(tasks).toMatchObject([{ taskId: "task-1", tail: found?.tail, more: undefined }]);
      for (const entries of [tasks[0]?.entries, ofFind, await readLog(store, beginning), events]) {
        expect(entries).toEqual(written);
        const kept = new Set(entries?.map(({ payload }) => payload.buffer));
        const keptBytes = [...kept].reduce((sum, { byteLength }) => sum + byteLength, 0);
        expect(keptBytes).toBeLessThan(messageBytes); // no row is kept for its small part
      }
    });
  }

  it("end the page of a list where a share of what they read exceeds it", async () => {
    const store = openStore();
    for (const taskId of ["task-1", "task-2", "task-3"]) await fill(store, taskId, 20, ["input", "status"]);
    const pageOf = async (maxBytes: number) => {
      const rows = countRowsPerTurn();
      const { tasks, more } = await store.list({ ...everything, maxBytes });
      const { bytes } = await rows.end();
      const read = bytes.reduce((sum, each) => sum + each, 0);
      return {
        ids: tasks.map(({ taskId }) => taskId),
        more,
        isWhole: tasks.at(-1)?.more === undefined,
        read,
      };
    };
    const some = await pageOf(256 * 1024);
    expect(some).toMatchObject({ ids: ["task-3", "task-2"], more: true });
    expect(some.read).toBeLessThan(8 * 256 * 1024 + 1.2 * mebibyte);
    const all = await pageOf(mebibyte);
    expect(all).toMatchObject({ ids: ["task-3", "task-2", "task-1"], more: false, isWhole: true });
  });

  it("list a task as it was when its first entries were read, although its log grows meanwhile", async () => {
    const store = openStore();
    const written = await fill(store, "task-1", 100, ["input", "status"]);
    const listing = store.list(everything);
    const tail = { sequence: 201, generation: 101 };
    await store.commit(createCommit({ after: { tail, fence: 1 } }));
    const { tasks } = await listing;
    expect(tasks).toMatchObject([{ tail, more: undefined }]);
    expect(tasks[0]?.entries).toEqual(written);
  });

  it("do not give a task as whole that expires before all of it is listed", async () => {
    const store = openStore();
    await fill(store, "task-1", 100, ["input", "status"]);
    const after = { tail: { sequence: 201, generation: 101 }, fence: 1 };
    await store.commit(createCommit({ after, state: TaskState.COMPLETED }));
    const listing = store.list(everything);
    while (await store.expire({ finishedBefore: 5_000, now: 5_000, limit: 500 }));
    const { tasks } = await listing;
    expect(tasks[0]?.more).toBeDefined();
    expect(await store.find(alice, "task-1", "summary")).toBeUndefined();
  });

  it("list a snapshot with the end of its log, although it is replaced while another task is read", async () => {
    const store = openStore();
    const first = createCommit({ snapshot: true });
    await store.commit(first);
    const large = createCommit({
      taskId: "task-2",
      kinds: ["task", ...Array(3).fill("artifact")],
      at: 2_000,
    });
    const payload = new Uint8Array(600 * 1024);
    const entries = large.entries.map((entry) => (entry.kind === "artifact" ? { ...entry, payload } : entry));
    await store.commit({ ...large, entries });
    const listing = store.list({ ...everything, view: "full" });
    const after = { tail: { sequence: 1, generation: 1 }, fence: 1 };
    const second = createCommit({ after, snapshot: true, text: "newer" });
    await store.commit(second);
    const { tasks } = await listing;
    expect(tasks).toMatchObject([
      { taskId: "task-2", more: undefined },
      { taskId: "task-1", tail: { sequence: 2 }, snapshot: second.snapshot },
    ]);
  });
});

const tenTasks = Array.from({ length: 10 }, (_, at) => `task-${at}`);

function readEach(read: (store: TaskStore, taskId: string) => Promise<unknown>) {
  return (store: TaskStore) => Promise.all(tenTasks.map((taskId) => read(store, taskId)));
}

/** Creates a task and appends such commits to it, whose inputs are large. @returns its events */
async function fill(
  store: TaskStore,
  taskId: string,
  commits: number,
  kinds: readonly EntryKind[],
): Promise<readonly LogEntry[]> {
  const written: LogEntry[] = [];
  const commit = (after?: LogTail) => {
    const small = createCommit({ taskId, ...(after && { after: { tail: after, fence: 1 }, kinds }) });
    const entries = small.entries.map((entry) =>
      entry.kind === "input" ? { ...entry, payload: new Uint8Array(messageBytes) } : entry,
    );
    written.push(...entries.filter(({ kind }) => kind !== "input"));
    return store.commit({ ...small, entries });
  };
  const writes = [commit()];
  for (let at = 0; at < commits; at += 1)
    writes.push(commit({ sequence: 1 + at * kinds.length, generation: 1 + at }));
  for (const result of await Promise.all(writes)) expect(result).toHaveProperty("tail");
  return written;
}

async function readLog(store: TaskStore, from: LogTail): Promise<readonly LogEntry[]> {
  const entries: LogEntry[] = [];
  let page: LogPage | undefined;
  do {
    page = await store.entries(alice, "task-1", page?.end ?? from, "summary", 5_000);
    entries.push(...page.entries);
  } while (page.more);
  return entries;
}

/** Counts rows of logs that are read from now on, and their bytes, in each turn of the event loop. */
function countRowsPerTurn() {
  using database = new DatabaseSync(":memory:");
  const statement = Object.getPrototypeOf(database.prepare("select 1"));
  const iterate: (...values: unknown[]) => Iterable<object> = statement.iterate;
  const [bytes, counts] = [[0], [0]];
  const spy = vi.spyOn(statement, "iterate").mockImplementation(function* (this: unknown, ...values) {
    for (const row of iterate.apply(this, values)) {
      if ("head" in row && row.head instanceof Uint8Array) {
        bytes.push((bytes.pop() ?? 0) + row.head.length);
        counts.push((counts.pop() ?? 0) + 1);
      }
      yield row;
    }
  });
  onTestFinished(() => spy.mockRestore());
  let counting = true;
  const counted = (async () => {
    for (; counting; bytes.push(0), counts.push(0)) await nextTurn();
  })();
  const end = async () => {
    counting = false;
    await counted;
    spy.mockRestore();
    return { bytes, counts };
  };
  return { end };
}

function openStore(): TaskStore {
  const store = createSqliteTaskStore({ file: temporaryFile() });
  onTestFinished(() => store.close());
  return store;
}
