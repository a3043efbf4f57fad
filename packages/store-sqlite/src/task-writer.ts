import type { DatabaseSync } from "node:sqlite";
import { type TaskPushNotificationConfig, TaskPushNotificationConfigSchema } from "@a2a-connect/proto";
import {
  type CommitResult,
  type CommitTarget,
  decideCommit,
  type LogTail,
  type Owner,
  type StoredTask,
  type TaskCommit,
} from "@a2a-connect/server";
import { toBinary } from "@bufbuild/protobuf";
import { formatKind, type TaskReader, type TaskRow } from "./task-rows.ts";

/** Changes tasks; every method runs inside a transaction. */
export interface TaskWriter {
  commit(commit: TaskCommit): CommitResult;
  claim(owner: Owner, taskId: string): StoredTask | undefined;
  putPushConfig(owner: Owner, config: TaskPushNotificationConfig): boolean;
  deletePushConfig(owner: Owner, taskId: string, id: string): boolean;
}

/** Prepares what changes tasks. */
export function createTaskWriter(database: DatabaseSync, reader: TaskReader): TaskWriter {
  const insertTask = database.prepare(`
    insert into tasks (task_id, tenant, principal, context_id, state, status_timestamp, wake_at, sequence, generation,
      fence, snapshot_sequence, snapshot_generation)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 0, 0)`);
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
  const putConfig = database.prepare(
    "insert or replace into push_configs (task, id, config) values (?, ?, ?)",
  );
  const deleteConfig = database.prepare("delete from push_configs where task = ? and id = ?");

  function createTask({ taskId, owner, index }: TaskCommit, tail: LogTail): number {
    const { contextId, state, statusTimestamp, wakeAt } = index;
    const { lastInsertRowid } = insertTask.run(
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
    return Number(lastInsertRowid);
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

  function writeConfig(task: number, config: TaskPushNotificationConfig): void {
    putConfig.run(task, config.id, toBinary(TaskPushNotificationConfigSchema, config));
  }

  return {
    commit(commit) {
      const row = reader.row(commit.taskId);
      const result = decideCommit(commit, row && toTarget(row));
      if ("refused" in result) return result;
      const { tail } = result;
      const task = row === undefined ? createTask(commit, tail) : updateTask(row, commit, tail);
      let reached = row?.generation ?? 0;
      for (const { sequence, generation, kind, payload } of commit.entries) {
        reached = generation ?? reached;
        insertEntry.run(task, sequence, reached, formatKind(kind), payload);
      }
      if (commit.snapshot !== undefined) {
        putSnapshot.run(task, commit.snapshot.head, commit.snapshot.artifacts ?? null);
        moveSnapshot.run(tail.sequence, tail.generation, task);
      }
      for (const config of commit.pushConfigs) writeConfig(task, config);
      return result;
    },

    claim(owner, taskId) {
      const row = reader.ownRow(owner, taskId);
      if (row === undefined) return undefined;
      raiseFence.run(row.number);
      return { ...reader.task(row, "full"), fence: row.fence + 1 };
    },

    putPushConfig(owner, config) {
      const row = reader.ownRow(owner, config.taskId);
      if (row !== undefined) writeConfig(row.number, config);
      return row !== undefined;
    },

    deletePushConfig(owner, taskId, id) {
      const row = reader.ownRow(owner, taskId);
      if (row !== undefined) deleteConfig.run(row.number, id);
      return row !== undefined;
    },
  };
}

function toTarget(row: TaskRow): CommitTarget {
  return { owner: row, tail: { sequence: row.sequence, generation: row.generation }, fence: row.fence };
}
