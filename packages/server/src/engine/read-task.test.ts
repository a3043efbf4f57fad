import { json, userMessage } from "@a2a-connect/core";
import { encodeMessage } from "@a2a-connect/core/internal";
import { MessageSchema, TaskSchema } from "@a2a-connect/proto";
import { createMemoryTaskStore, type TaskStore } from "@a2a-connect/server";
import type { EntryKind, LogEntry } from "@a2a-connect/server/store";
import { alice, createCommit } from "@a2a-connect/testing";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { storedBytes } from "../store/segment.ts";
import { readTask } from "./read-task.ts";

const kib = 1024;

/** A store with one task, and what is read of it. */
async function storeWith(kinds: readonly EntryKind[], text: string) {
  const store = createMemoryTaskStore();
  await store.commit(createCommit({ kinds: ["task", ...kinds], text }));
  const pages: number[] = [];
  let turns = 0;
  const source = {
    store: {
      async entries(...args: Parameters<TaskStore["entries"]>) {
        const page = await store.entries(...args);
        pages.push(bytesOf(page.entries));
        return page;
      },
    },
    clock: {
      async nextTurn() {
        turns += 1;
      },
    },
  };
  return { store, source, pages, turns: () => turns };
}

function bytesOf(entries: readonly LogEntry[]): number {
  return entries.reduce((sum, { payload }) => sum + payload.length, 0);
}

async function find(store: TaskStore, view: "full" | "head" | "results" | "summary") {
  const stored = await store.find(alice, "task-1", view);
  if (stored === undefined) throw new Error("the task is there");
  return stored;
}

it("reads a long log in bounded pages, counts their bytes, and gives everybody a turn in between", async () => {
  const kinds = Array.from({ length: 400 }, () => "artifact" as const);
  const { store, source, pages, turns } = await storeWith(kinds, "x".repeat(32 * kib));
  const stored = await find(store, "full");
  const held: number[] = [];
  const { task, artifactBytes, grownBytes } = await readTask(source, stored, "full", (bytes) =>
    held.push(bytes),
  );
  expect(task.artifacts.map(({ parts }) => parts.length)).toEqual([400]);
  expect(Math.max(bytesOf(stored.entries), ...pages)).toBeLessThan(1100 * kib);
  const ofPages = [bytesOf(stored.entries), ...pages];
  expect(held.filter((bytes) => bytes > 10 * kib)).toEqual(ofPages);
  const ofValues = held.filter((bytes) => bytes <= 10 * kib);
  expect(ofValues.length).toBe(kinds.length + 1);
  expect(Math.min(...ofValues)).toBeGreaterThan(5 * 128);
  expect([...artifactBytes.values()]).toEqual([grownBytes - (stored.entries[0]?.payload.length ?? 0)]);
  expect(turns()).toBeGreaterThanOrEqual(Math.floor(grownBytes / (192 * kib)));
});

it("takes a turn for a few thousand names of members, which take longer than texts of as many bytes", async () => {
  const turnsFor = async (names: number, text: string) => {
    const { store, source, turns } = await storeWith([], text);
    const data = Object.fromEntries(Array.from({ length: names }, (_, at) => [`name ${at}`, 1]));
    const payload = encodeMessage(MessageSchema, userMessage([json(data)], { messageId: "m" }));
    const stored = await find(store, "full");
    const [first] = stored.entries;
    if (first === undefined) throw new Error("the task has an entry");
    const entry: LogEntry = { ...first, sequence: 2, kind: "input", payload };
    await readTask(source, { ...stored, entries: [first, entry] }, "full");
    return turns();
  };
  expect([await turnsFor(10, "x".repeat(100 * kib)), await turnsFor(5_000, "")]).toEqual([1, 2]);
});

