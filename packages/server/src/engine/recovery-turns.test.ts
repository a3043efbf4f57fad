import { type Holding, SharedBudget } from "@a2a-connect/core/internal";
import { createFakeClock } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import type { Owner, TaskRef } from "../store/task-store.ts";
import { NoRoom } from "./live-tasks.ts";
import { taskBytes } from "./memory-weight.ts";
import { Recovery } from "./recovery.ts";
import { findWakes } from "./wakes.ts";

const kibibyte = 1_024;
const mebibyte = 2 ** 20;

/** Loads tasks into so much memory, of which one caller may have 7/8. The caller of `alice 1` is `alice`. */
function startRecovery(max: number, clock = createFakeClock(), onWeigh = (): void => {}) {
  const budget = new SharedBudget({
    max,
    maxShare: 7 / 8,
    small: 24 * kibibyte,
    refuse: () => new Error("full"),
  });
  const sizes = new Map<string, number>();
  const storedSizes = new Map<string, number>();
  const kept = new Map<string, Holding>();
  const slow = new Map<string, PromiseWithResolvers<void>>();
  const loaded: string[] = [];
  const full: (string | undefined)[] = [];
  const room = { onRoom: (): void => {}, asked: 0 };
  const shareOf = (name: string): string => name.split(" ")[0] ?? "";
  const take = (name: string, bytes: number, isBounded = false): void => {
    const holding = budget.open(shareOf(name), isBounded);
    kept.set(name, holding);
    holding.add(bytes);
  };
  const leave = async (name: string): Promise<void> => {
    kept.get(name)?.end();
    kept.delete(name);
    room.onRoom();
    await clock.settle();
  };
  const tasks = {
    peek: (_owner: Owner, name: string) => (kept.has(name) ? {} : undefined),
    callerOf: ({ owner }: TaskRef) => owner.principal,
    hasRoom(share: string, bytes: number, coming: number) {
      room.asked += 1;
      return budget.hasRoom(share, bytes, coming);
    },
    hasAny: (share: string) => budget.hasAny(share),
    isFarBeyondPart: (share: string) => budget.isExceeded(share, 2),
    get isMemoryTaken() {
      return budget.isTaken;
    },
    isMemoryOverdrawn: (coming: number) => budget.isOverdrawn(2, coming),
    watchRoom(onRoom = () => {}) {
      room.onRoom = onRoom;
    },
    async acquire(_owner: Owner, name: string, _caller: undefined, isBounded: boolean) {
      await slow.get(name)?.promise;
      const size = sizes.get(name) ?? 0;
      try {
        take(name, size, isBounded);
      } catch {
        kept.delete(name);
        throw new NoRoom(size);
      }
      loaded.push(name);
      return { caller: shareOf(name), claim: async () => {} };
    },
  };
  const store = {
    async weigh(_owner: Owner, name: string) {
      onWeigh();
      return { bytes: (storedSizes.get(name) ?? 0) - taskBytes, loads: 0 };
    },
    noteLoads: async () => {},
  };
  const context = { store, clock, wakes: findWakes(clock), limits: { unloadAfterMs: 30_000 }, log: () => {} };
  // Of the engine it needs these members alone.
  const recovery = new Recovery(
    context as never,
    tasks as never,
    async () => {},
    (share) => full.push(share),
  );
  const load = async (name: string, bytes: number, stored = bytes): Promise<void> => {
    sizes.set(name, bytes);
    storedSizes.set(name, stored);
    void recovery.acquire({ owner: { tenant: "", principal: shareOf(name) }, taskId: name }, () => {});
    await clock.settle();
  };
  /** Its load does not end before the returned function is called. */
  const hold = (name: string) => {
    const gate = Promise.withResolvers<void>();
    slow.set(name, gate);
    return async () => {
      gate.resolve();
      await clock.settle();
    };
  };
  return { clock, recovery, take, leave, load, hold, loaded, full, room };
}

