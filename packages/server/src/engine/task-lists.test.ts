import { createMemoryTaskStore } from "@a2a-connect/server";
import { alice, createCommit } from "@a2a-connect/testing";
import { expect, it } from "vitest";
import { TaskLists } from "./task-lists.ts";

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
  const query = {
    owner: alice,
    after: undefined,
    limit: 100,
    maxBytes: 4 * 1024 * 1024,
    view: "full",
  } as const;
  const { tasks } = await lists.page(
    { ...query, contextId: undefined, state: undefined, since: undefined },
    undefined,
    () => {},
  );
  expect(tasks).toHaveLength(100);
  expect(turns).toBeGreaterThanOrEqual((100 * 20) / 192);
});
