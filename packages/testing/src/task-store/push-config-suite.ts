import { describe, expect } from "vitest";
import { alice, createPushConfig } from "../task-commit.ts";
import { committed, type StoreTest } from "./opened-store.ts";

/** Push configs, which belong to a task and so to its owner. */
export function pushConfigSuite(it: StoreTest): void {
  describe("push configs", () => {
    it("are kept whole, under their task and id", async (store) => {
      await committed(store);
      await committed(store, { taskId: "task-2" });
      const config = createPushConfig("task-1", "a");
      const other = createPushConfig("task-2", "a", "https://example.com/other");
      expect(await store.putPushConfig(alice, config)).toBe(true);
      expect(await store.putPushConfig(alice, other)).toBe(true);
      expect(await store.findPushConfig(alice, "task-1", "a")).toEqual(config);
      expect(await store.findPushConfig(alice, "task-2", "a")).toEqual(other);
      expect(await store.findPushConfig(alice, "task-1", "b")).toBeUndefined();
    });

    it("replace one of the same id", async (store) => {
      await committed(store);
      const moved = createPushConfig("task-1", "a", "https://example.com/moved");
      await store.putPushConfig(alice, createPushConfig("task-1", "a"));
      await store.putPushConfig(alice, moved);
      expect(await store.listPushConfigs(alice, "task-1", undefined, 10)).toEqual([moved]);
    });

    it("do not change with the message that was stored or read", async (store) => {
      await committed(store);
      const config = createPushConfig("task-1", "a");
      await store.putPushConfig(alice, config);
      config.url = "https://example.com/changed";
      const read = await store.findPushConfig(alice, "task-1", "a");
      if (read !== undefined) read.token = "changed";
      expect(await store.findPushConfig(alice, "task-1", "a")).toEqual(createPushConfig("task-1", "a"));
    });

    it("are listed by id in pages (A-55)", async (store) => {
      await committed(store);
      expect(await store.listPushConfigs(alice, "task-1", undefined, 10)).toEqual([]);
      for (const id of ["b", "\u{1f642}", "a", "\uffff", "B", ""]) {
        await store.putPushConfig(alice, createPushConfig("task-1", id));
      }
      const page = async (after: string | undefined, limit: number) =>
        (await store.listPushConfigs(alice, "task-1", after, limit))?.map(({ id }) => id);
      expect(await page(undefined, 2)).toEqual(["", "B"]);
      expect(await page("B", 2)).toEqual(["a", "b"]);
      expect(await page("b", 10)).toEqual(["\uffff", "\u{1f642}"]);
      expect(await page("aa", 1)).toEqual(["b"]);
      expect(await page("\u{1f642}", 10)).toEqual([]);
    });

    it("are counted by their ids, as many as are asked for", async (store) => {
      await committed(store);
      expect(await store.pushConfigIds(alice, "task-1", 10)).toEqual([]);
      for (const id of ["b", "a", "c"]) await store.putPushConfig(alice, createPushConfig("task-1", id));
      expect((await store.pushConfigIds(alice, "task-1", 10))?.toSorted()).toEqual(["a", "b", "c"]);
      expect(await store.pushConfigIds(alice, "task-1", 2)).toHaveLength(2);
      expect(await store.pushConfigIds(alice, "task-2", 10)).toBeUndefined();
    });

    it("are gone once deleted, and may be deleted again", async (store) => {
      await committed(store);
      await store.putPushConfig(alice, createPushConfig("task-1", "a"));
      await store.putPushConfig(alice, createPushConfig("task-1", "b"));
      expect(await store.deletePushConfig(alice, "task-1", "a")).toBe(true);
      expect(await store.deletePushConfig(alice, "task-1", "a")).toBe(true);
      expect(await store.findPushConfig(alice, "task-1", "a")).toBeUndefined();
      expect(await store.listPushConfigs(alice, "task-1", undefined, 10)).toEqual([
        createPushConfig("task-1", "b"),
      ]);
    });
  });
}
