import { StreamResponseSchema, TaskSchema, TaskState } from "@a2a-connect/proto";
import type { TaskStore } from "@a2a-connect/server";
import { type EntryKind, type TaskView, type UnfinishedQuery, viewedKinds } from "@a2a-connect/server/store";
import { create, toBinary } from "@bufbuild/protobuf";
import { describe, expect } from "vitest";
import { alice, type CommitInit, createCommit, createPushConfig } from "../task-commit.ts";
import {
  accepted,
  committed,
  everything,
  noLog,
  present,
  type StoreTest,
  sequencesOf,
  strangers,
} from "./opened-store.ts";

/** Reads of single tasks, by their owner and by others. */
export function readSuite(it: StoreTest): void {
  describe("find", () => {
    it("skips the entries of artifacts in the view head", async (store) => {
      await committed(store, { kinds: ["task", "artifact", "input", "artifact", "status", "journal"] });
      const seen = async (view: TaskView) => {
        const { entries, tail } = present(await store.find(alice, "task-1", view));
        expect(tail).toEqual({ sequence: 6, generation: 4 });
        return sequencesOf(entries);
      };
      expect(await seen("full")).toEqual([1, 2, 3, 4, 5]);
      expect(await seen("head")).toEqual([1, 3, 5]);
      expect(await seen("results")).toEqual([1, 2, 4, 5]);
      expect(await seen("summary")).toEqual([1, 5]);
    });

    const sizes = [
      ["the history", 10, 10],
      ["a large history", 2 ** 20, 10],
      ["a large history, beside a large question,", 2 ** 20, 40_000],
    ] as const;
    for (const [what, historySize, questionSize] of sizes) {
      it(`cuts ${what} out of a task and of a snapshot in the views without it`, async (store) => {
        const message = (messageId: string, size: number) => ({
          messageId,
          parts: [{ content: { case: "text" as const, value: "x".repeat(size) } }],
        });
        const task = (history: readonly string[]) =>
          create(TaskSchema, {
            id: "task-1",
            history: history.map((messageId) => message(messageId, historySize)),
            status: { state: TaskState.INPUT_REQUIRED, message: message("question", questionSize) },
            metadata: { skill: "one" },
          });
        const event = (history: readonly string[]) =>
          toBinary(
            StreamResponseSchema,
            create(StreamResponseSchema, { payload: { case: "task", value: task(history) } }),
          );
        const commit = createCommit();
        const [entry] = commit.entries;
        if (entry === undefined) throw new Error("the commit has an entry");
        await accepted(store, { ...commit, entries: [{ ...entry, payload: event(["a", "b"]) }] });
        const head = toBinary(TaskSchema, task(["a", "b", "c"]));
        const after = { tail: { sequence: 1, generation: 1 }, fence: 1 };
        for (const view of ["results", "summary"] as const) {
          const { entries } = present(await store.find(alice, "task-1", view));
          expect(entries).toEqual([{ ...entry, payload: event([]) }]);
          expect((await store.entries(alice, "task-1", noLog, view, 10)).entries).toEqual(entries);
        }
        await accepted(store, {
          ...createCommit({ after }),
          snapshot: { sequence: 2, head, artifacts: new Uint8Array([1]) },
        });
        expect(present(await store.find(alice, "task-1", "head")).snapshot?.head).toEqual(head);
        const { snapshot } = present(await store.find(alice, "task-1", "summary"));
        expect(snapshot).toEqual({ sequence: 2, head: toBinary(TaskSchema, task([])), artifacts: undefined });
        const results = present(await store.find(alice, "task-1", "results"));
        expect(results.snapshot).toEqual({ ...snapshot, artifacts: new Uint8Array([1]) });
      });
    }

    it("gives a long log page by page, in every view", async (store) => {
      const kinds = ["input", "artifact", "input", "artifact", "status"] as const;
      const after = await committed(store);
      await committed(store, { after, kinds, text: "x".repeat(600 * 1024) });
      const pages = async (view: TaskView) => {
        const first = present(await store.find(alice, "task-1", view));
        const found = [sequencesOf(first.entries)];
        for (let next = first.more; next !== undefined; ) {
          const page = await store.entries(alice, "task-1", next, view, 10);
          found.push(sequencesOf(page.entries));
          next = page.more ? page.end : undefined;
        }
        return found;
      };
      expect(await pages("full")).toEqual([[1, 2, 3], [4, 5], [6]]);
      expect(await pages("head")).toEqual([[1, 2, 4], [6]]);
      expect(await pages("results")).toEqual([[1, 3, 5], [6]]);
      expect(await pages("summary")).toEqual([[1, 6]]);
    });

    it("gives all entries of a view, page by page, where large inputs lie beside them", async (store) => {
      let after = await committed(store);
      const written = [...createCommit().entries];
      for (let at = 0; at < 30; at += 1) {
        const commit = createCommit({ after, kinds: ["input", "status", "journal"] });
        const entries = commit.entries.map((entry) =>
          entry.kind === "input" ? { ...entry, payload: new Uint8Array(60 * 1024) } : entry,
        );
        after = await accepted(store, { ...commit, entries });
        written.push(...entries);
      }
      for (const view of ["full", "head", "results", "summary"] as const) {
        const kinds: readonly EntryKind[] = viewedKinds[view];
        const expected = written.filter(({ kind }) => kinds.includes(kind));
        const list = await store.list({ ...everything, view });
        for (const task of [present(await store.find(alice, "task-1", view)), present(list.tasks[0])]) {
          const found = [...task.entries];
          for (let next = task.more; next !== undefined; ) {
            const page = await store.entries(alice, "task-1", next, view, 5_000);
            found.push(...page.entries);
            next = page.more ? page.end : undefined;
          }
          expect(sequencesOf(found)).toEqual(sequencesOf(expected));
          expect(found).toEqual(expected);
        }
      }
    });

    it("gives the newest snapshot and what follows it", async (store) => {
      const first = createCommit({ kinds: ["task", "artifact"], snapshot: true });
      const second = createCommit({
        after: await accepted(store, first),
        kinds: ["input", "artifact"],
        text: "newer",
        snapshot: true,
      });
      const third = createCommit({
        after: await accepted(store, second),
        kinds: ["journal", "artifact", "status", "input"],
      });
      await accepted(store, third);
      const full = present(await store.find(alice, "task-1", "full"));
      expect(full.snapshot).toEqual(second.snapshot);
      expect(full.entries).toEqual(third.entries.slice(1));
      const head = present(await store.find(alice, "task-1", "head"));
      expect(head.snapshot).toEqual({ ...second.snapshot, artifacts: undefined });
      expect(sequencesOf(head.entries)).toEqual([7, 8]);
    });

    it("gives no entries after a snapshot that covers the log", async (store) => {
      await committed(store, { kinds: ["task", "journal"], snapshot: true });
      expect(present(await store.find(alice, "task-1", "full")).entries).toEqual([]);
    });

    for (const artifacts of [undefined, new Uint8Array()]) {
      it(`tells a snapshot ${artifacts === undefined ? "without artifacts" : "with none of them"} from the other`, async (store) => {
        const snapshot = { sequence: 1, head: new Uint8Array(), artifacts };
        await accepted(store, { ...createCommit(), snapshot });
        expect(present(await store.find(alice, "task-1", "full")).snapshot).toEqual(snapshot);
      });
    }
  });

  describe("entries", () => {
    const kinds = ["task", "input", "artifact", "artifact", "journal", "status", "command"] as const;

    it("gives the whole log in pages, for any snapshot", async (store) => {
      const commit = createCommit({ kinds, snapshot: true });
      await accepted(store, commit);
      const first = await store.entries(alice, "task-1", noLog, "all", 3);
      const second = await store.entries(alice, "task-1", first.end, "all", 3);
      const third = await store.entries(alice, "task-1", second.end, "all", 3);
      expect([first, second, third].map(({ end, more }) => ({ end, more }))).toEqual([
        { end: { sequence: 3, generation: 2 }, more: true },
        { end: { sequence: 6, generation: 4 }, more: true },
        { end: { sequence: 7, generation: 4 }, more: false },
      ]);
      expect([first, second, third].flatMap(({ entries }) => entries)).toEqual(commit.entries);
    });

    it("leaves events out of the notes, and ends where the log does", async (store) => {
      await committed(store, { kinds: [...kinds, "artifact", "artifact"] });
      const first = await store.entries(alice, "task-1", noLog, "notes", 2);
      expect(sequencesOf(first.entries)).toEqual([2, 5]);
      expect(first).toMatchObject({ end: { sequence: 5, generation: 3 }, more: true });
      const second = await store.entries(alice, "task-1", first.end, "notes", 2);
      expect(sequencesOf(second.entries)).toEqual([7]);
      expect(second).toMatchObject({ end: { sequence: 9, generation: 6 }, more: false });
      expect(second.entries[0]?.kind).toBe("command");
    });

    it("goes on after the end of a page with what was appended since, in either view", async (store) => {
      const after = await committed(store, { kinds });
      const ends = [
        (await store.entries(alice, "task-1", noLog, "notes", 10)).end,
        (await store.entries(alice, "task-1", noLog, "all", 10)).end,
      ];
      await committed(store, { after, kinds: ["journal", "artifact", "input"] });
      for (const end of ends) {
        expect(end).toEqual({ sequence: 7, generation: 4 });
        const all = await store.entries(alice, "task-1", end, "all", 10);
        expect(sequencesOf(all.entries)).toEqual([8, 9, 10]);
        const notes = await store.entries(alice, "task-1", end, "notes", 10);
        expect(sequencesOf(notes.entries)).toEqual([8, 10]);
        expect(notes).toMatchObject({ end: { sequence: 10, generation: 5 }, more: false });
      }
    });

    it("gives an empty page at the end", async (store) => {
      const { tail } = await committed(store, { kinds });
      for (const view of ["all", "notes"] as const) {
        expect(await store.entries(alice, "task-1", tail, view, 10)).toEqual({
          entries: [],
          end: tail,
          more: false,
        });
      }
    });

    for (const view of ["all", "notes"] as const) {
      it(`adds nothing to a page of ${view} that has 1 MiB, and always gets on`, async (store) => {
        const text = "x".repeat(600 * 1024);
        const after = await committed(store);
        await committed(store, { after, kinds: Array.from({ length: 5 }, () => "journal"), text });
        const start = { sequence: 1, generation: 1 };
        const first = await store.entries(alice, "task-1", start, view, 100);
        expect(sequencesOf(first.entries)).toEqual([2, 3]);
        expect(first.more).toBe(true);
        const second = await store.entries(alice, "task-1", first.end, view, 100);
        const third = await store.entries(alice, "task-1", second.end, view, 100);
        expect(sequencesOf([...second.entries, ...third.entries])).toEqual([4, 5, 6]);
        expect(third.more).toBe(false);
      });
    }
  });

  describe("claim", () => {
    it("gives the end of the log and a higher fence each time", async (store) => {
      await committed(store, { kinds: ["task", "artifact"], snapshot: true });
      const { tail } = present(await store.find(alice, "task-1", "full"));
      expect(await store.claim(alice, "task-1")).toEqual({ tail, fence: 2 });
      expect(await store.claim(alice, "task-1")).toEqual({ tail, fence: 3 });
      expect(present(await store.find(alice, "task-1", "full")).fence).toBe(3);
    });

    it("raises only the fence of its task", async (store) => {
      await committed(store);
      await committed(store, { taskId: "task-2" });
      await store.claim(alice, "task-1");
      expect(present(await store.find(alice, "task-2", "full")).fence).toBe(1);
    });
  });

  describe("a task and who asks for it (A-40)", () => {
    for (const [who, owner] of strangers) {
      it(`is not there for ${who}`, async (store) => {
        await committed(store, { pushConfigs: [createPushConfig("task-1", "config-1")] });
        expect(await answersTo(store, owner, "task-1")).toEqual(nothing);
        expect(await answersTo(store, alice, "task-2")).toEqual(nothing);
        expect(await store.weigh(alice, "task-1")).toMatchObject({ loads: 0 });
        expect(present(await store.find(alice, "task-1", "full")).fence).toBe(1);
        expect(await store.listPushConfigs(alice, "task-1", undefined, 10)).toHaveLength(1);
      });
    }
  });

  describe("unfinished", () => {
    it("pages through what is SUBMITTED or WORKING, of all owners, by principal, then by tenant, then by id", async (store) => {
      const bob = { tenant: "", principal: "bob" };
      for (const state of [
        TaskState.WORKING,
        TaskState.SUBMITTED,
        TaskState.COMPLETED,
        TaskState.FAILED,
        TaskState.CANCELED,
        TaskState.INPUT_REQUIRED,
        TaskState.REJECTED,
        TaskState.AUTH_REQUIRED,
      ]) {
        await committed(store, { taskId: `task-${state}`, state });
      }
      await committed(store, { taskId: "task-0", owner: bob, state: TaskState.WORKING });
      expect(await store.unfinished({ hasTimer: false, after: undefined, limit: 2 })).toEqual([
        { owner: alice, taskId: `task-${TaskState.SUBMITTED}` },
        { owner: alice, taskId: `task-${TaskState.WORKING}` },
      ]);
      const rest = (after: UnfinishedQuery["after"]) =>
        store.unfinished({ hasTimer: false, after, limit: 2 });
      const ofBob = { owner: bob, taskId: "task-0" };
      expect(await rest({ owner: alice, taskId: `task-${TaskState.SUBMITTED}` })).toEqual([
        { owner: alice, taskId: `task-${TaskState.WORKING}` },
        ofBob,
      ]);
      expect(await rest({ principal: alice.principal })).toEqual([ofBob]);
    });

    it("gives tasks that have a timer apart from those that have none", async (store) => {
      const idle = await committed(store, { taskId: "task-1", state: TaskState.WORKING });
      await committed(store, { taskId: "task-2", state: TaskState.WORKING, wakeAt: 200 });
      await committed(store, { taskId: "task-3", state: TaskState.SUBMITTED });
      const asleep = await committed(store, { taskId: "task-4", state: TaskState.SUBMITTED, wakeAt: 0 });
      await committed(store, { taskId: "task-5", state: TaskState.INPUT_REQUIRED, wakeAt: 100 });
      const idsOf = async (hasTimer: boolean, taskId = "") =>
        (await store.unfinished({ hasTimer, after: { owner: alice, taskId }, limit: 2 })).map(
          (task) => task.taskId,
        );
      expect(await idsOf(false)).toEqual(["task-1", "task-3"]);
      expect(await idsOf(false, "task-1")).toEqual(["task-3"]);
      expect(await idsOf(true)).toEqual(["task-2", "task-4"]);
      expect(await idsOf(true, "task-2")).toEqual(["task-4"]);
      await committed(store, { taskId: "task-1", after: idle, state: TaskState.WORKING, wakeAt: 300 });
      await committed(store, { taskId: "task-4", after: asleep, state: TaskState.WORKING });
      expect(await idsOf(false)).toEqual(["task-3", "task-4"]);
      expect(await idsOf(true)).toEqual(["task-1", "task-2"]);
    });

    it("forgets a task that has finished and finds one that works again", async (store) => {
      const withoutTimer = { hasTimer: false, after: undefined, limit: 10 };
      const asked = await committed(store, { state: TaskState.INPUT_REQUIRED });
      expect(await store.unfinished(withoutTimer)).toEqual([]);
      const working = await committed(store, { after: asked, state: TaskState.WORKING });
      expect(await store.unfinished(withoutTimer)).toEqual([{ owner: alice, taskId: "task-1" }]);
      await committed(store, { after: working, state: TaskState.COMPLETED });
      expect(await store.unfinished(withoutTimer)).toEqual([]);
    });
  });

  describe("weigh", () => {
    it("tells what a load would read, and knows the rest without it", async (store) => {
      const first = createCommit({ kinds: ["task", "artifact"], text: "before", snapshot: true });
      const after = await accepted(store, first);
      const second = createCommit({ after, kinds: ["journal", "artifact"], text: "after", wakeAt: 100 });
      const { tail } = await accepted(store, second);
      const read = present(await store.find(alice, "task-1", "full"));
      const { head, artifacts } = read.snapshot ?? expect.fail("there is a snapshot");
      const payloads = [head, artifacts ?? [], ...second.entries.map(({ payload }) => payload)];
      expect(await store.weigh(alice, "task-1")).toEqual({
        owner: alice,
        taskId: "task-1",
        index: second.index,
        tail,
        fence: 1,
        bytes: payloads.reduce((sum, { length }) => sum + length, 0),
        loads: 0,
      });
    });

    it("counts from the newest snapshot on", async (store) => {
      let after: CommitInit["after"];
      let bytes = 0;
      for (const [at, snapshot] of [false, true, false, true, false, false].entries()) {
        const state = at % 2 === 0 ? TaskState.WORKING : TaskState.INPUT_REQUIRED;
        const kinds: readonly EntryKind[] = at === 0 ? ["task", "artifact"] : ["artifact", "journal"];
        const commit = createCommit({ ...(after && { after }), kinds, state, snapshot });
        after = await accepted(store, commit);
        const { head, artifacts } = commit.snapshot ?? {};
        const added = commit.entries.reduce((sum, { payload }) => sum + payload.length, 0);
        bytes = head === undefined ? bytes + added : head.length + (artifacts?.length ?? 0);
        expect(await store.weigh(alice, "task-1")).toMatchObject({ bytes });
      }
    });

    it("has the number of loads that was noted, of this task alone, until it is forgotten", async (store) => {
      for (const taskId of ["task-1", "task-2"]) await committed(store, { taskId });
      await store.noteLoads(alice, "task-1", 2);
      await store.claim(alice, "task-1");
      expect(await store.weigh(alice, "task-1")).toMatchObject({ loads: 2, fence: 2 });
      expect(await store.weigh(alice, "task-2")).toMatchObject({ loads: 0 });
      await store.noteLoads(alice, "task-1", 0);
      expect(await store.weigh(alice, "task-1")).toMatchObject({ loads: 0 });
      await expect(store.noteLoads(alice, "task-3", 1)).resolves.toBeUndefined();
    });
  });

  describe("due", () => {
    it("gives timers up to a time, earliest first, then by id", async (store) => {
      for (const [taskId, wakeAt] of [
        ["task-1", 300],
        ["task-3", 100],
        ["task-2", 100],
        ["task-5", 301],
      ] as const) {
        await committed(store, { taskId, wakeAt });
      }
      await committed(store, { taskId: "task-4" });
      const due = (taskId: string, wakeAt: number) => ({ owner: alice, taskId, wakeAt });
      expect(await store.due(300, 10)).toEqual([due("task-2", 100), due("task-3", 100), due("task-1", 300)]);
      expect(await store.due(300, 1)).toEqual([due("task-2", 100)]);
      expect(await store.due(99, 10)).toEqual([]);
      expect(await store.due(300, 10, due("task-2", 100))).toEqual([due("task-3", 100), due("task-1", 300)]);
      expect(await store.due(300, 1, due("task-3", 100))).toEqual([due("task-1", 300)]);
      expect(await store.due(300, 10, due("task-1", 300))).toEqual([]);
    });

    it("goes on from a place without a timer, also where one was", async (store) => {
      const first = await committed(store, { taskId: "task-1", wakeAt: 100 });
      await committed(store, { taskId: "task-2", wakeAt: 100 });
      await committed(store, { taskId: "task-3", wakeAt: 200 });
      const due = (taskId: string, wakeAt: number) => ({ owner: alice, taskId, wakeAt });
      const all = [due("task-1", 100), due("task-2", 100), due("task-3", 200)];
      expect(await store.due(300, 10, due("", 100))).toEqual(all);
      expect(await store.due(300, 10, due("task-", 100))).toEqual(all);
      expect(await store.due(300, 10, due("", 101))).toEqual(all.slice(2));
      await committed(store, { taskId: "task-1", after: first });
      expect(await store.due(300, 10, due("task-1", 100))).toEqual(all.slice(1));
    });

    it("follows a timer that moves and goes", async (store) => {
      const first = await committed(store, { wakeAt: 100 });
      const moved = await committed(store, { after: first, wakeAt: 200 });
      expect(await store.due(150, 10)).toEqual([]);
      expect(await store.due(200, 10)).toHaveLength(1);
      await committed(store, { after: moved });
      expect(await store.due(1_000, 10)).toEqual([]);
    });
  });
}

