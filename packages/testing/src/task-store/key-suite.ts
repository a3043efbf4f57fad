import { type Message, MessageSchema, Role, TaskState } from "@a2a-connect/proto";
import type { TaskStore } from "@a2a-connect/server";
import type { TaskKey } from "@a2a-connect/server/store";
import { create } from "@bufbuild/protobuf";
import { describe, expect } from "vitest";
import { alice, createCommit } from "../task-commit.ts";
import { committed, present, refusalOf, type StoreTest, strangers } from "./opened-store.ts";

/** Idempotency keys: their owners, and the commits that they refuse. */
export function keySuite(it: StoreTest): void {
  describe("a key that comes with a commit", () => {
    it("leads to the task, and to where the consequences of its request begin", async (store) => {
      const first = await committed(store, { keys: [createKey("first")] });
      const later = [createKey("second", 1), createKey("third", 1)];
      await committed(store, { after: first, kinds: ["input", "status"], keys: later });
      expect(await store.findKey(alice, "first")).toEqual(foundKey("first", 0));
      expect(await store.findKey(alice, "second")).toEqual(foundKey("second", 1));
      expect(await store.findKey(alice, "third")).toEqual(foundKey("third", 1));
      expect(await store.findKey(alice, "fourth")).toBeUndefined();
    });

    it("refuses a second task under it, and writes nothing", async (store) => {
      await committed(store, { keys: [createKey("taken")] });
      const keys = [createKey("free"), createKey("taken")];
      expect(await store.commit(createCommit({ taskId: "task-2", keys }))).toEqual({
        refused: "duplicate",
        tail: { sequence: 0, generation: 0 },
      });
      expect(await store.find(alice, "task-2", "full")).toBeUndefined();
      expect(await store.findKey(alice, "free")).toBeUndefined();
      expect(await store.findKey(alice, "taken")).toEqual(foundKey("taken", 0));
    });

    it("refuses a second message to its own task, and writes nothing", async (store) => {
      const after = await committed(store, { keys: [createKey("taken")] });
      const again = createCommit({ after, kinds: ["input", "status"], keys: [createKey("taken", 1)] });
      expect(await store.commit(again)).toEqual({ refused: "duplicate", tail: after.tail });
      expect(present(await store.find(alice, "task-1", "full")).tail).toEqual(after.tail);
      await committed(store, { after, keys: [createKey("free", 1)] });
    });

    it("is refused when it comes twice in one commit", async (store) => {
      const keys = [createKey("one"), createKey("one")];
      expect(refusalOf(await store.commit(createCommit({ keys })))).toBe("duplicate");
      expect(await store.findKey(alice, "one")).toBeUndefined();
    });

    it("is not looked at when the end or the fence is not the writer's", async (store) => {
      const after = await committed(store, { keys: [createKey("taken")] });
      const keys = [createKey("taken")];
      expect(refusalOf(await store.commit(createCommit({ keys })))).toBe("conflict");
      await store.claim(alice, "task-1");
      expect(refusalOf(await store.commit(createCommit({ after, keys })))).toBe("fenced");
    });

    it("is taken by exactly one of those that race for it", async (store) => {
      const commits = Array.from({ length: 20 }, (_, at) =>
        createCommit({ taskId: `task-${at}`, keys: [createKey("one")] }),
      );
      const replies = Array.from({ length: 20 }, () => store.putReply(alice, createKey("one"), reply, 5_000));
      const results = await Promise.all(commits.map((commit) => store.commit(commit)));
      const winners = results.filter((result) => refusalOf(result) === undefined).length;
      const kept = (await Promise.all(replies)).filter((isKept) => isKept).length;
      expect(winners + kept).toBe(1);
    });

    it("does not change with the bytes that were stored or read", async (store) => {
      const key = createKey("one");
      await committed(store, { keys: [key] });
      key.fingerprint.fill(0);
      (await store.findKey(alice, "one"))?.fingerprint.fill(0);
      expect(await store.findKey(alice, "one")).toEqual(foundKey("one", 0));
    });
  });

  describe("a key that was answered with a Message", () => {
    it("leads to the Message", async (store) => {
      expect(await store.putReply(alice, createKey("one"), reply, 5_000)).toBe(true);
      expect(await store.findKey(alice, "one")).toEqual(keptReply("one"));
      expect(await store.findReply(alice, "one")).toEqual(reply);
      expect(await store.findReply(alice, "two")).toBeUndefined();
    });

    it("is taken for commits and for other Messages", async (store) => {
      await store.putReply(alice, createKey("one"), reply, 5_000);
      const other = create(MessageSchema, { messageId: "other" });
      expect(await store.putReply(alice, createKey("one"), other, 5_000)).toBe(false);
      expect(refusalOf(await store.commit(createCommit({ keys: [createKey("one")] })))).toBe("duplicate");
      expect(await store.findKey(alice, "one")).toEqual(keptReply("one"));
      expect(await store.findReply(alice, "one")).toEqual(reply);
    });

    it("is not stored over the key of a task", async (store) => {
      await committed(store, { keys: [createKey("one")] });
      expect(await store.putReply(alice, createKey("one"), reply, 5_000)).toBe(false);
      expect(await store.findKey(alice, "one")).toEqual(foundKey("one", 0));
      expect(await store.findReply(alice, "one")).toBeUndefined();
    });

    it("does not change with the Message that was stored or read", async (store) => {
      const mine = create(MessageSchema, { messageId: "reply", role: Role.AGENT });
      await store.putReply(alice, createKey("one"), mine, 5_000);
      mine.messageId = "changed";
      const read = await store.findReply(alice, "one");
      if (read !== undefined) read.messageId = "changed";
      expect(await store.findReply(alice, "one")).toEqual(reply);
    });
  });

  describe("a key and who asks for it", () => {
    for (const [who, owner] of strangers) {
      it(`is not there for ${who}, who may take the same`, async (store) => {
        await committed(store, { keys: [createKey("task")] });
        await store.putReply(alice, createKey("reply"), reply, 5_000);
        expect(await store.findKey(owner, "task")).toBeUndefined();
        expect(await store.findKey(owner, "reply")).toBeUndefined();
        expect(await store.findReply(owner, "reply")).toBeUndefined();
        await committed(store, { owner, taskId: "task-2", keys: [createKey("reply")] });
        expect(await store.putReply(owner, createKey("task"), reply, 5_000)).toBe(true);
        expect(await findResults(store)).toEqual([foundKey("task", 0), keptReply("reply")]);
      });

      it(`is not taken by ${who} who writes to a foreign task`, async (store) => {
        const after = await committed(store, { state: TaskState.WORKING });
        const foreign = createCommit({ owner, after, keys: [createKey("one")] });
        expect(refusalOf(await store.commit(foreign))).toBe("conflict");
        expect(await store.findKey(owner, "one")).toBeUndefined();
      });
    }
  });
}

const reply: Message = create(MessageSchema, { messageId: "reply", role: Role.AGENT });

function createKey(key: string, generation = 0): TaskKey {
  return { key, fingerprint: new TextEncoder().encode(`fingerprint of ${key}`), generation };
}

/** The result for a key of task-1. */
function foundKey(key: string, generation: number): unknown {
  return {
    key,
    fingerprint: createKey(key).fingerprint,
    result: { kind: "task", taskId: "task-1", generation },
  };
}

function keptReply(key: string): unknown {
  return { key, fingerprint: createKey(key).fingerprint, result: { kind: "message" } };
}

async function findResults(store: TaskStore): Promise<unknown> {
  return Promise.all(["task", "reply"].map((key) => store.findKey(alice, key)));
}
