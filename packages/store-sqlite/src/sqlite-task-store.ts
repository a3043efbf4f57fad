import type { DatabaseSync } from "node:sqlite";
import { decodeMessage, encodeMessage } from "@a2a-connect/core/internal";
import { MessageSchema, TaskPushNotificationConfigSchema, TaskState } from "@a2a-connect/proto";
import type { TaskStore } from "@a2a-connect/server";
import type { Owner, StoredTask, TaskView } from "@a2a-connect/server/store";
import { createCommits } from "./commits.ts";
import { createExpireRows } from "./expire-rows.ts";
import { createGroupCommit } from "./group-commit.ts";
import { createLargeValues, removeLostPieces } from "./large-values.ts";
import { createListTasks } from "./list-tasks.ts";
import { ListTotals } from "./list-totals.ts";
import { type Durability, openDatabase } from "./open-database.ts";
import { createPushDeliveries, encodeConfig } from "./push-deliveries.ts";
import { createReads, minReadBytes } from "./reads.ts";
import { createRequestKeys } from "./request-keys.ts";
import { prepareQuery } from "./schema.ts";
import { storeClosed, toStoreError } from "./store-failure.ts";
import { createTaskReader } from "./task-rows.ts";
import { createTaskWriter } from "./task-writer.ts";

/** Where the store keeps tasks, and how safely. */
export interface SqliteTaskStoreOptions {
  /**
   * Path of the database file. The store creates the file and its directories when they do not exist. `:memory:` keeps
   * nothing.
   */
  readonly file: string;
  /**
   * What an acknowledged commit survives. `process` (default): the end of the process by any means, `kill -9` included.
   * A power cut may lose the last commits, but leaves the file sound. `power`: a power cut as well, for an fsync per
   * group of commits.
   */
  readonly durability?: Durability | undefined;
  /**
   * Bytes to which the file may grow. Default: all of the disk but 32 MiB, or but a quarter of a disk of less than 128
   * MiB, which stay free in any case. Then writes fail with `Unavailable`, but those that only remove: they may add 256
   * KiB.
   */
  readonly maxFileBytes?: number | undefined;
  /**
   * Size of a file, in bytes, up to which the store tests the whole file for damage when it opens it, which takes 0.7 s
   * of CPU time a GiB. Default 1 GiB; 0: no file is tested. Damage in a larger file is found when the damaged part is
   * read.
   */
  readonly maxCheckedBytes?: number | undefined;
  /**
   * Milliseconds that never go back. The store measures with them how long a call of `expire` takes, and once a second it looks whether
   * the file is still at its path. Default `performance.now`.
   */
  readonly now?: (() => number) | undefined;
}

interface RefRow {
  readonly task_id: string;
  readonly tenant: string;
  readonly principal: string;
}

/** About how many bytes the removal of a row writes: its whole page, unless the rows beside it are removed as well. */
const bytesPerExpiredRow = 1024;

/**
 * A TaskStore in one SQLite file, for one process: the file is locked as long as the store is open, and a second
 * opener is refused. What one turn of the event loop commits becomes one transaction (up to 64 commits; those of 64 KiB and
 * more come after small ones, in several turns). Reads and transactions run on the caller's thread and take microseconds;
 * large values are written and read in pieces, a turn each.
 *
 * @throws Error naming the file when it is in use, cannot be opened, was written by a newer version, or is not whole:
 *   then its cause is a ConnectError `DataLoss`
 */
