import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { StreamResponseSchema } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EventPages } from "./event-pages.ts";
import { CommittedEvent, EventBudget } from "./events.ts";
import { LiveTail, TaskReaders } from "./task-readers.ts";
import { findWakes } from "./wakes.ts";

describe("LiveTail", () => {
  it("gives every event after a generation or says that it cannot, within its bound", () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 300 });
    fc.assert(
      fc.property(
        sizes,
        fc.integer({ min: 1, max: 20_000 }),
        fc.nat(20),
        fc.nat(300),
        (bytes, maxBytes, start, after) => {
          const tail = new LiveTail(maxBytes, roomy());
          const all = bytes.map(
            (size, at) => new CommittedEvent(start + at + 1, create(StreamResponseSchema), size),
          );
          for (const event of all) tail.push(event);
          const newest = start + all.length;
          const cursor = Math.min(after, newest);
          const wanted = all.filter(({ generation }) => generation > cursor);
          const given = tail.after(cursor, 1_000);
          if (given !== undefined) expect(given).toEqual(wanted);
          // What fits is kept: only what is older than the bound may be missing.
          const kept =
            wanted.reduce((sum, event) => sum + event.weight, 0) <= maxBytes &&
            cursor >= start &&
            all.length > 0;
          if (kept) expect(given).toBeDefined();
          if (all.length > 0) expect(tail.after(newest - 1, 10)).toEqual(all.slice(-1));
        },
      ),
      { seed: 7, numRuns: 300 },
    );
  });

  it("gives at most as many as are asked for", () => {
    const tail = new LiveTail(100_000, roomy());
    for (let generation = 1; generation <= 9; generation += 1) {
      tail.push(new CommittedEvent(generation, create(StreamResponseSchema), 1));
    }
    expect(tail.after(3, 2)?.map(({ generation }) => generation)).toEqual([4, 5]);
  });

  it("has in memory no more than it counts", async () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage = runInNewContext("gc") as () => void; // the flag made it
    const tail = new LiveTail(1, roomy());
    const events: WeakRef<CommittedEvent>[] = [];
    for (let generation = 1; generation <= 30; generation += 1) {
      const event = new CommittedEvent(generation, create(StreamResponseSchema), 100_000);
      tail.push(event);
      events.push(new WeakRef(event));
    }
    await nextTurn(); // until then what a WeakRef was made of stays
    collectGarbage();
    expect(events.filter((event) => event.deref() !== undefined)).toHaveLength(1);
    expect(tail.after(29, 10)).toHaveLength(1);
  });

  it("is not there before the first event", () => {
    expect(new LiveTail(10, roomy()).after(0, 1)).toBeUndefined();
  });

  it("shares a budget with the tails of all other tasks, and keeps its newest event all the same", () => {
    const { weight } = new CommittedEvent(1, create(StreamResponseSchema), 20);
    const budget = new EventBudget(5 * weight);
    const [one, other] = [new LiveTail(50 * weight, budget), new LiveTail(50 * weight, budget)];
    const fill = (tail: LiveTail) => {
      for (let generation = 1; generation <= 9; generation += 1) {
        tail.push(new CommittedEvent(generation, create(StreamResponseSchema), 20));
      }
    };
    fill(one);
    expect(one.after(4, 10)).toHaveLength(5);
    expect(one.after(3, 10)).toBeUndefined();
    fill(other);
    expect(other.after(8, 10)).toHaveLength(1);
    expect(other.after(7, 10)).toBeUndefined();
    one.clear();
    expect(one.after(4, 10)).toBeUndefined();
    other.clear();
    fill(other);
    expect(other.after(4, 10)).toHaveLength(5);
  });
});

function roomy(): EventBudget {
  return new EventBudget(Number.POSITIVE_INFINITY);
}

describe("TaskReaders", () => {
  it("wakes those of a caller that waits beside thousands of another caller's in its turn", async () => {
    let turns = 0;
    const clock = {
      ticks: () => 0,
      async nextTurn() {
        await nextTurn();
        turns += 1;
      },
    };
    const pages = { open: () => Promise.reject(new Error("all events are in memory")) };
    const context = {
      wakes: findWakes(clock),
      limits: { maxTailBytes: 100_000 },
      tailBudget: roomy(),
      eventPages: pages as unknown as EventPages,
    };
    const { signal } = new AbortController();
    const follow = (owner: string, followers: number) => {
      const readers = new TaskReaders(
        context,
        { tenant: "", principal: owner },
        { taskId: owner, contextId: owner },
      );
      const seen = Array.from({ length: followers }, async () => {
        await readers.eventsAfter(0, signal, owner).next();
        return turns;
      });
      return { readers, seen: Promise.all(seen) };
    };
    const [alice, bob] = [follow("alice", 3_000), follow("bob", 1)];
    await nextTurn(); // now all wait
    for (const { readers } of [alice, bob]) {
      readers.publish(new CommittedEvent(1, create(StreamResponseSchema), 1));
      readers.wake();
    }
    expect(await bob.seen).toEqual([0]);
    expect(Math.max(...(await alice.seen))).toBeGreaterThan(9);
  });
});
