import type { TaskStore } from "@a2a-connect/server";
import type { TaskCommit } from "@a2a-connect/server/store";
import { describe, expect } from "vitest";
import { alice, createCommit, createPushConfig } from "../task-commit.ts";
import {
  accepted,
  committed,
  everything,
  noLog,
  present,
  readLog,
  refusalOf,
  type StoreTest,
} from "./opened-store.ts";

/** What a commit writes, and which commits a store must refuse. */
export function commitSuite(it: StoreTest): void {
  describe("commit", () => {
    it("creates a task with its log, index and fence 1", async (store) => {
      const commit = createCommit({
        kinds: ["task", "input", "status", "artifact", "command", "journal"],
        wakeAt: 5_000,
      });
      expect(await store.commit(commit)).toEqual({
        tail: { sequence: 6, generation: 3 },
        deliveryDue: false,
      });
      expect(await store.find(alice, "task-1", "full")).toEqual({
        owner: alice,
        taskId: "task-1",
        index: commit.index,
        tail: { sequence: 6, generation: 3 },
        fence: 1,
        snapshot: undefined,
        entries: commit.entries.slice(0, 4),
      });
      expect(await readLog(store, alice, "task-1")).toEqual(commit.entries);
    });

    it("appends to the log and replaces the index", async (store) => {
      const first = createCommit({ wakeAt: 5_000 });
      const second = createCommit({
        after: await accepted(store, first),
        kinds: ["input", "status"],
        at: 2_000,
        contextId: "another",
      });
      expect(await accepted(store, second)).toEqual({ tail: { sequence: 3, generation: 2 }, fence: 1 });
      const task = present(await store.find(alice, "task-1", "full"));
      expect(task.entries).toEqual([...first.entries, ...second.entries]);
      expect(task.index).toEqual({ ...second.index, contextId: "another", wakeAt: undefined });
    });

    it("refuses to create a task that exists", async (store) => {
      await committed(store, { kinds: ["task", "input"] });
      await expectRefused(store, createCommit(), {
        refused: "conflict",
        tail: { sequence: 2, generation: 1 },
      });
    });

    it("refuses to create a task that exists and was claimed, as a conflict", async (store) => {
      const { tail } = await committed(store);
      await store.claim(alice, "task-1");
      await expectRefused(store, createCommit(), { refused: "conflict", tail });
    });

    for (const [what, sequence] of [
      ["an end that the log had before", 1],
      ["an end that the log does not have yet", 3],
    ] as const) {
      it(`refuses ${what}`, async (store) => {
        await committed(store, { kinds: ["task", "status"] });
        const stale = createCommit({ after: { tail: { sequence, generation: sequence }, fence: 1 } });
        await expectRefused(store, stale, { refused: "conflict", tail: { sequence: 2, generation: 2 } });
      });
    }

    it("refuses to append to a task that is missing", async (store) => {
      const commit = createCommit({ after: { tail: { sequence: 1, generation: 1 }, fence: 1 } });
      expect(await store.commit(commit)).toEqual({
        refused: "conflict",
        tail: noLog,
      });
      expect(await store.find(alice, "task-1", "full")).toBeUndefined();
    });

    for (const [what, owner] of [
      ["principal", { tenant: "", principal: "mallory" }],
      ["tenant", { tenant: "acme", principal: "alice" }],
    ] as const) {
      it(`refuses to write to the task of another ${what} as if it were missing`, async (store) => {
        const after = await committed(store);
        const missing = { refused: "conflict", tail: noLog } as const;
        await expectRefused(store, createCommit({ owner, after }), missing);
        await expectRefused(store, createCommit({ owner }), missing);
      });
    }

    it("refuses the fence of a holder that was overtaken, and takes the new one", async (store) => {
      const after = await committed(store);
      const { fence } = present(await store.claim(alice, "task-1"));
      await expectRefused(store, createCommit({ after }), { refused: "fenced", tail: after.tail });
      await expectRefused(store, createCommit({ after: { ...after, fence: fence + 1 } }), {
        refused: "fenced",
        tail: after.tail,
      });
      const next = await committed(store, { after: { ...after, fence } });
      await expectRefused(store, createCommit({ after }), { refused: "fenced", tail: next.tail });
    });

    it("stores push configs with the entries, and none of a refused commit", async (store) => {
      const first = createPushConfig("task-1", "first");
      const after = await committed(store, { pushConfigs: [first] });
      const moved = createPushConfig("task-1", "first", "https://example.com/moved");
      const second = createPushConfig("task-1", "second");
      expect(refusalOf(await store.commit(createCommit({ pushConfigs: [moved, second] })))).toBe("conflict");
      expect(await store.listPushConfigs(alice, "task-1", undefined, 10)).toEqual([first]);
      await committed(store, { after, pushConfigs: [moved, second] });
      expect(await store.listPushConfigs(alice, "task-1", undefined, 10)).toEqual([moved, second]);
    });

    it("keeps a payload of 5 MiB byte for byte", async (store) => {
      const commit = createCommit({ kinds: ["task", "artifact"], text: "ü🙂".repeat(1024 * 1024) });
      await accepted(store, commit);
      const entries = await readLog(store, alice, "task-1");
      const payloads = entries.map(({ payload }, at) =>
        Buffer.compare(payload, commit.entries[at]?.payload ?? new Uint8Array()),
      );
      expect(payloads).toEqual([0, 0]);
    });

    it("keeps a payload that is empty or a part of a larger buffer", async (store) => {
      const commit = createCommit({ kinds: ["task", "journal", "journal"] });
      const payloads = [new Uint8Array([1]), new Uint8Array(), new Uint8Array([9, 2, 3, 9]).subarray(1, 3)];
      const entries = commit.entries.map((entry, at) => ({
        ...entry,
        payload: payloads[at] ?? entry.payload,
      }));
      await accepted(store, { ...commit, entries });
      const log = await readLog(store, alice, "task-1");
      expect(log.map(({ payload }) => [...payload])).toEqual([[1], [], [2, 3]]);
    });

    for (const id of [
      "ünïcödé",
      "🙂\u{10ffff}",
      "\uffff",
      "a\u0000b",
      'it\'s "quoted"; drop table tasks --',
      "%_*?",
      " ",
    ]) {
      it(`takes ${JSON.stringify(id)} as a name of everything`, async (store) => {
        const owner = { tenant: id, principal: id };
        const config = createPushConfig(id, id);
        await committed(store, { owner, taskId: id, contextId: id, pushConfigs: [config], wakeAt: 1 });
        const task = present(await store.find(owner, id, "full"));
        expect(task).toMatchObject({ owner, taskId: id, index: { contextId: id } });
        expect(await store.findPushConfig(owner, id, id)).toEqual(config);
        expect(await store.unfinished({ hasTimer: true, after: undefined, limit: 10 })).toEqual([
          { owner, taskId: id },
        ]);
        expect(await store.due(1, 10)).toEqual([{ owner, taskId: id, wakeAt: 1 }]);
        expect(await store.list({ ...everything, owner, contextId: id, view: "head" })).toMatchObject({
          tasks: [{ taskId: id }],
          totalSize: 1,
        });
      });
    }
  });

  describe("commit, of a writer with a defect", () => {
    const whole = createCommit({ kinds: ["task", "input", "status"] });
    const [task, input, status] = whole.entries;
    if (task === undefined || input === undefined || status === undefined)
      throw new Error("the commit has three entries");
    const defects: readonly (readonly [string, TaskCommit])[] = [
      ["no entries", { ...whole, entries: [] }],
      ["a gap in the sequence", { ...whole, entries: [task, status] }],
      ["entries out of order", { ...whole, entries: [input, task] }],
      ["a gap in the generation", { ...whole, entries: [task, input, { ...status, generation: 3 }] }],
      [
        "an event without a generation",
        { ...whole, entries: [task, input, { ...status, generation: undefined }] },
      ],
      ["an input with a generation", { ...whole, entries: [task, { ...input, generation: 2 }] }],
      [
        "a snapshot that ends before the log",
        { ...whole, snapshot: { sequence: 2, head: new Uint8Array(), artifacts: undefined } },
      ],
    ];
    for (const [what, commit] of defects) {
      it(`rejects ${what} and writes nothing`, async (store) => {
        await expect(store.commit(commit)).rejects.toThrow(RangeError);
        expect(await store.find(alice, "task-1", "full")).toBeUndefined();
        await accepted(store, whole);
      });
    }
  });

  describe("commit, many at once", () => {
    it("lets one fail without the others", async (store) => {
      await committed(store, { taskId: "task-50" });
      const commits = Array.from({ length: 200 }, (_, at) => createCommit({ taskId: `task-${at}` }));
      commits[70] = { ...createCommit({ taskId: "task-70" }), entries: [] };
      const results = await Promise.allSettled(commits.map((commit) => store.commit(commit)));
      const outcomes = results.map((result) =>
        result.status === "fulfilled" ? refusalOf(result.value) : "rejected",
      );
      expect(outcomes.filter((outcome) => outcome !== undefined)).toEqual(["conflict", "rejected"]);
      expect([outcomes[50], outcomes[70]]).toEqual(["conflict", "rejected"]);
      const stored = await Promise.all(commits.map(({ taskId }) => store.find(alice, taskId, "full")));
      expect(stored.flatMap((task, at) => (task === undefined ? [at] : []))).toEqual([70]);
    });

    it("keeps the order of commits to one task", async (store) => {
      const commits = Array.from({ length: 200 }, (_, at) =>
        createCommit({ after: { tail: { sequence: at, generation: at }, fence: 1 }, text: `chunk ${at}` }),
      );
      const results = await Promise.all(commits.map((commit) => store.commit(commit)));
      expect(results.map(refusalOf)).toEqual(commits.map(() => undefined));
      const { entries } = present(await store.find(alice, "task-1", "full"));
      expect(entries).toEqual(commits.flatMap((commit) => commit.entries));
    });

    it("accepts exactly one of those that continue the same end", async (store) => {
      const after = await committed(store);
      const rivals = Array.from({ length: 20 }, (_, at) => createCommit({ after, text: `rival ${at}` }));
      const results = await Promise.all(rivals.map((commit) => store.commit(commit)));
      const winners = results.flatMap((result, at) => (refusalOf(result) === undefined ? [at] : []));
      expect(winners).toHaveLength(1);
      const { entries } = present(await store.find(alice, "task-1", "full"));
      expect(entries[1]).toEqual(rivals[winners[0] ?? -1]?.entries[0]);
    });

    it("runs a claim between the commits before and after it", async (store) => {
      const after = await committed(store);
      const before = store.commit(createCommit({ after }));
      const claim = store.claim(alice, "task-1");
      const later = store.commit(createCommit({ after: { ...after, tail: { sequence: 2, generation: 2 } } }));
      expect(refusalOf(await before)).toBeUndefined();
      expect(present(await claim).tail).toEqual({ sequence: 2, generation: 2 });
      expect(refusalOf(await later)).toBe("fenced");
    });
  });
}

/** Commits what the store must refuse, and tests that nothing has changed. */
async function expectRefused(store: TaskStore, commit: TaskCommit, refusal: unknown): Promise<void> {
  const before = await store.find(alice, commit.taskId, "full");
  expect(await store.commit(commit)).toEqual(refusal);
  expect(await store.find(alice, commit.taskId, "full")).toEqual(before);
}
