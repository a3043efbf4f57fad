import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { checkSchema, migrate } from "./schema.ts";
import { findResultCode } from "./store-failure.ts";

/** What an acknowledged commit survives: the death of the process, or a power cut as well (an fsync per group). */
export type Durability = "process" | "power";

/** `SqliteTaskStoreOptions` with every default filled in. */
export interface DatabaseOptions {
  readonly file: string;
  readonly durability: Durability;
  readonly maxFileBytes: number | undefined;
}

const inMemory = ":memory:";

/** Pages of 4 KiB in the write-ahead log before it is moved into the file, which blocks: 8 MiB, some milliseconds. */
const checkpointPages = 2048;

/** What is left of the write-ahead log's file after one large transaction made it grow. */
const maxIdleLogBytes = 64 * 1024 * 1024;

const busy = 5;

/**
 * Opens the file for this process alone and brings its schema up to date. The lock is the operating system's: it goes
 * with the process, however that ends, and so a restart never finds a stale one.
 *
 * @throws Error naming the file when it is in use, unusable or of a newer version
 */
export function openDatabase({ file, durability, maxFileBytes }: DatabaseOptions): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    if (file !== inMemory) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    database = new DatabaseSync(file);
    database.exec("pragma locking_mode = exclusive");
    checkSchema(database);
    database.exec(`
      pragma journal_mode = wal;
      pragma synchronous = ${durability === "power" ? "full" : "normal"};
      pragma wal_autocheckpoint = ${checkpointPages};
      pragma journal_size_limit = ${maxIdleLogBytes};
      pragma cache_size = -16384;
      pragma temp_store = memory;
    `);
    migrate(database);
    if (maxFileBytes !== undefined)
      database.exec(`pragma max_page_count = ${Math.max(1, Math.floor(maxFileBytes / 4096))}`);
    return database;
  } catch (cause) {
    database?.close();
    throw new Error(`cannot open the task store ${file}: ${explain(cause)}`, { cause });
  }
}

function explain(cause: unknown): string {
  if (findResultCode(cause) === busy) return "another process or another store of this one has it open";
  return cause instanceof Error ? cause.message : String(cause);
}
