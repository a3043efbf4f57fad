import type { DatabaseSync } from "node:sqlite";
import type { KeyedResult, Owner, RequestKey, StoredKey, TaskKey } from "@a2a-connect/server/store";
import { prepareQuery } from "./schema.ts";

/** Idempotency keys. Methods that change them run inside a transaction. */
export interface RequestKeys {
  /** Without the Message of one that has been answered with one. */
  find(owner: Owner, key: string): StoredKey | undefined;
  /** The encoded Message that is kept for a key. */
  findReply(owner: Owner, key: string): Uint8Array | undefined;
  isTaken(owner: Owner, key: string): boolean;
  /** Stores a free key for a message that has become part of the task with this number. */
  putTask(owner: Owner, task: number, key: TaskKey): void;
  /** Keeps an encoded Message; false when the key is taken. */
  putReply(owner: Owner, key: RequestKey, message: Uint8Array, expiresAt: number): boolean;
}

interface KeyRow {
  readonly fingerprint: Uint8Array;
  readonly generation: number | null;
  readonly has_message: number;
  /** Null for a Message, and for a task that has been forgotten. */
  readonly task_id: string | null;
}

/**
 * Finds a key whose task, if it has one, is there. It looks whether there is a Message and does not read it, because a caller
 * that repeats a key may do so with a request that costs nothing (SQLite knows the type of a value without reading it; `is null` reads it).
 */
const findSql = `
  select fingerprint, keys.generation, typeof(message) = 'blob' as has_message, task_id from keys left join tasks on tasks.number = keys.task
  where keys.tenant = ? and keys.principal = ? and keys.key = ? and (keys.task is null or task_id is not null)`;

/** Prepares the statements that read and change idempotency keys. */
export function createRequestKeys(database: DatabaseSync): RequestKeys {
  const find = prepareQuery<KeyRow>(database, findSql);
  const reply = prepareQuery<{ readonly message: Uint8Array }>(
    database,
    "select message from keys where tenant = ? and principal = ? and key = ? and message is not null",
  );
  // What is replaced here is a key whose task has been forgotten and which itself has not been removed yet.
  const put = database.prepare(`
    insert or replace into keys (tenant, principal, key, fingerprint, task, generation, message, expires_at)
    values (?, ?, ?, ?, ?, ?, ?, ?)`);

  function isTaken({ tenant, principal }: Owner, key: string): boolean {
    return find.get(tenant, principal, key) !== undefined;
  }

  return {
    isTaken,

    find({ tenant, principal }, key) {
      const row = find.get(tenant, principal, key);
      return row && { key, fingerprint: row.fingerprint, result: toResult(row) };
    },

    findReply({ tenant, principal }, key) {
      return reply.get(tenant, principal, key)?.message;
    },

    putTask({ tenant, principal }, task, { key, fingerprint, generation }) {
      put.run(tenant, principal, key, fingerprint, task, generation, null, null);
    },

    putReply(owner, { key, fingerprint }, message, expiresAt) {
      if (isTaken(owner, key)) return false;
      const { tenant, principal } = owner;
      put.run(tenant, principal, key, fingerprint, null, null, message, expiresAt);
      return true;
    },
  };
}

function toResult({ task_id, generation, has_message }: KeyRow): KeyedResult {
  if (has_message !== 0) return { kind: "message" };
  if (task_id === null || generation === null) throw new RangeError("a key has neither a Message nor a task");
  return { kind: "task", taskId: task_id, generation };
}
