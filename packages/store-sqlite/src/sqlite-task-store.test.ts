import { MessageSchema, type TaskPushNotificationConfig } from "@a2a-connect/proto";
import type { TaskStore } from "@a2a-connect/server";
import { alice, createCommit, createPushConfig, taskStoreContract } from "@a2a-connect/testing";
import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { temporaryFile } from "../test-support/temporary-file.ts";
import { createSqliteTaskStore } from "./sqlite-task-store.ts";

for (const durability of ["process", "power"] as const) {
  taskStoreContract(`the SQLite store (durability ${durability})`, async () => {
    const file = temporaryFile();
    const open = () => createSqliteTaskStore({ file, durability });
    return { store: open(), reopen: async () => open() };
  });
}

const key = { key: "key", fingerprint: new Uint8Array([1]) };
const writes: Readonly<Record<string, (store: TaskStore, share: string) => Promise<unknown>>> = {
  claim: (store, share) => store.claim(alice, "task-1", share),
  noteLoads: (store, share) => store.noteLoads(alice, "task-1", 1, share),
  putReply: (store, share) => store.putReply(alice, key, create(MessageSchema), 1, share),
  putPushConfig: (store, share) => store.putPushConfig(alice, createPushConfig("task-1", "a"), share),
  deletePushConfig: (store, share) => store.deletePushConfig(alice, "task-1", "a", share),
  moveDelivery: (store, share) =>
    store.moveDelivery({ number: 1, next: 1, attempts: 0, retryAt: undefined }, share),
};

it.each(Object.entries(writes))("%s does not wait for all writes of another caller", async (_, write) => {
  const store = createSqliteTaskStore({ file: ":memory:" });
  await store.commit(createCommit());
  const written: string[] = [];
  const writeFor = async (caller: string) => {
    await write(store, caller);
    written.push(caller);
  };
  const many = Array.from({ length: 500 }, () => writeFor("many"));
  await Promise.all([...many, writeFor("one")]);
  expect(written.indexOf("one")).toBeLessThan(64); // the writes of one transaction
  await store.close();
});

it.each([
  ["push configs that are stored", (store: TaskStore) => store.putPushConfig(alice, largeConfig("task-1"))],
  [
    "push configs of commits",
    (store: TaskStore, at: number) =>
      store.commit(createCommit({ taskId: `new-${at}`, pushConfigs: [largeConfig(`new-${at}`)] })),
  ],
])("%s count in the bytes of a transaction", async (_, write) => {
  const store = createSqliteTaskStore({ file: ":memory:" });
  await store.commit(createCommit());
  let written = 0;
  const all = Array.from({ length: 40 }, async (_, at) => {
    await write(store, at);
    written += 1;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(written).toBe(18); // they have more than 1 MiB
  await Promise.all(all);
  await store.close();
});

function largeConfig(taskId: string): TaskPushNotificationConfig {
  return { ...createPushConfig(taskId, "a"), token: "x".repeat(60 * 1024) };
}

taskStoreContract("the SQLite store in memory", async () => ({
  store: createSqliteTaskStore({ file: ":memory:" }),
}));
