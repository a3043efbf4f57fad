import type { TaskStore } from "@a2a-connect/server";
import type { Delivery } from "@a2a-connect/server/store";
import { describe, expect } from "vitest";
import { alice, createCommit, createPushConfig } from "../task-commit.ts";
import { committed, readDue, type StoreTest } from "./opened-store.ts";

const bob = { tenant: "acme", principal: "bob" };

/** Delivery cursors: where they begin, when they are due and how they move. */
export function deliverySuite(it: StoreTest): void {
  describe("a delivery", () => {
    it("begins with the first event of the commit that brings its config", async (store) => {
      const config = createPushConfig("task-1", "a");
      const init = { kinds: ["task", "status"], pushConfigs: [config] } as const;
      const after = await committed(store, init);
      const due = await onlyDelivery(store);
      expect(due).toEqual({
        number: due.number,
        owner: alice,
        taskId: "task-1",
        config,
        next: 1,
        bytes: createCommit(init).entries[0]?.payload.length,
        attempts: 0,
        dueAt: 0,
      });
      const second = createPushConfig("task-1", "b");
      await committed(store, { after, kinds: ["input", "status"], pushConfigs: [second] });
      expect(await cursors(store)).toEqual([
        { id: "a", next: 1, dueAt: 0 },
        { id: "b", next: 3, dueAt: 0 },
      ]);
    });

    it("of a config that is added later begins with what comes after", async (store) => {
      const after = await committed(store);
      await store.putPushConfig(alice, createPushConfig("task-1", "a"));
      expect(await cursors(store)).toEqual([]);
      await committed(store, { after });
      expect(await cursors(store)).toEqual([{ id: "a", next: 2, dueAt: 0 }]);
    });

    it("is told of by the commit that makes it due", async (store) => {
      const bare = await store.commit(createCommit());
      expect(bare).toEqual({ tail: { sequence: 1, generation: 1 }, deliveryDue: false });
      const pushConfigs = [createPushConfig("task-2", "a")];
      const first = await store.commit(createCommit({ taskId: "task-2", pushConfigs }));
      expect(first).toEqual({ tail: { sequence: 1, generation: 1 }, deliveryDue: true });
      const after = { tail: first.tail, fence: 1 };
      const note = await store.commit(createCommit({ taskId: "task-2", after, kinds: ["journal"] }));
      expect(note).toEqual({ tail: { sequence: 2, generation: 1 }, deliveryDue: false });
      const next = { tail: note.tail, fence: 1 };
      const event = await store.commit(createCommit({ taskId: "task-2", after: next, kinds: ["artifact"] }));
      expect(event).toEqual({ tail: { sequence: 3, generation: 2 }, deliveryDue: true });
      await store.deletePushConfig(alice, "task-2", "a");
      const last = { tail: event.tail, fence: 1 };
      expect(await store.commit(createCommit({ taskId: "task-2", after: last }))).toMatchObject({
        deliveryDue: false,
      });
    });

    it("is not due while there is no event to deliver, after any other commit", async (store) => {
      const after = await committed(store);
      await store.putPushConfig(alice, createPushConfig("task-1", "a"));
      const noted = await committed(store, { after, kinds: ["input", "journal", "command"] });
      expect(await cursors(store)).toEqual([]);
      await committed(store, { after: noted, kinds: ["artifact"] });
      expect(await cursors(store)).toEqual([{ id: "a", next: 2, dueAt: 0 }]);
    });

    it("is due again at once when it has moved and another event waits", async (store) => {
      await committed(store, { kinds: ["task", "status"], pushConfigs: [createPushConfig("task-1", "a")] });
      const { number } = await onlyDelivery(store);
      await store.moveDelivery({ number, next: 2, attempts: 0, retryAt: undefined });
      expect(await onlyDelivery(store)).toMatchObject({ number, next: 2, attempts: 0, dueAt: 0 });
      await store.moveDelivery({ number, next: 3, attempts: 0, retryAt: undefined });
      expect(await cursors(store)).toEqual([]);
    });

    it("knows how many bytes its event has, whatever else the log has", async (store) => {
      const pushConfigs = [createPushConfig("task-1", "a")];
      let after = await committed(store, { kinds: ["task", "input", "journal"], pushConfigs });
      after = await committed(store, { after, text: "x".repeat(2 * 2 ** 20) });
      await committed(store, { after, kinds: ["command", "artifact"] });
      const events = [];
      for (const each of [0, 1, 2]) events.push(...(await store.events(alice, "task-1", each, 1)));
      const { number } = await onlyDelivery(store);
      const sizes: number[] = [];
      for (const next of [2, 3, 4]) {
        sizes.push((await onlyDelivery(store)).bytes);
        await store.moveDelivery({ number, next, attempts: 0, retryAt: undefined });
      }
      expect(sizes).toEqual(events.map(({ payload }) => payload.length));
    });

    it("waits for the next event when it has delivered the last", async (store) => {
      const after = await committed(store, { pushConfigs: [createPushConfig("task-1", "a")] });
      const { number } = await onlyDelivery(store);
      await store.moveDelivery({ number, next: 2, attempts: 0, retryAt: undefined });
      expect(await cursors(store)).toEqual([]);
      await committed(store, { after });
      expect(await onlyDelivery(store)).toMatchObject({ number, next: 2, dueAt: 0 });
    });

    it("that has failed is due at its time, and no event makes that earlier", async (store) => {
      const after = await committed(store, { pushConfigs: [createPushConfig("task-1", "a")] });
      const { number } = await onlyDelivery(store);
      await store.moveDelivery({ number, next: 1, attempts: 3, retryAt: 9_000 });
      await committed(store, { after });
      expect(await readDue(store, 8_999)).toEqual([]);
      expect(await readDue(store, 9_000)).toMatchObject([{ number, attempts: 3, dueAt: 9_000 }]);
    });

    it("is never due without an event, even when it is to be tried again", async (store) => {
      await committed(store, { pushConfigs: [createPushConfig("task-1", "a")] });
      const { number } = await onlyDelivery(store);
      await store.moveDelivery({ number, next: 2, attempts: 0, retryAt: 9_000 });
      expect(await cursors(store)).toEqual([]);
    });

    it("goes on where it was when its config is replaced, at once and under a new number", async (store) => {
      const after = await committed(store, {
        kinds: ["task", "status"],
        pushConfigs: [createPushConfig("task-1", "a")],
      });
      const old = await onlyDelivery(store);
      await store.moveDelivery({ number: old.number, next: 2, attempts: 4, retryAt: 9_000 });
      const moved = createPushConfig("task-1", "a", "https://example.com/moved");
      await store.putPushConfig(alice, moved);
      const replaced = await onlyDelivery(store);
      expect(replaced).toMatchObject({ config: moved, next: 2, attempts: 0, dueAt: 0 });
      expect(replaced.number).not.toBe(old.number);
      const again = createPushConfig("task-1", "a", "https://example.com/again");
      await committed(store, { after, pushConfigs: [again] });
      expect(await onlyDelivery(store)).toMatchObject({ config: again, next: 2, attempts: 0, dueAt: 0 });
    });

    it("that has delivered everything waits on when its config is replaced", async (store) => {
      const after = await committed(store, { pushConfigs: [createPushConfig("task-1", "a")] });
      const { number } = await onlyDelivery(store);
      await store.moveDelivery({ number, next: 2, attempts: 0, retryAt: undefined });
      await store.putPushConfig(alice, createPushConfig("task-1", "a"));
      expect(await cursors(store)).toEqual([]);
      await committed(store, { after });
      expect(await cursors(store)).toEqual([{ id: "a", next: 2, dueAt: 0 }]);
    });

    for (const [what, change] of [
      ["replaced", (store: TaskStore) => store.putPushConfig(alice, createPushConfig("task-1", "a"))],
      [
        "removed and added again",
        async (store: TaskStore) => {
          await store.deletePushConfig(alice, "task-1", "a");
          await store.putPushConfig(alice, createPushConfig("task-1", "a"));
        },
      ],
    ] as const) {
      it(`does not move by the number of a config that was ${what}`, async (store) => {
        const after = await committed(store, { pushConfigs: [createPushConfig("task-1", "a")] });
        const { number } = await onlyDelivery(store);
        await change(store);
        await committed(store, { after });
        const before = await onlyDelivery(store);
        await store.moveDelivery({ number, next: 3, attempts: 0, retryAt: undefined });
        expect(await onlyDelivery(store)).toEqual(before);
      });
    }

    it("is gone with its config", async (store) => {
      const pushConfigs = [createPushConfig("task-1", "a"), createPushConfig("task-1", "b")];
      const after = await committed(store, { pushConfigs });
      await store.deletePushConfig(alice, "task-1", "a");
      await committed(store, { after });
      expect(await cursors(store)).toEqual([{ id: "b", next: 1, dueAt: 0 }]);
    });

    it("is not touched by a commit that is refused", async (store) => {
      await committed(store, { pushConfigs: [createPushConfig("task-1", "a")] });
      const before = await onlyDelivery(store);
      const moved = createPushConfig("task-1", "a", "https://example.com/moved");
      expect(await store.commit(createCommit({ pushConfigs: [moved] }))).toMatchObject({
        refused: "conflict",
      });
      expect(await onlyDelivery(store)).toEqual(before);
    });

    it("is not touched by strangers", async (store) => {
      await committed(store, { pushConfigs: [createPushConfig("task-1", "a")] });
      const before = await onlyDelivery(store);
      expect(await store.putPushConfig(bob, createPushConfig("task-1", "a"))).toBe(false);
      expect(await store.deletePushConfig(bob, "task-1", "a")).toBe(false);
      expect(await onlyDelivery(store)).toEqual(before);
    });
  });

  describe("dueDeliveriesOf", () => {
    it("gives those of one task that are due at once, by number, at most as many as asked for", async (store) => {
      const ids = ["c", "a", "b"];
      await committed(store, { taskId: "task-1", pushConfigs: [createPushConfig("task-1", "z")] });
      await committed(store, {
        taskId: "task-2",
        pushConfigs: ids.map((id) => createPushConfig("task-2", id)),
      });
      await committed(store, {
        taskId: "task-3",
        owner: bob,
        pushConfigs: [createPushConfig("task-3", "y")],
      });
      const named = async (limit: number) =>
        (await store.dueDeliveriesOf(alice, "task-2", limit)).map(({ config }) => config.id);
      expect([await named(10), await named(2)]).toEqual([ids, ids.slice(0, 2)]);
      const [first, second] = await store.dueDeliveriesOf(alice, "task-2", 10);
      await store.moveDelivery({ number: first?.number ?? 0, next: 2, attempts: 0, retryAt: undefined });
      await store.moveDelivery({ number: second?.number ?? 0, next: 1, attempts: 1, retryAt: 100 });
      expect(await named(10)).toEqual(["b"]);
      for (const other of ["task-3", "unknown"])
        expect(await store.dueDeliveriesOf(alice, other, 10)).toEqual([]);
    });
  });

  describe("dueDeliveries", () => {
    it("gives what was put off, of all owners up to a time, earliest first, at most as many as asked for", async (store) => {
      for (const [taskId, owner, retryAt] of [
        ["task-1", alice, 300],
        ["task-2", bob, 100],
        ["task-3", alice, 200],
        ["task-4", alice, 301],
      ] as const) {
        await committed(store, { taskId, owner, pushConfigs: [createPushConfig(taskId, "a")] });
        const fresh = await readDue(store, 0);
        for (const { number } of fresh) await store.moveDelivery({ number, next: 1, attempts: 1, retryAt });
      }
      const named = async (now: number, limit: number) =>
        (await store.dueDeliveries({ now, latest: 1_000, after: 0, limit })).retries.map(
          ({ taskId }) => taskId,
        );
      expect(await named(300, 10)).toEqual(["task-2", "task-3", "task-1"]);
      expect(await named(300, 2)).toEqual(["task-2", "task-3"]);
      expect(await named(99, 10)).toEqual([]);
      expect((await readDue(store, 100))[0]?.owner).toEqual(bob);
    });

    it("gives what is due at once in turns, each once", async (store) => {
      const ids = ["a", "b", "c", "d", "e"];
      await committed(store, { pushConfigs: ids.map((id) => createPushConfig("task-1", id)) });
      const numbers = (await readDue(store)).map(({ number }) => number);
      const inTurn = async (after: number, limit: number) =>
        (await store.dueDeliveries({ now: 0, latest: 0, after, limit })).fresh.map(({ config }) => config.id);
      expect(await inTurn(0, 2)).toEqual(["a", "b"]);
      expect(await inTurn(numbers[1] ?? 0, 2)).toEqual(["c", "d"]);
      expect(await inTurn(numbers[3] ?? 0, 3)).toEqual(["e", "a", "b"]);
      expect(await inTurn(numbers[3] ?? 0, 10)).toEqual(["e", "a", "b", "c", "d"]);
      expect(await inTurn(Number.MAX_SAFE_INTEGER, 2)).toEqual(["a", "b"]);
    });

    it("gives what was put off however much is due at once, and the other way round", async (store) => {
      const ids = ["a", "b", "c", "d"];
      await committed(store, { pushConfigs: ids.map((id) => createPushConfig("task-1", id)) });
      for (const { number, config } of await readDue(store)) {
        if (config.id > "b") await store.moveDelivery({ number, next: 1, attempts: 1, retryAt: 100 });
      }
      const { fresh, retries } = await store.dueDeliveries({ now: 100, latest: 100, after: 0, limit: 1 });
      expect([...fresh, ...retries].map(({ config }) => config.id)).toEqual(["a", "c"]);
    });

    it("says when the next will be due, and gives what was put off beyond the latest time", async (store) => {
      const ids = ["100", "200", "300", "400"];
      await committed(store, { pushConfigs: ids.map((id) => createPushConfig("task-1", id)) });
      for (const { number, config } of await readDue(store))
        await store.moveDelivery({ number, next: 1, attempts: 1, retryAt: Number(config.id) });
      const query = async (now: number, latest: number) => {
        const { fresh, retries, nextAt } = await store.dueDeliveries({ now, latest, after: 0, limit: 10 });
        return { due: [...fresh, ...retries].map(({ config }) => config.id), nextAt };
      };
      expect(await query(99, 1_000)).toEqual({ due: [], nextAt: 100 });
      expect(await query(200, 1_000)).toEqual({ due: ["100", "200"], nextAt: 300 });
      expect(await query(100, 300)).toEqual({ due: ["100", "400"], nextAt: 200 });
      expect(await query(0, 50)).toEqual({ due: ids, nextAt: undefined });
      expect(await query(400, 300)).toEqual({ due: ids, nextAt: undefined });
    });

    it("gives what was put off page by page, by time and then by number", async (store) => {
      const ids = ["a", "b", "c", "d", "e", "f"];
      await committed(store, { pushConfigs: ids.map((id) => createPushConfig("task-1", id)) });
      const times = [200, 100, 100, 900, 300, 800];
      for (const [at, { number }] of (await readDue(store)).entries())
        await store.moveDelivery({ number, next: 1, attempts: 1, retryAt: times[at] });
      const found: string[] = [];
      for (let afterRetry: Delivery | undefined; found.length <= ids.length; ) {
        const query = { now: 200, latest: 500, after: 0, afterRetry, limit: 1 };
        const { retries, nextAt } = await store.dueDeliveries(query);
        expect(nextAt).toBe(300);
        afterRetry = retries[0];
        if (afterRetry === undefined) break;
        found.push(afterRetry.config.id);
      }
      expect(found).toEqual(["b", "c", "a", "f", "d"]);
    });

    it("gives configs that do not change with what was read", async (store) => {
      await committed(store, { pushConfigs: [createPushConfig("task-1", "a")] });
      (await onlyDelivery(store)).config.url = "https://example.com/changed";
      expect((await onlyDelivery(store)).config).toEqual(createPushConfig("task-1", "a"));
    });
  });
}

async function onlyDelivery(store: TaskStore): Promise<Delivery> {
  const [delivery, ...others] = await readDue(store);
  if (delivery === undefined || others.length > 0)
    expect.fail(`one delivery is due, and not ${others.length + (delivery === undefined ? 0 : 1)}`);
  return delivery;
}

/** All deliveries that are due at any time, by the id of their config. */
async function cursors(store: TaskStore): Promise<readonly unknown[]> {
  const due = await readDue(store);
  return due
    .map(({ config, next, dueAt }) => ({ id: config.id, next, dueAt }))
    .sort((one, other) => one.id.localeCompare(other.id));
}