it("begins few loads in a turn of the event loop, of all agents of a process together", async () => {
  const clock = createFakeClock();
  let [inTurn, mostInATurn] = [0, 0];
  const count = (): void => {
    if (inTurn === 0) setImmediate(() => (inTurn = 0));
    inTurn += 1;
    mostInATurn = Math.max(mostInATurn, inTurn);
  };
  const agents = Array.from({ length: 50 }, () => startRecovery(16 * mebibyte, clock, count));
  const names = Array.from({ length: 10 }, (_, at) => `alice ${at}`);
  await Promise.all(agents.flatMap(({ load }) => names.map((name) => load(name, kibibyte))));
  await clock.settle();
  expect(agents.flatMap(({ loaded }) => loaded)).toHaveLength(500);
  expect(mostInATurn).toBeLessThanOrEqual(2 * 32); // the first of a turn may be counted with those before
});

describe("a load that has no room", () => {
  it("has the executors leave that wait: its caller's, or those of all where callers have taken all", async () => {
    const { recovery, take, leave, load, loaded, full } = startRecovery(1_000 * kibibyte);
    const isFull = () => ["alice", "bob", undefined].map((share) => recovery.isFullFor(share));
    take("alice call", 800 * kibibyte);
    expect(isFull()).toEqual([false, false, false]);
    await load("alice 1", 200 * kibibyte);
    expect([full, isFull()]).toEqual([["alice"], [true, false, false]]);
    for (const name of ["bob call", "carol call"]) take(name, 900 * kibibyte);
    await load("bob 1", 200 * kibibyte);
    expect([full, isFull()]).toEqual([
      ["alice", undefined],
      [true, true, true],
    ]);
    for (const name of ["alice call", "bob call", "carol call"]) await leave(name);
    expect([loaded.toSorted(), isFull()]).toEqual([
      ["alice 1", "bob 1"],
      [false, false, false],
    ]);
  });

  it("keeps its place among its caller's when it is put off again before its turn has come", async () => {
    const { take, leave, load, hold, loaded } = startRecovery(16 * mebibyte);
    const goOn = hold("bob 1");
    await load("bob 1", 5 * mebibyte); // no other large one beside it
    take("alice call", 12 * mebibyte);
    take("alice other", 1);
    for (const name of ["alice 1", "alice 2", "alice 3"]) await load(name, 3 * mebibyte);
    for (const name of ["alice call", "alice other"]) await leave(name); // the first is to be loaded next
    take("alice call", 12 * mebibyte);
    await goOn();
    expect(loaded).toEqual(["bob 1"]);
    await leave("alice call");
    expect(loaded).toEqual(["bob 1", "alice 1", "alice 2", "alice 3"]);
  });

  it.each([
    ["has others behind it", true],
    ["is alone", false],
  ])(
    "waits no longer, nor behind others, when its try shows that it needs more than was known: it %s",
    async (_, hasOther) => {
      const { clock, take, leave, load, loaded } = startRecovery(1_000 * kibibyte);
      take("alice call", 700 * kibibyte);
      take("alice other", 150 * kibibyte);
      await load("alice 1", 300 * kibibyte, 100 * kibibyte);
      if (hasOther) await load("alice 2", 250 * kibibyte);
      await clock.advance(20_000);
      await leave("alice other"); // it is tried
      await clock.advance(9_000);
      expect(loaded).toEqual([]);
      await clock.advance(2_000);
      expect(loaded).toEqual(["alice 1"]);
    },
  );

  it("waits until there is some, and no smaller one of its caller that was put off goes before it", async () => {
    const { clock, take, leave, load, loaded } = startRecovery(1_000 * kibibyte);
    take("alice call", 760 * kibibyte);
    take("alice other", 100 * kibibyte);
    await load("alice 1", 400 * kibibyte);
    await load("alice 2", 50 * kibibyte);
    await leave("alice other");
    expect(loaded).toEqual([]);
    await clock.advance(31_000);
    expect(loaded).toEqual(["alice 1"]); // now without any
  });

  it("is looked for once in a turn of the event loop, however many tasks leave memory", async () => {
    const { clock, take, load, loaded, room } = startRecovery(1_000 * kibibyte);
    take("alice call", 1_800 * kibibyte);
    for (let at = 0; at < 50; at += 1) await load(`alice ${at}`, 400 * kibibyte);
    await clock.advance(31_000); // from here on each of them might be a small one
    const before = room.asked;
    for (let task = 0; task < 100; task += 1) room.onRoom();
    await clock.settle();
    expect(room.asked - before).toBeLessThan(200);
    expect(loaded).toEqual([]);
  });

  it("is not loaded without any where its caller has far too much, but a small one behind it is", async () => {
    const { clock, take, load, loaded } = startRecovery(1_000 * kibibyte);
    take("alice call", 1_800 * kibibyte);
    await load("alice 1", 400 * kibibyte);
    await load("alice 2", 50 * kibibyte);
    await clock.advance(29_000);
    expect(loaded).toEqual([]);
    await clock.advance(2_000);
    expect(loaded).toEqual(["alice 2"]);
  });

  it("is loaded without any after some time, one of a caller each time", async () => {
    const { clock, take, load, loaded } = startRecovery(1_000 * kibibyte);
    take("alice call", 800 * kibibyte);
    await load("alice 1", 200 * kibibyte);
    await clock.advance(20_000);
    await load("alice 2", 200 * kibibyte);
    for (const [ms, count] of [
      [9_000, 0],
      [2_000, 1],
      [28_000, 1],
      [3_000, 2],
    ] as const) {
      await clock.advance(ms);
      expect(loaded.length).toBe(count);
    }
  });

  it("waits as long as any, also when others of its caller waited long ago", async () => {
    const { clock, take, leave, load, loaded } = startRecovery(1_000 * kibibyte);
    for (const name of ["alice 1", "alice 2"]) {
      take("alice call", 800 * kibibyte);
      await load(name, 200 * kibibyte);
      await clock.advance(20_000);
      expect(loaded).not.toContain(name);
      await leave("alice call");
      expect(loaded).toContain(name);
      await leave(name);
      await clock.advance(60_000);
    }
  });
});