const nothing = {
  find: undefined,
  claim: undefined,
  weight: undefined,
  events: [],
  entries: { entries: [], end: noLog, more: false },
  notes: { entries: [], end: { sequence: 1, generation: 1 }, more: false },
  list: [],
  put: false,
  config: undefined,
  configs: undefined,
  configIds: undefined,
  deleted: false,
};

/** The results of every method that takes an owner, for one task. */
async function answersTo(
  store: TaskStore,
  owner: typeof alice,
  taskId: string,
): Promise<typeof nothing | object> {
  await store.noteLoads(owner, taskId, 7);
  const { tasks } = await store.list({ ...everything, owner });
  return {
    find: await store.find(owner, taskId, "full"),
    claim: await store.claim(owner, taskId),
    weight: await store.weigh(owner, taskId),
    events: await store.events(owner, taskId, 0, 10),
    entries: await store.entries(owner, taskId, noLog, "all", 10),
    notes: await store.entries(owner, taskId, { sequence: 1, generation: 1 }, "notes", 10),
    list: tasks.filter((task) => task.taskId === taskId),
    put: await store.putPushConfig(owner, createPushConfig(taskId, "config-2")),
    config: await store.findPushConfig(owner, taskId, "config-1"),
    configs: await store.listPushConfigs(owner, taskId, undefined, 10),
    configIds: await store.pushConfigIds(owner, taskId, 10),
    deleted: await store.deletePushConfig(owner, taskId, "config-1"),
  };
}
