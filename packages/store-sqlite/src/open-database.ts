import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { ConnectError } from "@connectrpc/connect";
import { createDiskRoom, type DiskRoom } from "./disk-room.ts";
import { type FileGuard, guardFile, whatToDo } from "./file-guard.ts";
import { moveEntries } from "./move-entries.ts";
import { checkSchema, migrate, prepareQuery } from "./schema.ts";
import { dataLoss, findResultCode, isDamage } from "./store-failure.ts";

/** What an acknowledged commit survives: the end of the process, or a power cut as well (an fsync per group). */
export type Durability = "process" | "power";

/** `SqliteTaskStoreOptions` with every default filled in. */
export interface DatabaseOptions {
  readonly file: string;
  readonly durability: Durability;
  readonly maxFileBytes: number | undefined;
  readonly maxCheckedBytes: number;
  readonly now: () => number;
}

/** An open database, and the guard of its file. */
export interface OpenDatabase<Parts> {
  /** The prepared statements. */
  readonly parts: Parts;
  /**
   * Call it before a transaction.
   *
   * @param removes whether the transaction only removes
   * @throws ConnectError `DataLoss` when the file or its log was removed or replaced, from then on
   */
  beforeWrite(removes: boolean): void;
  readonly room: DiskRoom;
  close(): void;
}

/** By name and not by an import, which would fail in an older Node before any code runs, and so before a sentence. */
const sqlite = process.getBuiltinModule?.("node:sqlite");

const inMemory = ":memory:";

/** Bytes to which SQLite cuts the file of the write-ahead log after a large transaction. */
const maxIdleLogBytes = 64 * 1024 * 1024;

const busy = 5;

const reportIntervalMs = 1_000;

/**
 * Opens the file for this process alone, tests whether it is whole, and brings its schema up to date. The lock is the
 * operating system's and ends with the process, in every case. So a restart never finds a stale lock.
 *
 * @param prepare makes the statements; may read
 * @throws Error naming the file when it is in use, unusable or of a newer version, or (with a ConnectError `DataLoss`
 *   as its cause) when a part of it is lost
 */
export function openDatabase<Parts>(
  { file, durability, maxFileBytes, maxCheckedBytes, now }: DatabaseOptions,
  prepare: (database: DatabaseSync) => Parts,
): OpenDatabase<Parts> {
  let database: DatabaseSync | undefined;
  let guard: FileGuard | undefined;
  try {
    if (file !== inMemory) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    guard = file === inMemory ? undefined : guardFile(file, now);
    if (sqlite === undefined) throw new Error("SQLite is part of Node since 22.18: use a newer Node");
    database = new sqlite.DatabaseSync(file);
    openDatabases += 1;
    database.exec("pragma locking_mode = exclusive");
    checkSchema(database);
    database.exec(`
      pragma journal_mode = wal;
      pragma synchronous = ${durability === "power" ? "full" : "normal"};
      pragma journal_size_limit = ${maxIdleLogBytes};
      pragma cache_size = -${Math.ceil(Math.max(leastCacheKib, Math.min(mostCacheKib, allCachesKib / openDatabases)))};
      pragma temp_store = memory;
    `);
    checkIntegrity(database, maxCheckedBytes);
    const report = createReport(file, now);
    migrate(database, (opened) => moveEntries(opened, report));
    const parts = prepare(database);
    guard?.opened();
    const opened = database;
    const disk = { file: file === inMemory ? undefined : file, maxFileBytes, now };
    const room = createDiskRoom(opened, disk, () => isMoved(opened));
    return {
      parts,
      beforeWrite(removes) {
        guard?.assertInPlace();
        room.prepare(removes);
      },
      room,
      close: closeDatabase.bind(undefined, database, guard),
    };
  } catch (error) {
    if (database !== undefined) closeDatabase(database, guard);
    const cause = isDamage(error) ? dataLoss(`it is damaged; ${whatToDo}`, error) : error;
    throw new Error(`cannot open the task store ${file}: ${explain(cause)}`, { cause });
  }
}

/** The page cache of a database, in KiB, which is no part of the heap. The agents of a host have a database each. */
const [mostCacheKib, leastCacheKib, allCachesKib] = [16 * 1024, 1024, 64 * 1024];

let openDatabases = 0;

/** Closes the database. Only the file itself remains, if it is still at its path. */
function closeDatabase(database: DatabaseSync, guard: FileGuard | undefined): void {
  // The log stays until the marker is removed: a start that finds the marker without a log knows that the log was
  // removed.
  if (guard !== undefined && isMoved(database)) guard.closing();
  database.close();
  openDatabases -= 1;
}

/** Moves the log into the file. @returns whether the whole log is in the file now */
function isMoved(database: DatabaseSync): boolean {
  try {
    const { busy, log, checkpointed } = database.prepare("pragma wal_checkpoint(full)").get() ?? {};
    return busy === 0 && log === checkpointed;
  } catch {
    return false; // a full or broken disk: the next start finds the log and the marker
  }
}

/** Tells people at most once a second how far a long migration is: on stderr, because it comes before any log. */
function createReport(file: string, now: () => number): (part: number) => void {
  let last = now();
  return (part) => {
    if (now() - last < reportIntervalMs) return;
    last = now();
    process.stderr.write(`${file}: moving the logs to a new format, ${Math.floor(part * 100)} % done\n`);
  };
}

function explain(cause: unknown): string {
  if (findResultCode(cause) === busy) return "another process or another store of this one has it open";
  if (cause instanceof ConnectError) return cause.rawMessage;
  return cause instanceof Error ? cause.message : String(cause);
}

/** Stores that are opened within this time, as those of all agents of a process, are checked together. */
const openingMs = 60_000;

/** Whether a file of that size may be checked, beside those that were checked before: the server answers no call meanwhile. */
export function createCheckBudget(now: () => number): (size: number, maxBytes: number) => boolean {
  let [checked, since] = [0, Number.NEGATIVE_INFINITY];
  return (size, maxBytes) => {
    if (now() - since > openingMs) [checked, since] = [0, now()];
    if (checked + size > maxBytes) return false;
    checked += size;
    return true;
  };
}

const mayCheck = createCheckBudget(() => performance.now());

/**
 * Tests whether the pages of each table and its indexes are consistent (`pragma quick_check`): 0.7 s of CPU time a GiB,
 * besides reading the file.
 *
 * @param maxBytes size up to which the whole file is tested, with those that were opened just before; a larger file is not
 * @throws ConnectError `DataLoss` naming the tables that are damaged
 */
function checkIntegrity(database: DatabaseSync, maxBytes: number): void {
  const { page_count: pages = 0 } = database.prepare("pragma page_count").get() ?? {};
  const { page_size: pageSize = 0 } = database.prepare("pragma page_size").get() ?? {};
  if (!mayCheck(Number(pages) * Number(pageSize), maxBytes)) return;
  const tables = prepareQuery<{ readonly name: string }>(
    database,
    "select name from sqlite_schema where type = 'table'",
  );
  const damaged = tables.all().flatMap(({ name }) => (isSound(database, name) ? [] : [name]));
  if (damaged.length > 0) {
    throw dataLoss(`it is damaged: some or all of ${damaged.join(", ")} is lost; ${whatToDo}`);
  }
}

function isSound(database: DatabaseSync, table: string): boolean {
  try {
    return database.prepare(`pragma quick_check(${JSON.stringify(table)})`).get()?.["quick_check"] === "ok";
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  }
}
