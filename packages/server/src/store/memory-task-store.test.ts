import { TaskState } from "@a2a-connect/proto";
import { expect, it } from "vitest";
import { createMemoryTaskStore } from "./memory-task-store.ts";
import type { DueTimer, TaskIndex } from "./task-store.ts";

it("reads a page of due timers without a look at the others", async () => {
  const store = createMemoryTaskStore();
  let looks = 0;
  class CountedIndex implements TaskIndex {
    readonly contextId = "context";
    readonly state = TaskState.WORKING;
    readonly statusTimestamp = 1_000;

    get wakeAt() {
      looks += 1;
      return 2_000;
    }
  }
  for (let at = 0; at < 5_000; at += 1) {
    await store.commit({
      owner: { tenant: "", principal: "alice" },
      taskId: `task-${at}`,
      expectedSequence: 0,
      fence: 1,
      entries: [{ sequence: 1, generation: 1, kind: "task", payload: new Uint8Array() }],
      index: new CountedIndex(),
      snapshot: undefined,
      pushConfigs: [],
      keys: [],
    });
  }
  looks = 0;
  const seen = new Set<string>();
  let page: readonly DueTimer[] = [];
  do {
    page = await store.due(2_000, 100, page.at(-1));
    for (const { taskId } of page) seen.add(taskId);
  } while (page.length > 0);
  expect(seen.size).toBe(5_000);
  expect(looks).toBeLessThan(3 * 5_000);
});
