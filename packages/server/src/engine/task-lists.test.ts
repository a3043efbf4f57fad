import { createMemoryTaskStore } from "@a2a-connect/server";
import { alice, createCommit } from "@a2a-connect/testing";
import { expect, it } from "vitest";
import { maxKeptTasks, TaskLists } from "./task-lists.ts";

const everyTask = {
  owner: alice,
  contextId: undefined,
  state: undefined,
  since: undefined,
  after: undefined,
  limit: 100,
  maxBytes: 4 * 1024 * 1024,
};

it("keeps a small task for the next list, and none with a large message of WORKING", async () => {
  const store = createMemoryTaskStore();
  const texts = { small: "Searching.", large: "x".repeat(20 * 1024) };
  for (const [taskId, text] of Object.entries(texts)) {
    await store.commit(createCommit({ taskId }));
    const after = { tail: { sequence: 1, generation: 1 }, fence: 1 };
    await store.commit(createCommit({ taskId, after, text }));
  }
  let known: string[] = [];
  const list: typeof store.list = async (query) => {
    const page = await store.list(query);
    known = page.tasks.flatMap(({ taskId, tail }) => (query.isKnown?.(taskId, tail) ? taskId : []));
    return page;
  };
  const clock = { async nextTurn() {} };
  const lists = new TaskLists({ store: { ...store, list }, log: () => {} }, () => ({ store, clock }));
  for (const view of ["summary", "results", "full"] as const) {
    await lists.page({ ...everyTask, view }, undefined, () => {});
    expect(known).toEqual([]);
    await lists.page({ ...everyTask, view }, undefined, () => {});
    expect(known).toEqual(["small"]);
  }
});

it("keeps so many tasks for all agents together", async () => {
  const clock = { async nextTurn() {} };
  /** Another agent's tasks, and how many of a list its server knows. */
  async function agentWith(tasks: number) {
    const store = createMemoryTaskStore();
    for (let at = 0; at < tasks; at += 1) await store.commit(createCommit({ taskId: `task-${at}` }));
    let known = 0;
    const list: typeof store.list = async (query) => {
      const page = await store.list(query);
      known = page.tasks.filter(({ taskId, tail }) => query.isKnown?.(taskId, tail)).length;
      return page;
    };
    const lists = new TaskLists({ store: { ...store, list }, log: () => {} }, () => ({ store, clock }));
    return async () => {
      await lists.page(
        { ...everyTask, limit: tasks, maxBytes: 2 ** 30, view: "summary" },
        undefined,
        () => {},
      );
      return known;
    };
  }
  const few = await agentWith(3);
  const many = await agentWith(maxKeptTasks);
  expect([await few(), await few()]).toEqual([0, 3]);
  expect(await many()).toBe(0);
  expect(await few()).toBe(0);
});

it("gives other calls their turns between the tasks of a page", async () => {
  const store = createMemoryTaskStore();
  const text = "x".repeat(20 * 1024);
  for (let task = 0; task < 100; task += 1) {
    await store.commit({ ...createCommit({ kinds: ["task", "artifact"], text }), taskId: `task-${task}` });
  }
  let turns = 0;
  const clock = {
    async nextTurn() {
      turns += 1;
    },
  };
  const lists = new TaskLists({ store, log: () => {} }, () => ({ store, clock }));
  const query = { ...everyTask, view: "full" } as const;
  const { tasks } = await lists.page(query, undefined, () => {});
  expect(tasks).toHaveLength(100);
  expect(turns).toBeGreaterThanOrEqual((100 * 20) / 192);
});