export function createSqliteTaskStore(options: SqliteTaskStoreOptions): TaskStore {
  const { file, durability = "process", maxFileBytes, maxCheckedBytes = 2 ** 30 } = options;
  const { now = () => performance.now() } = options;
  const opened = openDatabase({ file, durability, maxFileBytes, maxCheckedBytes, now }, (database) =>
    prepareParts(database, now),
  );
  const { reader, deliveries, keys, values, writer, expireRows, totals, listTasks, unfinished, due } =
    opened.parts;
  const writes = createGroupCommit(opened.parts.database, opened.beforeWrite);
  let open = true;

  /**
   * Runs a function that only reads. It never sees half of a group's writes, because a transaction ends within the call
   * that began it.
   */
  function read<T>(query: () => T): T {
    if (!open) throw storeClosed();
    try {
      return query();
    } catch (error) {
      throw toStoreError(error);
    }
  }

  const reads = createReads(read, values);

  function findTask(owner: Owner, taskId: string, view: TaskView): Promise<StoredTask | undefined> {
    return reads.log((reading) => {
      const row = reader.ownRow(owner, taskId);
      return row && reader.task(row, view, reading);
    });
  }

  return {
    commit: createCommits(writes, opened.parts),

    claim: (owner, taskId, share) => writes.run({ share, write: () => writer.claim(owner, taskId) }),

    find: findTask,

    async list(query) {
      return reads.list((reading) => listTasks(query, reading));
    },

    async events(owner, taskId, after, limit) {
      return reads.events((reading) => {
        const row = reader.ownRow(owner, taskId);
        return row === undefined ? [] : reader.events(row, after, limit, reading);
      });
    },

    async entries(owner, taskId, after, view, limit) {
      return reads.log((reading) => {
        const row = reader.ownRow(owner, taskId);
        return row === undefined
          ? { entries: [], end: after, more: false }
          : reader.entries(row, after, view, limit, reading);
      });
    },

    async findKey(owner, key) {
      return read(() => keys.find(owner, key));
    },

    async findReply(owner, key) {
      const bytes = await reads.inTurn(
        () => keys.findReply(owner, key),
        (reply) => reply?.byteLength ?? 0,
      );
      return bytes && decodeMessage(MessageSchema, bytes);
    },

    async putReply(owner, key, message, expiresAt, share) {
      const bytes = encodeMessage(MessageSchema, message);
      return writes.run({
        bytes: bytes.byteLength,
        share,
        write: () => keys.putReply(owner, key, bytes, expiresAt),
      });
    },

    async unfinished({ hasTimer, after, limit }) {
      const last = after ?? beforeAllTasks;
      const [principal, tenant, taskId] =
        "owner" in last
          ? [last.owner.principal, last.owner.tenant, last.taskId]
          : [last.principal, null, null];
      return read(() => unfinished.all(Number(hasTimer), principal, tenant, taskId, limit).map(toRef));
    },

    async weigh(owner, taskId) {
      return read(() => {
        const row = reader.ownRow(owner, taskId);
        return row && reader.weight(row);
      });
    },

    async noteLoads(owner, taskId, loads, share) {
      return writes.run({ share, write: () => writer.noteLoads(owner, taskId, loads) });
    },

    async due(until, limit, after) {
      const { wakeAt, taskId } = after ?? beforeAllTimers;
      const rows = () => due.all(until, wakeAt, taskId, limit);
      return read(() => rows().map((row) => ({ ...toRef(row), wakeAt: row.wake_at })));
    },

    async dueDeliveries(query) {
      return read(() => deliveries.due(query));
    },

    async dueDeliveriesOf(owner, taskId, limit) {
      return read(() => {
        const task = reader.ownRow(owner, taskId);
        return task === undefined ? [] : deliveries.dueOf(task.number, limit);
      });
    },

    async moveDelivery(move, share) {
      return writes.run({ share, write: () => deliveries.move(move) });
    },

    async expire(expiry) {
      const { more } = await writes.run({
        bytes: expiry.limit * bytesPerExpiredRow,
        removes: true,
        write: () => expireRows(expiry),
        afterCommit: ({ tasks }) => {
          for (const from of tasks) totals.apply({ from, to: undefined });
        },
      });
      return more;
    },

    async putPushConfig(owner, config, share) {
      const { taskId } = config;
      const encoded = encodeConfig(config);
      return writes.run({
        bytes: encoded.bytes.byteLength,
        share,
        write: () => writer.putPushConfig(owner, taskId, encoded),
      });
    },

    async findPushConfig(owner, taskId, id) {
      return read(() => {
        const task = reader.ownRow(owner, taskId);
        return task && deliveries.find(task.number, id);
      });
    },

    async listPushConfigs(owner, taskId, after, limit) {
      const configs = await reads.inTurn(
        () => {
          const task = reader.ownRow(owner, taskId);
          return task && deliveries.list(task.number, after, limit);
        },
        (found = []) => found.reduce((sum, { byteLength }) => sum + byteLength, minReadBytes),
      );
      return configs?.map((config) => decodeMessage(TaskPushNotificationConfigSchema, config));
    },

    async pushConfigIds(owner, taskId, limit) {
      return read(() => {
        const task = reader.ownRow(owner, taskId);
        return task && deliveries.ids(task.number, limit);
      });
    },

    async deletePushConfig(owner, taskId, id, share) {
      return writes.run({ share, write: () => writer.deletePushConfig(owner, taskId, id) });
    },

    room: () => read(opened.room.find),

    async close() {
      if (!open) return;
      open = false;
      writes.close();
      opened.close();
    },
  };
}

/** What works on one database. @throws what SQLite throws for a damaged one */
function prepareParts(database: DatabaseSync, now: () => number) {
  removeLostPieces(database);
  const values = createLargeValues(database);
  const reader = createTaskReader(database);
  const deliveries = createPushDeliveries(database);
  const keys = createRequestKeys(database);
  const totals = new ListTotals();
  return {
    database,
    reader,
    deliveries,
    keys,
    values,
    writer: createTaskWriter(database, { reader, deliveries, keys }),
    expireRows: createExpireRows(database, values, now),
    totals,
    listTasks: createListTasks(database, reader, totals),
    // An empty blob is greater than any text: after all tasks of a principal.
    unfinished: prepareQuery<RefRow>(
      database,
      `select task_id, tenant, principal from tasks
       where state in (${TaskState.SUBMITTED}, ${TaskState.WORKING}) and (wake_at is not null) = ?
         and (principal, tenant, task_id) > (?, coalesce(?, x''), coalesce(?, x''))
       order by principal, tenant, task_id limit ?`,
    ),
    due: prepareQuery<RefRow & { readonly wake_at: number }>(
      database,
      `select task_id, tenant, principal, wake_at from tasks
       where wake_at is not null and wake_at <= ? and (wake_at, task_id) > (?, ?) order by wake_at, task_id limit ?`,
    ),
  };
}

function toRef({ task_id, tenant, principal }: RefRow): {
  owner: { tenant: string; principal: string };
  taskId: string;
} {
  return { owner: { tenant, principal }, taskId: task_id };
}

/** Before the first timer that a task can have. */
const beforeAllTasks = { owner: { tenant: "", principal: "" }, taskId: "" };
const beforeAllTimers = { wakeAt: Number.MIN_SAFE_INTEGER, taskId: "" };
