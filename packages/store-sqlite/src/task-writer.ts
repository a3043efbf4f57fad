import type { DatabaseSync } from "node:sqlite";
import type { TaskPushNotificationConfig } from "@a2a-connect/proto";
import {
  type CommitResult,
  type CommitTarget,
  decideCommit,
  type LogTail,
  type Owner,
  type Snapshot,
  type StoredTask,
  type TaskCommit,
} from "@a2a-connect/server";
import type { PushDeliveries } from "./push-deliveries.ts";
import { prepareQuery } from "./query.ts";
import type { RequestKeys } from "./request-keys.ts";
import { formatKind, type TaskReader, type TaskRow, toTail } from "./task-rows.ts";

/** Changes tasks; every method runs inside a transaction. */
export interface TaskWriter {
  commit(commit: TaskCommit): CommitResult;
  claim(owner: Owner, taskId: string): StoredTask | undefined;
  noteLoads(owner: Owner, taskId: string, loads: number): void;
  putPushConfig(owner: Owner, config: TaskPushNotificationConfig): boolean;
  deletePushConfig(owner: Owner, taskId: string, id: string): boolean;
}

/** What a commit writes beside the task and its log. */
export interface WriterParts {
  readonly reader: TaskReader;
  readonly deliveries: PushDeliveries;
  readonly keys: RequestKeys;
}

/** Prepares what changes tasks. */
export function createTaskWriter(
  database: DatabaseSync,
  { reader, deliveries, keys }: WriterParts,
): TaskWriter {
  const insertTask = database.prepare(`
    insert into tasks (number, task_id, tenant, principal, context_id, state, status_timestamp, wake_at, sequence, generation,
      fence, snapshot_sequence, snapshot_generation)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 0, 0)`);
  const moveTail = database.prepare("update tasks set sequence = ?, generation = ? where number = ?");
  const moveIndex = database.prepare(
    "update tasks set context_id = ?, state = ?, status_timestamp = ?, wake_at = ?, sequence = ?, generation = ? where number = ?",
  );
  const insertEntry = database.prepare(
    "insert into entries (task, sequence, generation, kind, payload) values (?, ?, ?, ?, ?)",
  );
  const putSnapshot = database.prepare(
    "insert or replace into snapshots (task, head, artifacts) values (?, ?, ?)",
  );
  const moveSnapshot = database.prepare(
    "update tasks set snapshot_sequence = ?, snapshot_generation = ? where number = ?",
  );
  const raiseFence = database.prepare("update tasks set fence = fence + 1 where number = ?");
  const setLoads = database.prepare("update tasks set loads = ? where number = ?");
  /**
   * SQLite would give the number of a removed task again, whose entries may still be there. A write that is undone
   * leaves a gap in the numbers, and nothing else.
   */
  let lastNumber = findLastNumber(database);

  function createTask({ taskId, owner, index }: TaskCommit, tail: LogTail): number {
    const { contextId, state, statusTimestamp, wakeAt } = index;
    lastNumber += 1;
    insertTask.run(
      lastNumber,
      taskId,
      owner.tenant,
      owner.principal,
      contextId,
      state,
      statusTimestamp,
      wakeAt ?? null,
      tail.sequence,
      tail.generation,
    );
    return lastNumber;
  }

  /** Most commits of a stream change nothing that lists order by: those leave all indexes of the table alone. */
  function updateTask(row: TaskRow, { index }: TaskCommit, { sequence, generation }: LogTail): number {
    const { contextId, state, statusTimestamp, wakeAt = null } = index;
    if (
      row.status_timestamp === statusTimestamp &&
      row.state === state &&
      row.wake_at === wakeAt &&
      row.context_id === contextId
    ) {
      moveTail.run(sequence, generation, row.number);
    } else {
      moveIndex.run(contextId, state, statusTimestamp, wakeAt, sequence, generation, row.number);
    }
    return row.number;
  }

  function appendEntries(task: number, { entries }: TaskCommit, generationBefore: number): void {
    let reached = generationBefore;
    for (const { sequence, generation, kind, payload } of entries) {
      reached = generation ?? reached;
      insertEntry.run(task, sequence, reached, formatKind(kind), payload);
    }
  }

  function writeSnapshot(task: number, { head, artifacts }: Snapshot, tail: LogTail): void {
    putSnapshot.run(task, head, artifacts ?? null);
    moveSnapshot.run(tail.sequence, tail.generation, task);
  }

  return {
    commit(commit) {
      const row = reader.row(commit.taskId);
      const { owner } = commit;
      const result = decideCommit(commit, row && toTarget(row), (key) => keys.isTaken(owner, key));
      if ("refused" in result) return result;
      const { tail } = result;
      const task = row === undefined ? createTask(commit, tail) : updateTask(row, commit, tail);
      const before = row?.generation ?? 0;
      appendEntries(task, commit, before);
      if (commit.snapshot !== undefined) writeSnapshot(task, commit.snapshot, tail);
      if (result.deliveryDue && row !== undefined) deliveries.wake(task);
      for (const config of commit.pushConfigs) deliveries.put(task, config, before + 1, tail.generation);
      for (const key of commit.keys) keys.putTask(owner, task, key);
      return result;
    },

    claim(owner, taskId) {
      const row = reader.ownRow(owner, taskId);
      if (row === undefined) return undefined;
      raiseFence.run(row.number);
      return { ...reader.task(row, "full").task, fence: row.fence + 1 };
    },

    noteLoads(owner, taskId, loads) {
      const row = reader.ownRow(owner, taskId);
      if (row !== undefined) setLoads.run(loads, row.number);
    },

    putPushConfig(owner, config) {
      const row = reader.ownRow(owner, config.taskId);
      if (row !== undefined) deliveries.put(row.number, config, row.generation + 1, row.generation);
      return row !== undefined;
    },

    deletePushConfig(owner, taskId, id) {
      const row = reader.ownRow(owner, taskId);
      if (row !== undefined) deliveries.remove(row.number, id);
      return row !== undefined;
    },
  };
}

function toTarget(row: TaskRow): CommitTarget {
  return { owner: row, tail: toTail(row), fence: row.fence, hasPushConfigs: row.push_config_count > 0 };
}

function findLastNumber(database: DatabaseSync): number {
  const last = prepareQuery<{ readonly number: number }>(
    database,
    "select max(ifnull((select max(number) from tasks), 0), ifnull((select max(task) from doomed), 0)) as number",
  );
  return last.get()?.number ?? 0;
}
