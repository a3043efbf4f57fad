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

  it("finds the oldest by one iterator, also when it was emptied meanwhile", () => {
    const map = new RecentMap<number, number>(3);
    const keys = vi.spyOn(map, "keys");
    for (let key = 0; key < 100; key += 1) {
      if (key === 50) map.clear();
      if (key % 7 === 0) map.get(key - 2);
      map.set(key, key);
    }
    expect(keys).not.toHaveBeenCalled();
    expect([...map.values()]).toEqual([96, 98, 99]); // 96 was asked for before 98 came
  });
});
