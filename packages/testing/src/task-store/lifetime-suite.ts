import { MessageSchema } from "@a2a-connect/proto";
import type { TaskStore } from "@a2a-connect/server";
import type { RequestKey } from "@a2a-connect/server/store";
import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test } from "vitest";
import { alice, createCommit, createPushConfig } from "../task-commit.ts";
import { committed, everything, noLog, type OpenTaskStore, refusalOf, storeTest } from "./opened-store.ts";

const key: RequestKey = { key: "key-1", fingerprint: new Uint8Array([1, 2, 3]) };
const reply = create(MessageSchema, { messageId: "reply" });

const calls: readonly (readonly [keyof TaskStore, (store: TaskStore) => Promise<unknown>])[] = [
  ["commit", (store) => store.commit(createCommit())],
  ["claim", (store) => store.claim(alice, "task-1")],
  ["find", (store) => store.find(alice, "task-1", "full")],
  ["list", (store) => store.list(everything)],
  ["events", (store) => store.events(alice, "task-1", 0, 10)],
  ["entries", (store) => store.entries(alice, "task-1", noLog, "all", 10)],
  ["findKey", (store) => store.findKey(alice, "key-1")],
  ["findKey", (store) => store.findKey(alice, "key-2")],
  ["findReply", (store) => store.findReply(alice, "key-2")],
  ["putReply", (store) => store.putReply(alice, key, reply, 5_000)],
  ["unfinished", (store) => store.unfinished({ hasTimer: true, after: undefined, limit: 10 })],
  ["weigh", (store) => store.weigh(alice, "task-1")],
  ["noteLoads", (store) => store.noteLoads(alice, "task-1", 1)],
  ["due", (store) => store.due(10_000, 10)],
  ["dueDeliveries", (store) => store.dueDeliveries({ now: 10_000, latest: 20_000, after: 0, limit: 10 })],
  ["dueDeliveriesOf", (store) => store.dueDeliveriesOf(alice, "task-1", 10)],
  ["moveDelivery", (store) => store.moveDelivery({ number: 1, next: 2, attempts: 0, retryAt: undefined })],
  ["expire", (store) => store.expire({ finishedBefore: undefined, now: 0, limit: 10 })],
  ["putPushConfig", (store) => store.putPushConfig(alice, createPushConfig("task-1", "b"))],
  ["findPushConfig", (store) => store.findPushConfig(alice, "task-1", "a")],
  ["listPushConfigs", (store) => store.listPushConfigs(alice, "task-1", undefined, 10)],
  ["pushConfigIds", (store) => store.pushConfigIds(alice, "task-1", 10)],
  ["deletePushConfig", (store) => store.deletePushConfig(alice, "task-1", "b")],
];

const reading: ReadonlySet<keyof TaskStore> = new Set([
  "find",
  "list",
  "events",
  "entries",
  "findKey",
  "findReply",
  "unfinished",
  "weigh",
  "due",
  "dueDeliveries",
  "dueDeliveriesOf",
  "findPushConfig",
  "listPushConfigs",
  "pushConfigIds",
]);

/** Closing, and the content of a store that is opened again. */
export function lifetimeSuite(open: OpenTaskStore): void {
  const it = storeTest(open);
  describe("close", () => {
    for (const [at, [name, call]] of calls.entries()) {
      it(`makes ${name} (call ${at + 1}) reject as Unavailable`, async (store) => {
        await store.close();
        await expect(call(store)).rejects.toMatchObject({ code: Code.Unavailable });
      });
    }

    it("waits for the commits under way", async (store) => {
      const commits = Array.from({ length: 100 }, (_, at) =>
        store.commit(createCommit({ taskId: `task-${at}` })),
      );
      const [results] = await Promise.all([Promise.all(commits), store.close()]);
      expect(results.map(refusalOf)).toEqual(commits.map(() => undefined));
    });

    it("may be called again", async (store) => {
      await store.close();
      await expect(store.close()).resolves.toBeUndefined();
    });
  });

  describe("a store that is opened again", () => {
    test("answers every call as before", async ({ skip }) => {
      const { store, reopen } = await open();
      if (reopen === undefined) {
        await store.close();
        return skip("this store forgets with its process");
      }
      const config = createPushConfig("task-1", "a");
      const first = await committed(store, { kinds: ["task", "artifact"], snapshot: true, wakeAt: 5_000 });
      await committed(store, {
        after: first,
        kinds: ["input", "status"],
        wakeAt: 6_000,
        pushConfigs: [config],
        keys: [{ ...key, generation: 1 }],
      });
      await committed(store, { taskId: "task-2" });
      await store.claim(alice, "task-2");
      await store.noteLoads(alice, "task-1", 2);
      await store.putReply(alice, { ...key, key: "key-2" }, reply, 5_000);
      const reads = calls.filter(([name]) => reading.has(name));
      const before = await Promise.all(reads.map(([, call]) => call(store)));
      await store.close();
      const again = await reopen();
      onTestFinished(() => again.close());
      expect(await Promise.all(reads.map(([, call]) => call(again)))).toEqual(before);
      expect((await again.find(alice, "task-2", "full"))?.fence).toBe(2);
      await committed(again, { after: { tail: { sequence: 4, generation: 3 }, fence: 1 } });
    });
  });
}
