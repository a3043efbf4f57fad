import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it, vi } from "vitest";
import { RecentMap } from "./recent-map.ts";

describe("a map of bounded size", () => {
  it("lets go of what has not been asked for longest", () => {
    const map = new RecentMap<string, number>(2);
    map.set("a", 1);
    map.set("b", 2);
    expect(map.get("a")).toBe(1);
    map.set("c", 3);
    expect([map.size, map.get("a"), map.get("b"), map.get("c")]).toEqual([2, 1, undefined, 3]);
  });

  it("forgets what it is told to forget", () => {
    const map = new RecentMap<string, number>(2);
    map.set("a", 1);
    map.set("b", 2);
    map.delete("a");
    expect([map.get("a"), map.get("b")]).toEqual([undefined, 2]);
    map.clear();
    expect([map.size, map.get("b")]).toEqual([0, undefined]);
  });

  it("looks for the oldest once for many that come", () => {
    const map = new RecentMap<number, number>(6_400);
    const keys = vi.spyOn(map, "keys");
    for (let key = 0; key < 12_800; key += 1) map.set(key, key);
    expect(keys.mock.calls.length).toBe(256);
    expect([map.size, map.has(6_399), map.has(6_400)]).toEqual([6_400, false, true]);
  });

  it("keeps nothing that was removed, also when it is never full", async () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage = runInNewContext("gc") as () => void; // the flag made it
    const map = new RecentMap<number, WeakKey>(1_000);
    const values: WeakRef<WeakKey>[] = [];
    for (let round = 0; round < 10_000; round += 1) {
      const value = {};
      values.push(new WeakRef(value));
      map.set(round % 500, value);
    }
    await nextTurn(); // until then what a WeakRef was made of stays
    collectGarbage();
    const left = values.filter((each) => each.deref() !== undefined).length;
    expect([left, map.size]).toEqual([500, 500]);
  });
});
