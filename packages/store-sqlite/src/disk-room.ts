import { statfsSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import type { StoreRoom } from "@a2a-connect/server/store";
import { prepareQuery } from "./schema.ts";

/**
 * Bytes of a disk that the store leaves free. The longest write-ahead log needs half of them: 16 MiB and a transaction.
 * Moving it into the file needs no more: what the file lacks is in the log already. The rest is for what else writes to
 * the disk.
 */
const keptBytes = 32 * 1024 * 1024;

/** Of a small disk, the store leaves this part of it free. */
const keptPart = 1 / 4;

/** How often the store looks how much is free, in milliseconds; it is one system call. */
const lookEveryMs = 1_000;

const pageBytes = 4096;

/** Pages that a removal may add: an index can need one more to close a gap, before the first page is free. */
const pagesOfRemoval = 64;

const maxPages = 0xfffffffe;

/** The room of a database. */
export interface DiskRoom {
  /** Call it before each transaction, with whether that only removes: it sets how far the file may grow. */
  prepare(removes: boolean): void;
  /** What tasks have in the file, and by how much they may grow: in what is free in the file, and on the disk. */
  find(): StoreRoom;
}

/**
 * Keeps the file from filling its disk. A file that has filled it could never be emptied: even a removal needs room in
 * the write-ahead log, which SQLite cannot move into a file that may not grow.
 *
 * @param maxFileBytes to which the file may grow in any case
 * @param moveLog moves the write-ahead log into the file, as far as that is possible
 * @param now milliseconds that never go back
 */
export function createDiskRoom(
  database: DatabaseSync,
  { file, maxFileBytes = Number.POSITIVE_INFINITY, now }: DiskRoomOptions,
  moveLog: () => void,
): DiskRoom {
  const pages = prepareQuery<{ readonly page_count: number }>(database, "pragma page_count");
  const freePages = prepareQuery<{ readonly freelist_count: number }>(database, "pragma freelist_count");
  const place = diskOf(file); // the file may be removed later, and the store writes to its disk all the same
  let isShort = false;
  let isForRemoval = false;
  let lookAt = 0;

  function look(): void {
    const room = findRoom(file);
    isShort = room <= 0;
    const has = pages.get()?.page_count ?? 0;
    const most = Math.floor(Math.min(has * pageBytes + Math.max(0, room), maxFileBytes) / pageBytes);
    const allowed = isForRemoval ? Math.max(most, has) + pagesOfRemoval : Math.max(most, 1);
    database.exec(`pragma max_page_count = ${Math.min(maxPages, allowed)}`); // never less than it has
  }

  function prepare(removes: boolean): void {
    const isDue = now() >= lookAt;
    if (isDue) lookAt = now() + lookEveryMs;
    const isOther = removes !== isForRemoval;
    isForRemoval = removes;
    if (isDue || isOther || isShort) look(); // the store goes on as soon as there is room again
    // Other programs may take what is left. Then removals still have the log's own bytes, which it uses again. Other writes
    // do not get them: some would be taken now and then, and the next one of the same call refused.
    if (isShort && removes) moveLog();
  }

  function find(): StoreRoom {
    const has = (pages.get()?.page_count ?? 0) * pageBytes;
    const unused = (freePages.get()?.freelist_count ?? 0) * pageBytes;
    const growth = Math.max(0, Math.min(findRoom(file), maxFileBytes - has));
    return { used: has - unused, free: unused + growth, place };
  }

  return { prepare, find };
}

interface DiskRoomOptions {
  /** Undefined: the database is in memory. */
  readonly file: string | undefined;
  readonly maxFileBytes: number | undefined;
  readonly now: () => number;
}

function diskOf(file: string | undefined): string | undefined {
  return file === undefined ? undefined : `disk ${statSync(file).dev}`;
}

/** By how many bytes a file may grow; one in memory: without end. */
function findRoom(file: string | undefined): number {
  if (file === undefined) return Number.POSITIVE_INFINITY;
  try {
    const { bsize, blocks, bavail } = statfsSync(file);
    return bsize * bavail - Math.min(keptBytes, bsize * blocks * keptPart);
  } catch {
    return Number.POSITIVE_INFINITY; // a file system that does not tell
  }
}
