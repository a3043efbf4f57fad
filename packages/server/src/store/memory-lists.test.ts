import { TaskState } from "@a2a-connect/proto";
import { expect, it } from "vitest";
import { heapOf } from "../../test-support/collect-garbage.ts";
import { createMemoryLists } from "./memory-lists.ts";
import { createMemoryTask } from "./memory-task.ts";

it("keep nothing of tenants, callers and contexts whose tasks are gone", () => {
  const bytes = heapOf(() => {
    const lists = createMemoryLists();
    for (let at = 0; at < 20_000; at += 1) {
      const task = createMemoryTask({
        owner: { tenant: `tenant-${at}`, principal: `caller-${at}` },
        taskId: "task",
        expectedSequence: 0,
        fence: 1,
        entries: [],
        index: {
          contextId: `context-${at}`,
          state: TaskState.WORKING,
          statusTimestamp: 0,
          wakeAt: undefined,
        },
        snapshot: undefined,
        pushConfigs: [],
        keys: [],
      });
      lists.add(task);
      lists.remove(task);
    }
    return lists;
  });
  expect(bytes).toBeLessThan(1_000_000);
});
