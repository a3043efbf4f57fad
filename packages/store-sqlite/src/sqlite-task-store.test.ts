import { alice, createCommit, taskStoreContract } from "@a2a-connect/testing";
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

it("a claim does not wait for all claims of another caller", async () => {
  const store = createSqliteTaskStore({ file: ":memory:" });
  await store.commit(createCommit());
  const claimed: string[] = [];
  const claim = async (caller: string) => {
    await store.claim(alice, "task-1", caller);
    claimed.push(caller);
  };
  const many = Array.from({ length: 500 }, () => claim("many"));
  await Promise.all([...many, claim("one")]);
  expect(claimed.indexOf("one")).toBeLessThan(64); // the writes of one transaction
  await store.close();
});

taskStoreContract("the SQLite store in memory", async () => ({
  store: createSqliteTaskStore({ file: ":memory:" }),
}));
