import { taskStoreContract } from "@a2a-connect/testing";
import { temporaryFile } from "../test-support/temporary-file.ts";
import { createSqliteTaskStore } from "./sqlite-task-store.ts";

for (const durability of ["process", "power"] as const) {
  taskStoreContract(`the SQLite store (durability ${durability})`, async () => {
    const file = temporaryFile();
    const open = () => createSqliteTaskStore({ file, durability });
    return { store: open(), reopen: async () => open() };
  });
}

taskStoreContract("the SQLite store in memory", async () => ({
  store: createSqliteTaskStore({ file: ":memory:" }),
}));
