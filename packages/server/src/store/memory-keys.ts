import { decodeMessage, encodeMessage } from "@a2a-connect/core/internal";
import { type Message, MessageSchema } from "@a2a-connect/proto";
import type { MemoryTask } from "./memory-task.ts";
import type { Owner, RequestKey, StoredKey, TaskKey } from "./task-store.ts";

/** The idempotency keys of a memory store. */
export interface MemoryKeys {
  find(owner: Owner, key: string): StoredKey | undefined;
  /** A copy of the direct Message that is kept for a key. */
  findReply(owner: Owner, key: string): Message | undefined;
  /** Keeps the key of a message that has become part of the task. */
  putTask(task: MemoryTask, key: TaskKey): void;
  /** Stores a copy of a direct Message; false when the key is taken. */
  putReply(owner: Owner, key: RequestKey, message: Message, expiresAt: number): boolean;
  /** Removes the keys of a task. */
  clear(task: MemoryTask): void;
  /** Removes up to `limit` Messages that expired before `now`; returns how many. */
  expire(now: number, limit: number): number;
}

interface KeptReply {
  readonly payload: Uint8Array;
  readonly expiresAt: number;
}

/** What a key of a task takes besides its characters, which are in two names: the objects. */
const keyBytes = 2_048;

/** What a kept Message takes besides its bytes: its key and the objects. */
const replyBytes = 1_024;

/** The keys of an empty store. @param use counts what the kept Messages take, about, in bytes */
export function createMemoryKeys(use: (bytes: number) => void): MemoryKeys {
  /** By owner and key. */
  const stored = new Map<string, StoredKey>();
  /** Kept Messages and when they go, by owner and key. All are kept for the same time, so the first ones go first. */
  const replies = new Map<string, KeptReply>();

  return {
    find(owner, key) {
      const found = stored.get(formatName(owner, key));
      return found && copyOf(found);
    },

    findReply(owner, key) {
      const reply = replies.get(formatName(owner, key));
      return reply && decodeMessage(MessageSchema, reply.payload);
    },

    putTask(task, { key, fingerprint, generation }) {
      const result = { kind: "task", taskId: task.taskId, generation } as const;
      stored.set(formatName(task.owner, key), copyOf({ key, fingerprint, result }));
      task.keys.push(key);
      task.bytes += keyBytes + 2 * key.length;
    },

    putReply(owner, { key, fingerprint }, message, expiresAt) {
      const name = formatName(owner, key);
      if (stored.has(name)) return false;
      stored.set(name, copyOf({ key, fingerprint, result: { kind: "message" } }));
      const payload = encodeMessage(MessageSchema, message);
      replies.set(name, { payload, expiresAt });
      use(replyBytes + payload.length);
      return true;
    },

    clear({ owner, keys }) {
      for (const key of keys) stored.delete(formatName(owner, key));
    },

    expire(now, limit) {
      let expired = 0;
      for (const [name, { expiresAt, payload }] of replies) {
        if (expired === limit || expiresAt >= now) break;
        stored.delete(name);
        replies.delete(name);
        use(-(replyBytes + payload.length));
        expired += 1;
      }
      return expired;
    },
  };
}

/** One text of the three, different for every owner and key. */
function formatName({ tenant, principal }: Owner, key: string): string {
  return JSON.stringify([tenant, principal, key]);
}

/** Bytes are mutable: neither who stores a key nor who reads it holds what is stored. */
function copyOf({ key, fingerprint, result }: StoredKey): StoredKey {
  return { key, fingerprint: fingerprint.slice(), result };
}
