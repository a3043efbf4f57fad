export type { Durability } from "./open-database.ts";
export { createSqliteTaskStore, type SqliteTaskStoreOptions } from "./sqlite-task-store.ts";