describe("a small task beside a large one that is being loaded", () => {
  it("is loaded meanwhile, one of each other caller at a time; larger ones wait", async () => {
    const { load, hold, loaded } = startRecovery(64 * mebibyte);
    const [endLarge, endSmall] = [hold("alice 1"), hold("bob 1")];
    await load("alice 1", 5 * mebibyte);
    await load("alice 2", 20 * kibibyte);
    await load("carol 1", 100 * kibibyte);
    for (const name of ["bob 1", "bob 2", "dave 1"]) await load(name, 20 * kibibyte);
    expect(loaded).toEqual(["dave 1"]);
    await endSmall();
    expect(loaded).toEqual(["dave 1", "bob 1", "bob 2"]);
    await endLarge();
    expect(loaded).toEqual(["dave 1", "bob 1", "bob 2", "alice 1", "alice 2", "carol 1"]);
  });

  it("is not loaded beside many others, nor before a large one whose turn it is", async () => {
    const { load, hold, loaded } = startRecovery(64 * mebibyte);
    const endLarge = hold("alice 1");
    await load("alice 1", 5 * mebibyte);
    const small = Array.from({ length: 7 }, (_, at) => `caller-${at} 1`);
    const ends = small.map(hold);
    for (const name of small) await load(name, 70 * kibibyte); // nearly half a megabyte
    await load("bob 1", 70 * kibibyte);
    await load("carol 1", 10 * kibibyte);
    expect(loaded).toEqual(["carol 1"]);
    await load("dave 1", 5 * mebibyte);
    await endLarge();
    expect(loaded).toEqual(["carol 1", "alice 1", "bob 1"]);
    await load("erin 1", 10 * kibibyte);
    const endOther = hold("dave 1");
    expect(loaded.length).toBe(3);
    for (const end of ends) await end();
    expect(loaded.slice(3)).toEqual([...small, "erin 1"]); // beside the large one again
    await endOther();
    expect(loaded.at(-1)).toBe("dave 1");
  });
});
