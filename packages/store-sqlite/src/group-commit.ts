import type { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers";
import { CallerQueue } from "@a2a-connect/core/internal";
import { createMoveLog } from "./move-log.ts";
import { isStoreFailure, storeClosed, toStoreError } from "./store-failure.ts";

/** Writes to one database, gathered into transactions. */
export interface GroupCommit {
  /**
   * Runs a write in one of the next transactions. A caller's small writes keep their order, and so do its large ones. Callers
   * take turns, and a small write does not wait for large ones.
   *
   * @returns the result of `write`, once that is durable
   * @throws ConnectError `Unavailable` when the transaction failed; nothing of it was stored
   */
  run<T>(write: Write<T>): Promise<T>;
  /** Commits the waiting writes and refuses all later ones. */
  close(): void;
}

/** Something to be written. */
export interface Write<T> {
  /** About how many bytes it writes. Default 0: few. */
  readonly bytes?: number;
  /** Whose it is. Default: those without one take turns with callers, as if they were one caller's. */
  readonly share?: string | undefined;
  /**
   * Whether it only removes. When its group fails, it is tried again without the others: on a full disk the removals are
   * what makes room. Default false.
   */
  readonly removes?: boolean;
  /**
   * May run more than once, each time on an unchanged database, so it must change nothing else. When it throws, only its
   * own caller gets the error, and the other writes are committed.
   */
  readonly write: () => T;
  /** Called once with the result when that is durable, before anything else can read it. */
  readonly afterCommit?: (result: T) => void;
}

interface PendingWrite {
  readonly bytes: number;
  readonly removes: boolean;
  readonly write: () => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Small writes in one transaction: more of them save no work and block the event loop longer. */
const maxGroupWrites = 64;

/** Bytes in one transaction, after which no further write is added, for the same reason. */
const maxGroupBytes = 1024 * 1024;

/**
 * Pages of 4 KiB in the write-ahead log before they are moved into the file, which blocks. Small commits write the
 * same pages again and again, so a longer log saves work. The pieces of a large value are all new, and moving 2 MiB of
 * them takes 7 ms.
 */
const pagesBeforeCheckpoint = { small: 2048, large: 512 };

/** Size from which a write counts as large, in bytes. */
export const largeWriteBytes: number = 64 * 1024;

/**
 * Collects the writes of one turn of the event loop and commits them at its end, in groups of bounded size.
 *
 * @param beforeWrite called before each transaction, with whether it only removes; the group fails with the error that it
 *   throws
 */
export function createGroupCommit(
  database: DatabaseSync,
  beforeWrite: (removes: boolean) => void,
): GroupCommit {
  const begin = database.prepare("begin immediate");
  const commit = database.prepare("commit");
  const moveLog = createMoveLog(database, pagesBeforeCheckpoint.small);
  const small = new CallerQueue<PendingWrite>();
  const large = new CallerQueue<PendingWrite>();
  let scheduled = false;
  let open = true;

  function flush(): void {
    scheduled = false;
    const group = takeGroup();
    if (isWaiting()) schedule();
    commitGroup(group);
  }

  function isWaiting(): boolean {
    return !small.isEmpty || !large.isEmpty;
  }

  /** Small writes come first. Large ones get the bytes that these leave, and at least one goes on in each group. */
  function takeGroup(): PendingWrite[] {
    const group = takeFirst(small, maxGroupBytes);
    if (large.isEmpty) return group;
    const used = group.reduce((sum, { bytes }) => sum + bytes, 0);
    return [...group, ...takeFirst(large, Math.max(0, maxGroupBytes - used))];
  }

  function schedule(): void {
    if (scheduled || !open) return;
    scheduled = true;
    setImmediate(flush);
  }

  /** Commits the group again, without the writes that fail for a reason of their own. */
  function commitGroup(group: PendingWrite[]): void {
    while (group.length > 0) {
      const results: unknown[] = [];
      try {
        beforeWrite(group.every(({ removes }) => removes));
        begin.run();
        for (const { write } of group) results.push(write());
        commit.run();
      } catch (error) {
        const isOneWrite = results.length < group.length && !isStoreFailure(error);
        const failed = isOneWrite ? group.splice(results.length, 1) : takeFailed(group);
        const reason = toStoreError(rollBack(error));
        for (const { reject } of failed) reject(reason);
        continue;
      }
      for (const [at, { resolve }] of group.entries()) resolve(results[at]);
      const isLarge = group.some(({ bytes }) => bytes >= largeWriteBytes);
      moveLog(pagesBeforeCheckpoint[isLarge ? "large" : "small"]);
      return;
    }
  }

  /** A full disk or a failed write has often ended the transaction already. */
  function rollBack(reason: unknown): unknown {
    try {
      if (database.isTransaction) database.exec("rollback");
      return reason;
    } catch (failure) {
      return failure;
    }
  }

  return {
    run<T>({ bytes = 0, share, removes = false, write, afterCommit }: Write<T>): Promise<T> {
      if (!open) return Promise.reject(storeClosed());
      return new Promise<T>((resolve, reject) => {
        const settle = (result: T): void => {
          afterCommit?.(result);
          resolve(result);
        };
        const waiting = bytes < largeWriteBytes ? small : large;
        // `settle` gets the result of `write`. The list of pending writes cannot express the type of each result.
        waiting.push(share, { bytes, removes, write, resolve: settle as (result: unknown) => void, reject });
        schedule();
      });
    },

    close() {
      open = false;
      while (isWaiting()) commitGroup(takeGroup());
    },
  };
}

/** Takes writes until they exceed `maxBytes`: at least one. */
function takeFirst(waiting: CallerQueue<PendingWrite>, maxBytes: number): PendingWrite[] {
  const taken: PendingWrite[] = [];
  let bytes = 0;
  while (taken.length < maxGroupWrites && bytes <= maxBytes) {
    const next = waiting.shift();
    if (next === undefined) break;
    taken.push(next);
    bytes += next.bytes;
  }
  return taken;
}

/** Takes the writes of a failed group, but leaves those that remove if others were with them. */
function takeFailed(group: PendingWrite[]): PendingWrite[] {
  const failed = group.filter(({ removes }) => !removes);
  if (failed.length === 0) return group.splice(0);
  group.splice(0, group.length, ...group.filter(({ removes }) => removes));
  return failed;
}
