import type { DatabaseSync } from "node:sqlite";
import { decodeMessage, encodeMessage } from "@a2a-connect/core";
import { type Message, MessageSchema } from "@a2a-connect/proto";
import type { KeyedResult, Owner, RequestKey, StoredKey, TaskKey } from "@a2a-connect/server";
import { prepareQuery } from "./query.ts";

/** Idempotency keys. What changes them runs inside a transaction. */
export interface RequestKeys {
  find(owner: Owner, key: string): StoredKey | undefined;
  isTaken(owner: Owner, key: string): boolean;
  /** Keeps the free key of a message that has become part of the task with this number. */
  putTask(owner: Owner, task: number, key: TaskKey): void;
  /** False when the key is taken. */
  putReply(owner: Owner, key: RequestKey, message: Message, expiresAt: number): boolean;
}

interface KeyRow {
  readonly fingerprint: Uint8Array;
  readonly generation: number | null;
  readonly message: Uint8Array | null;
  /** Null for a Message, and for a task that has been forgotten. */
  readonly task_id: string | null;
}

/** Finds a key whose task, if it has one, is there. */
const findSql = `
  select fingerprint, keys.generation, message, task_id from keys left join tasks on tasks.number = keys.task
  where keys.tenant = ? and keys.principal = ? and keys.key = ? and (keys.task is null or task_id is not null)`;

/** Prepares what reads and changes idempotency keys. */
export function createRequestKeys(database: DatabaseSync): RequestKeys {
  const find = prepareQuery<KeyRow>(database, findSql);
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

    putTask({ tenant, principal }, task, { key, fingerprint, generation }) {
      put.run(tenant, principal, key, fingerprint, task, generation, null, null);
    },

    putReply(owner, { key, fingerprint }, message, expiresAt) {
      if (isTaken(owner, key)) return false;
      const { tenant, principal } = owner;
      put.run(
        tenant,
        principal,
        key,
        fingerprint,
        null,
        null,
        encodeMessage(MessageSchema, message),
        expiresAt,
      );
      return true;
    },
  };
}

function toResult({ task_id, generation, message }: KeyRow): KeyedResult {
  if (message !== null) return { kind: "message", message: decodeMessage(MessageSchema, message) };
  if (task_id === null || generation === null) throw new RangeError("a key has neither a Message nor a task");
  return { kind: "task", taskId: task_id, generation };
}
