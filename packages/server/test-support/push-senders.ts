import {
  alice,
  type CommitInit,
  createCommit,
  createFakeClock,
  createPushConfig,
} from "@a2a-connect/testing";
import type { LogRecord } from "../src/engine/engine-context.ts";
import type { PushOptions } from "../src/push/push-options.ts";
import { PushSender } from "../src/push/push-sender.ts";
import { createMemoryTaskStore } from "../src/store/memory-task-store.ts";
import type { LogTail, TaskStore } from "../src/store/task-store.ts";
import { createFakeWebhooks } from "./fake-webhooks.ts";

/** A sender over a store in memory, and tasks that are written without an engine. */
export function createPushSender(
  options: Partial<PushOptions> = {},
  wrap: (store: TaskStore) => Partial<TaskStore> = () => ({}),
) {
  const memory = createMemoryTaskStore();
  const store = { ...memory, ...wrap(memory) };
  const clock = createFakeClock();
  const webhooks = createFakeWebhooks();
  const log: LogRecord[] = [];
  const create = () =>
    new PushSender(
      {
        store,
        clock,
        limits: { maxShare: 7 / 8 },
        nameOwner: ({ principal }) => `principal ${principal}`,
        log: (record) => log.push(record),
        random: () => 1,
      },
      { fetch: webhooks.fetch, ...options },
    );
  const sender = create();
  const tails = new Map<string, LogTail>();
  const commit = async (taskId: string, init: CommitInit = {}, share = "network 192.0.2.9") => {
    const tail = tails.get(taskId);
    const after = tail === undefined ? {} : { after: { tail, fence: 1 } };
    const result = await store.commit(createCommit({ taskId, ...after, ...init }));
    if ("refused" in result) throw new Error(`the commit was refused: ${result.refused}`);
    tails.set(taskId, result.tail);
    if (result.deliveryDue) sender.wake({ owner: alice, taskId, share });
  };
  /** A task with one webhook and that many events. */
  const start = (taskId: string, url: string, events = 1, id = "hook") =>
    commit(taskId, {
      kinds: ["task", ...Array.from({ length: events - 1 }, () => "artifact" as const)],
      pushConfigs: [createPushConfig(taskId, id, url)],
    });
  const remove = async (taskId: string, id = "hook") => {
    await store.deletePushConfig(alice, taskId, id);
    sender.configChanged({ owner: alice, taskId, id });
  };
  const put = async (taskId: string, url: string, id = "hook") => {
    await store.putPushConfig(alice, createPushConfig(taskId, id, url));
    sender.configChanged({ owner: alice, taskId, id });
  };
  return { ...webhooks, store, clock, log, sender, create, commit, start, remove, put };
}
