import { TaskPushNotificationConfigSchema, TaskState } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { createMemoryDeliveries } from "./memory-deliveries.ts";
import { createMemoryTask, type MemoryDelivery } from "./memory-task.ts";
import type { Delivery } from "./task-store.ts";

class CountedDeliveries extends Map<string, MemoryDelivery> {
  looks = 0;

  override get(id: string): MemoryDelivery | undefined {
    this.looks += 1;
    return super.get(id);
  }
}

it("reads pages of due deliveries, both kinds, without a look at the others", () => {
  const [webhooks, limit] = [5_000, 100];
  const counted = new CountedDeliveries();
  const task = { ...createMemoryTask(emptyCommit), deliveries: counted };
  const deliveries = createMemoryDeliveries();
  for (let at = 0; at < webhooks; at += 1) {
    deliveries.put(task, create(TaskPushNotificationConfigSchema, { taskId: "task", id: `${at}` }), 0);
  }
  for (let number = 1; number <= webhooks; number += 2) {
    deliveries.move({ number, next: 0, attempts: 1, retryAt: 1_000 + (number % 10) });
  }
  counted.looks = 0;
  const seen: { readonly fresh: number[]; readonly retries: number[] } = { fresh: [], retries: [] };
  let [after, afterRetry]: [number, Delivery | undefined] = [0, undefined];
  for (let page = 0; page < webhooks / 2 / limit; page += 1) {
    const due = deliveries.due({ now: 1_004, latest: 1_006, after, afterRetry, limit });
    seen.fresh.push(...due.fresh.map(({ number }) => number));
    seen.retries.push(...due.retries.map(({ number }) => number));
    expect(due.nextAt).toBe(1_005);
    after = due.fresh.at(-1)?.number ?? 0;
    afterRetry = due.retries.at(-1) ?? afterRetry;
  }
  expect(new Set(seen.fresh).size).toBe(webhooks / 2);
  expect(new Set(seen.retries).size).toBe((webhooks / 2 / 5) * 4); // all but those at 1,005
  expect(counted.looks).toBeLessThan(5 * webhooks);
});

const emptyCommit = {
  owner: { tenant: "", principal: "alice" },
  taskId: "task",
  expectedSequence: 0,
  fence: 1,
  entries: [],
  index: { contextId: "context", state: TaskState.WORKING, statusTimestamp: 1_000, wakeAt: undefined },
  snapshot: undefined,
  pushConfigs: [],
  keys: [],
};
