import { TaskState } from "@a2a-connect/proto";
import type { TaskStore } from "@a2a-connect/server";
import type { TaskPage, TaskQuery } from "@a2a-connect/server/store";
import { describe, expect } from "vitest";
import { alice, type CommitInit, createCommit } from "../task-commit.ts";
import { accepted, committed, everything, type StoreTest, sequencesOf } from "./opened-store.ts";

/** Filters, order and pages of lists. */
export function listSuite(it: StoreTest): void {
  describe("list", () => {
    it("is empty for an owner without tasks", async (store) => {
      expect(await store.list(everything)).toEqual({ tasks: [], totalSize: 0, more: false });
    });

    it("orders by status timestamp, then by task id, both descending (A-41)", async (store) => {
      await fill(store, [
        { taskId: "b", at: 2_000 },
        { taskId: "a", at: 2_000 },
        { taskId: "\u{1f642}", at: 2_000 },
        { taskId: "\uffff", at: 2_000 },
        { taskId: "B", at: 2_000 },
        { taskId: "old", at: -1 },
        { taskId: "new", at: 3_000 },
      ]);
      expect(idsOf(await store.list(everything))).toEqual([
        "new",
        "\u{1f642}",
        "\uffff",
        "b",
        "a",
        "B",
        "old",
      ]);
    });

    it("moves a task whose status changes", async (store) => {
      await fill(store, [
        { taskId: "a", at: 1_000 },
        { taskId: "b", at: 2_000 },
      ]);
      const after = { tail: { sequence: 1, generation: 1 }, fence: 1 };
      await committed(store, { taskId: "a", after, at: 3_000 });
      expect(idsOf(await store.list(everything))).toEqual(["a", "b"]);
    });

    const tasks: readonly CommitInit[] = [
      { taskId: "1", at: 1_000, contextId: "x", state: TaskState.WORKING },
      { taskId: "2", at: 2_000, contextId: "x", state: TaskState.COMPLETED },
      { taskId: "3", at: 3_000, contextId: "y", state: TaskState.WORKING },
      { taskId: "4", at: 4_000, contextId: "x", state: TaskState.WORKING },
      { taskId: "5", at: 5_000, contextId: "", state: TaskState.FAILED },
    ];
    const filters: readonly (readonly [string, Partial<TaskQuery>, readonly string[]])[] = [
      ["a context", { contextId: "x" }, ["4", "2", "1"]],
      ["the empty context", { contextId: "" }, ["5"]],
      ["an unknown context", { contextId: "z" }, []],
      ["a state", { state: TaskState.WORKING }, ["4", "3", "1"]],
      ["a state that no task has", { state: TaskState.CANCELED }, []],
      ["a time, inclusively", { since: 3_000 }, ["5", "4", "3"]],
      ["the time after", { since: 3_001 }, ["5", "4"]],
      ["a context and a state", { contextId: "x", state: TaskState.WORKING }, ["4", "1"]],
      ["a context and a time", { contextId: "x", since: 2_000 }, ["4", "2"]],
      ["a state and a time", { state: TaskState.WORKING, since: 2_000 }, ["4", "3"]],
      ["all three", { contextId: "x", state: TaskState.WORKING, since: 2_000 }, ["4"]],
    ];
    for (const [what, filter, want] of filters) {
      it(`filters by ${what} (A-45) and counts all matches on every page (A-43)`, async (store) => {
        await fill(store, tasks);
        expect(await readPages(store, { ...everything, ...filter })).toMatchObject({
          ids: want,
          totals: [want.length],
        });
        const small = await readPages(store, { ...everything, ...filter, limit: 1 });
        expect(small).toMatchObject({
          ids: want,
          totals: Array.from({ length: Math.max(1, want.length) }, () => want.length),
        });
      });
    }

    for (const limit of [1, 2, 3, 7, 10, 11]) {
      it(`reads all of ten tasks once, ties included, in pages of ${limit} (A-42)`, async (store) => {
        await fill(
          store,
          Array.from({ length: 10 }, (_, at) => ({ taskId: `${at}`, at: Math.floor(at / 4) })),
        );
        const { ids } = await readPages(store, { ...everything, limit });
        expect(ids).toEqual(["9", "8", "7", "6", "5", "4", "3", "2", "1", "0"]);
      });
    }

    it("goes on after a task that has moved since", async (store) => {
      await fill(store, tasks);
      const { tasks: first } = await store.list({ ...everything, limit: 2 });
      const last = first[1];
      await committed(store, {
        taskId: "4",
        after: { tail: { sequence: 1, generation: 1 }, fence: 1 },
        at: 9_000,
      });
      const cursor = { taskId: last?.taskId ?? "", statusTimestamp: last?.index.statusTimestamp ?? 0 };
      expect(idsOf(await store.list({ ...everything, after: cursor }))).toEqual(["3", "2", "1"]);
    });

    it("ends a page with the task that brings it over its bytes, and goes on after that", async (store) => {
      const text = "x".repeat(1_000);
      await fill(
        store,
        Array.from({ length: 5 }, (_, at) => ({ taskId: `${at}`, at, kinds: ["task", "artifact"], text })),
      );
      const sizesOf = async (query: Partial<TaskQuery>): Promise<readonly number[]> => {
        const { ids, totals, sizes } = await readPages(store, { ...everything, ...query });
        expect(ids).toEqual(["4", "3", "2", "1", "0"]);
        expect(new Set(totals)).toEqual(new Set([5]));
        return sizes;
      };
      expect(await sizesOf({ maxBytes: 1 })).toEqual([1, 1, 1, 1, 1]);
      expect(await sizesOf({ maxBytes: 3_000 })).toEqual([2, 2, 1]);
      expect(await sizesOf({ maxBytes: 3_000, view: "head" })).toEqual([3, 2]);
      expect(await sizesOf({ maxBytes: 3_000, limit: 1 })).toEqual([1, 1, 1, 1, 1]);
    });

    it("ends a page with a task whose log does not fit into it", async (store) => {
      await fill(store, [{ taskId: "a" }, { taskId: "b" }]);
      const large = { tail: { sequence: 1, generation: 1 }, fence: 1 };
      const kinds = ["artifact", "artifact", "artifact"] as const;
      await committed(store, { taskId: "b", after: large, kinds, text: "x".repeat(600 * 1024) });
      const query = { ...everything, maxBytes: 2 ** 20 };
      const { tasks: page, more, totalSize } = await store.list(query);
      expect({ ids: page.map(({ taskId }) => taskId), more, totalSize }).toEqual({
        ids: ["b"],
        more: true,
        totalSize: 2,
      });
      expect(page[0]?.more).toEqual({ sequence: 3, generation: 3 });
      expect(idsOf(await store.list({ ...query, view: "head" }))).toEqual(["b", "a"]);
    });

    it("gives each task as find does, in every view", async (store) => {
      await fill(store, [{ taskId: "a", kinds: ["task", "artifact", "status"], snapshot: true }]);
      const after = { tail: { sequence: 3, generation: 3 }, fence: 1 };
      await committed(store, { taskId: "a", after, kinds: ["artifact", "status"] });
      for (const view of ["full", "head", "results", "summary"] as const) {
        expect((await store.list({ ...everything, view })).tasks).toEqual([
          await store.find(alice, "a", view),
        ]);
      }
      const { tasks: heads } = await store.list({ ...everything, view: "head" });
      expect(heads.flatMap(({ entries }) => sequencesOf(entries))).toEqual([5]);
    });
  });

  describe("events", () => {
    it("gives the events after a generation and nothing else", async (store) => {
      const commit = createCommit({
        kinds: ["task", "input", "command", "status", "journal", "artifact", "journal"],
      });
      await accepted(store, commit);
      const events = commit.entries.filter(({ generation }) => generation !== undefined);
      for (const after of [0, 1, 2, 3, 4]) {
        expect(await store.events(alice, "task-1", after, 10)).toEqual(events.slice(after));
      }
    });

    it("still gives the events that a snapshot covers", async (store) => {
      await committed(store, { kinds: ["task", "status", "artifact"], snapshot: true });
      expect(sequencesOf(await store.events(alice, "task-1", 0, 10))).toEqual([1, 2, 3]);
    });

    it("gives at most as many as the limit", async (store) => {
      await committed(store, { kinds: ["task", "status", "status", "status"] });
      expect(sequencesOf(await store.events(alice, "task-1", 1, 2))).toEqual([2, 3]);
    });

    it("adds nothing to a page of more than 1 MiB, and gives at least one event", async (store) => {
      const kinds = Array.from({ length: 6 }, () => "artifact" as const);
      const after = await committed(store, { kinds: ["task", ...kinds], text: "x".repeat(400 * 1024) });
      expect(sequencesOf(await store.events(alice, "task-1", 1, 100))).toEqual([2, 3, 4]);
      expect(sequencesOf(await store.events(alice, "task-1", 4, 100))).toEqual([5, 6, 7]);
      await committed(store, { after, kinds: ["artifact", "artifact"], text: "x".repeat(2 * 1024 * 1024) });
      expect(sequencesOf(await store.events(alice, "task-1", 7, 100))).toEqual([8]);
    });
  });
}

async function fill(store: TaskStore, inits: readonly CommitInit[]): Promise<void> {
  for (const init of inits) await committed(store, init);
}

function idsOf({ tasks }: TaskPage): readonly string[] {
  return tasks.map(({ taskId }) => taskId);
}

async function readPages(
  store: TaskStore,
  query: TaskQuery,
): Promise<{ ids: readonly string[]; totals: readonly number[]; sizes: readonly number[] }> {
  const ids: string[] = [];
  const totals: number[] = [];
  const sizes: number[] = [];
  for (let { after } = query; ; ) {
    const page = await store.list({ ...query, after });
    expect(page.tasks.length).toBeLessThanOrEqual(query.limit);
    ids.push(...idsOf(page));
    totals.push(page.totalSize);
    sizes.push(page.tasks.length);
    const last = page.tasks.at(-1);
    if (!page.more || last === undefined) return { ids, totals, sizes };
    after = { taskId: last.taskId, statusTimestamp: last.index.statusTimestamp };
  }
}
