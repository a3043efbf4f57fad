import { statSync } from "node:fs";
import type { TaskStore } from "@a2a-connect/server";
import { alice, createCommit, createPushConfig } from "@a2a-connect/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFile } from "../test-support/temporary-file.ts";
import { createSqliteTaskStore } from "./sqlite-task-store.ts";

const webhooks = 100;
const tokenBytes = 16 * 1024;
const due = { now: 1_000, latest: 1_000, after: 0, limit: webhooks };

describe("the webhooks of a task", () => {
  it("become due without their configs being written again", async () => {
    const { store, written } = await openWithWebhooks();
    await store.commit(createCommit({ after: { tail: { sequence: 1, generation: 1 }, fence: 1 } }));
    expect((await store.dueDeliveries(due)).fresh).toHaveLength(webhooks);
    expect(written()).toBeLessThan(64 * 1024);
  });

  it("move without their configs being written again", async () => {
    const { store, written } = await openWithWebhooks();
    await store.commit(createCommit({ after: { tail: { sequence: 1, generation: 1 }, fence: 1 } }));
    const { fresh } = await store.dueDeliveries(due);
    const before = written();
    await Promise.all(
      fresh.map(({ number, next }) =>
        store.moveDelivery({ number, next, attempts: 1, retryAt: 1_700_000_000_000 }),
      ),
    );
    expect((await store.dueDeliveries(due)).fresh).toEqual([]);
    expect(written() - before).toBeLessThan(64 * 1024);
  });
});

/** A store whose task has large webhooks; `written` is the size of its log since they were stored, in bytes. */
async function openWithWebhooks(): Promise<{ readonly store: TaskStore; readonly written: () => number }> {
  const file = temporaryFile();
  const first = createSqliteTaskStore({ file });
  await first.commit(createCommit());
  for (let at = 0; at < webhooks; at += 1) {
    await first.putPushConfig(alice, {
      ...createPushConfig("task-1", `${at}`),
      token: "x".repeat(tokenBytes - at),
    });
  }
  await first.close();
  const store = createSqliteTaskStore({ file });
  onTestFinished(() => store.close());
  return { store, written: () => statSync(`${file}-wal`).size };
}
