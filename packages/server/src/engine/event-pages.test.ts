import { json, userMessage } from "@a2a-connect/core";
import { encodeMessage, SharedBudget } from "@a2a-connect/core/internal";
import { StreamResponseSchema, TaskSchema, TaskState } from "@a2a-connect/proto";
import { createMemoryTaskStore } from "@a2a-connect/server";
import { alice, createCommit, createFakeClock } from "@a2a-connect/testing";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import type { Owner, TaskStore } from "../store/task-store.ts";
import { EventPages } from "./event-pages.ts";
import { EventBudget } from "./events.ts";
import { TaskReaders } from "./task-readers.ts";
import { findWakes } from "./wakes.ts";

const reader = { share: "alice's" };

function budgetOf(max: number): SharedBudget {
  return new SharedBudget({ max, maxShare: 7 / 8, refuse: () => new Error("refused") });
}

/** A store with one task of many events, and what was asked of it. */
async function pagesOf(chunks: number, { textBytes = 10, budget = budgetOf(Number.MAX_SAFE_INTEGER) } = {}) {
  const store = createMemoryTaskStore();
  const kinds = Array.from({ length: chunks }, () => "artifact" as const);
  await store.commit(createCommit({ kinds: ["task", ...kinds], text: "x".repeat(textBytes) }));
  const asked: { readonly after: number; readonly limit: number }[] = [];
  const counting: Pick<TaskStore, "events"> = {
    events(owner, taskId, after, limit) {
      asked.push({ after, limit });
      return store.events(owner, taskId, after, limit);
    },
  };
  const turns: (string | undefined)[] = [];
  const pages = new EventPages(
    counting,
    budget,
    (share) => ({
      nextTurn: async () => void turns.push(share),
    }),
    findWakes(createFakeClock()).reads,
  );
  const open = (after: number, owner: Owner = alice, share = reader.share) =>
    pages.open(owner, "task-1", after, { share });
  return { pages, open, asked, turns };
}

describe("a page of old events", () => {
  it("is read once for all readers who need it at the same time", async () => {
    const { open, asked } = await pagesOf(20);
    const pages = await Promise.all(Array.from({ length: 50 }, () => open(0)));
    expect(new Set(pages.map(({ events }) => events)).size).toBe(1);
    expect(pages[0]?.events).toHaveLength(21);
    expect(asked).toHaveLength(1);
  });

  it("also gives the events after one in its middle", async () => {
    const { open, asked } = await pagesOf(20);
    await open(3);
    const { events } = await open(7);
    expect(events.map(({ generation }) => generation)).toEqual(Array.from({ length: 14 }, (_, at) => at + 8));
    expect(asked).toHaveLength(1);
    await open(2);
    expect(asked.map(({ after }) => after)).toEqual([3, 2]);
  });

  it("is read again when its last reader has released it", async () => {
    const { open, asked } = await pagesOf(20);
    const [one, other] = [await open(0), await open(0)];
    one.release();
    (await open(0)).release();
    expect(asked).toHaveLength(1);
    other.release();
    await open(0);
    expect(asked).toHaveLength(2);
  });

  it("counts once, however many have it, until it is released", async () => {
    const budget = budgetOf(30_000);
    const { open, asked } = await pagesOf(120, { textBytes: 100, budget });
    const first = await Promise.all([open(0), open(0), open(0)]);
    expect(budget.isExceeded(reader.share)).toBe(true);
    const second = await open(100);
    for (const { release } of first) release();
    second.release();
    await open(0);
    expect(asked.map(({ limit }) => limit)).toEqual([100, 1, 100]);
  });

  it("of a caller whose readers hold too much has one event, and those of other callers have many", async () => {
    const { open, asked } = await pagesOf(120, { textBytes: 100, budget: budgetOf(30_000) });
    await open(10);
    await open(0);
    await open(9, alice, "bob's");
    expect(asked.map(({ limit }) => limit)).toEqual([100, 1, 100]);
  });

  it("has nothing for another owner", async () => {
    const { open } = await pagesOf(20);
    await open(0);
    expect((await open(0, { ...alice, principal: "bob" })).events).toEqual([]);
  });

  it("has an error for each reader that waits for it, and is asked for anew after that", async () => {
    let fails = true;
    const store = createMemoryTaskStore();
    await store.commit(createCommit({ kinds: ["task", "artifact"] }));
    const broken: Pick<TaskStore, "events"> = {
      events: (...args) => (fails ? Promise.reject(new Error("the disk is gone")) : store.events(...args)),
    };
    const pages = new EventPages(
      broken,
      budgetOf(1),
      () => ({ async nextTurn() {} }),
      findWakes(createFakeClock()).reads,
    );
    const open = () => pages.open(alice, "task-1", 0, reader);
    const results = await Promise.allSettled([open(), open(), open()]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    fails = false;
    expect((await open()).events).toHaveLength(2);
  });

  it("leaves other calls their turns while large events are decoded, and counts what they take", async () => {
    const { pages, turns } = await pagesOf(20, { textBytes: 40 * 1024 });
    const context = {
      wakes: findWakes({ ticks: () => 0, async nextTurn() {} }),
      limits: { maxTailBytes: 1 },
      tailBudget: new EventBudget(1),
      eventPages: pages,
    };
    const readers = new TaskReaders(context, alice, { taskId: "task-1", contextId: "context-1" });
    readers.load(21, TaskState.COMPLETED);
    const { signal } = new AbortController();
    const events = await Array.fromAsync(readers.eventsAfter(0, signal, reader.share));
    expect(events).toHaveLength(21);
    expect(turns.length).toBeGreaterThanOrEqual((20 * 40) / 192);
    expect(new Set(turns)).toEqual(new Set([reader.share]));
    const weights = events.map(({ weight }) => weight);
    expect(Math.min(...weights)).toBeGreaterThan(40 * 1024 + 512); // with its objects
  });
});

it("pages begin in turns, and names of members take more turns than texts of as many bytes", async () => {
  const memory = createMemoryTaskStore();
  const names = Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`name ${at}`, 1]));
  const first = create(TaskSchema, {
    id: "task-1",
    history: [userMessage([json(names)], { messageId: "m" })],
  });
  const payload = encodeMessage(
    StreamResponseSchema,
    create(StreamResponseSchema, { payload: { case: "task", value: first } }),
  );
  const store: Pick<TaskStore, "events"> = {
    async events(...args) {
      const [event] = await memory.events(...args);
      return event === undefined
        ? []
        : [
            { ...event, payload },
            { ...event, generation: 2, payload },
          ];
    },
  };
  for (const taskId of ["task-1", "task-2", "task-3"]) await memory.commit(createCommit({ taskId }));
  const paced: unknown[] = [];
  const turns: unknown[] = [];
  const pages = new EventPages(
    store,
    budgetOf(2 ** 20),
    (share) => ({ nextTurn: async () => void turns.push(share) }),
    { turn: (share) => void paced.push(share) },
  );
  await Promise.all(["task-1", "task-2", "task-3"].map((id) => pages.open(alice, id, 0, { share: "one" })));
  expect([paced.length, turns.length]).toEqual([3, 6]);
});