it.each([false, true])(
  "counts what texts take in memory beyond their bytes, in a snapshot (%s) and in the log",
  async (snapshot) => {
    const countOf = async (text: string) => {
      const store = createMemoryTaskStore();
      await store.commit(createCommit({ kinds: ["task", "input", "artifact"], text, snapshot }));
      const stored = await find(store, "full");
      let counted = 0;
      const clock = { async nextTurn() {} };
      await readTask({ store, clock }, stored, "full", (bytes) => (counted += bytes));
      return { counted, bytes: storedBytes(stored) };
    };
    const latin = await countOf("x".repeat(100 * kib));
    const wide = await countOf(`\u20ac${"x".repeat(100 * kib)}`);
    expect(wide.counted - wide.bytes - (latin.counted - latin.bytes)).toBeGreaterThan(99 * kib);
  },
);

it("gives other calls their turns between thousands of small entries", async () => {
  const kinds = Array.from({ length: 4_000 }, () => "artifact" as const);
  const { store, source, turns } = await storeWith(kinds, "x");
  await readTask(source, await find(store, "full"), "full");
  expect(turns()).toBeGreaterThanOrEqual(4_000 / 256);
});

it("gives other calls their turns while it weighs thousands of small messages and artifacts of a snapshot", async () => {
  const turnsFor = async (count: number) => {
    const { store, source, turns } = await storeWith([], "");
    const stored = await find(store, "full");
    const message = userMessage("", { messageId: "m" });
    const history = Array.from({ length: count }, () => message);
    const artifacts = Array.from({ length: count }, (_, at) => ({ artifactId: `${at}` }));
    const snapshot = {
      head: toBinary(TaskSchema, create(TaskSchema, { id: "task-1", history })),
      artifacts: toBinary(TaskSchema, create(TaskSchema, { artifacts })),
    };
    const bytes = snapshot.head.length + snapshot.artifacts.length;
    await readTask(source, { ...stored, snapshot: { sequence: 1, ...snapshot } }, "full");
    return { turns: turns(), ofBytes: Math.ceil((2 * bytes) / (128 * kib)) }; // read, then decoded
  };
  const { turns, ofBytes } = await turnsFor(40_000);
  expect(turns - ofBytes).toBeGreaterThanOrEqual((2 * 40_000) / 2_100);
});

it("reads nothing of what its view leaves out", async () => {
  const kinds = Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? "artifact" : "input"));
  const { store, source, pages } = await storeWith([...kinds, "status"], "x".repeat(100 * kib));
  const { task } = await readTask(source, await find(store, "summary"), "summary");
  expect([task.artifacts, task.history, task.status?.message?.messageId]).toEqual([[], [], "status"]);
  expect(pages).toEqual([]);
  const { task: results } = await readTask(source, await find(store, "results"), "results");
  expect([results.artifacts[0]?.parts.length, results.history]).toEqual([20, []]);
  expect(pages.reduce((sum, bytes) => sum + bytes)).toBeLessThan(20 * 101 * kib);
});

it("decodes nothing more when there is no room for it", async () => {
  const kinds = Array.from({ length: 40 }, () => "artifact" as const);
  const { store, source, pages } = await storeWith(kinds, "x".repeat(100 * kib));
  let room = 2_000 * kib;
  const full = readTask(source, await find(store, "full"), "full", (bytes) => {
    room -= bytes;
    if (room < 0) throw new ConnectError("full", Code.ResourceExhausted);
  });
  await expect(full).rejects.toMatchObject({ code: Code.ResourceExhausted });
  expect(pages).toHaveLength(1);
});

it("says that there is no task when it expires while it is read", async () => {
  const kinds = Array.from({ length: 40 }, () => "artifact" as const);
  const { store, source } = await storeWith(kinds, "x".repeat(100 * kib));
  const stored = await find(store, "full");
  const gone = { ...stored, owner: { tenant: "", principal: "nobody" } };
  await expect(readTask(source, gone, "full")).rejects.toMatchObject({ code: Code.NotFound });
});
