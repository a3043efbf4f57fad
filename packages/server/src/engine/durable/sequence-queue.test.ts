import { describe, expect, it } from "vitest";
import { SequenceQueue } from "./sequence-queue.ts";

/** Takes everything out. */
function drain<Item extends { readonly sequence: number }>(queue: SequenceQueue<Item>): Item[] {
  const items: Item[] = [];
  for (let item = queue.first; item !== undefined; item = queue.first) {
    items.push(item);
    queue.removeFirst();
  }
  return items;
}

describe("a sequence queue", () => {
  it("gives the earliest first, and equal ones as they came, also between removals", () => {
    const queue = new SequenceQueue([2, 4, 6].map((sequence) => ({ sequence, name: "old" })));
    queue.removeFirst();
    for (const [sequence, name] of [
      [6, "new"],
      [1, "late"],
      [5, "between"],
      [6, "newer"],
    ] as const)
      queue.add({ sequence, name });
    expect(drain(queue).map(({ sequence, name }) => `${sequence} ${name}`)).toEqual([
      "1 late",
      "4 old",
      "5 between",
      "6 old",
      "6 new",
      "6 newer",
    ]);
    queue.removeFirst();
    expect(queue.first).toBeUndefined();
  });

  it("knows what it has, and not what is gone", () => {
    const queue = new SequenceQueue([1, 2, 3, 4, 5].map((sequence) => ({ sequence })));
    queue.removeFirst();
    expect([queue.has(1), queue.has(2), queue.has(5), queue.has(6)]).toEqual([false, true, true, false]);
    queue.clear();
    expect([queue.has(2), queue.first]).toEqual([false, undefined]);
  });

  it("takes as long for each of very many as for each of a few", () => {
    const count = 400_000; // where looking past what is gone takes minutes
    const queue = new SequenceQueue(Array.from({ length: count }, (_, sequence) => ({ sequence })));
    const begun = performance.now();
    for (let at = 0; at < count; at += 1) {
      queue.add({ sequence: count + at });
      queue.removeFirst();
    }
    expect(queue.first?.sequence).toBe(count);
    expect(performance.now() - begun).toBeLessThan(5_000);
  });
});
