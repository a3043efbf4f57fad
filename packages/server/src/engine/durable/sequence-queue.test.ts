import fc from "fast-check";
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
    expect(
      queue
        .takeAll()
        .map(({ sequence }) => sequence)
        .sort(),
    ).toEqual([2, 3, 4, 5]);
    expect([queue.has(2), queue.first]).toEqual([false, undefined]);
  });

  it("gives any items in the order of their positions, and takes few steps for each", () => {
    let looks = 0;
    class Item {
      readonly #sequence: number;

      constructor(sequence: number) {
        this.#sequence = sequence;
      }

      get sequence(): number {
        looks += 1;
        return this.#sequence;
      }
    }
    const count = 20_000;
    const orders = [
      (at: number) => at,
      (at: number) => count - at,
      (at: number) => (at * 7_919) % count,
      (at: number) => at % 3,
    ];
    for (const order of orders) {
      const sequences = Array.from({ length: count }, (_, at) => order(at));
      const queue = new SequenceQueue(sequences.map((sequence) => new Item(sequence)));
      const drained = drain(queue).map(({ sequence }) => sequence);
      expect(drained).toEqual(sequences.sort((one, other) => one - other));
    }
    expect(looks).toBeLessThan(orders.length * count * 100); // a search through all of them would look 200 million times
  });

  it("has the order of a sorted list after each addition and removal", () => {
    const actions = fc.array(fc.option(fc.integer({ min: 0, max: 9 }), { freq: 3 }), { maxLength: 200 });
    fc.assert(
      fc.property(actions, (all) => {
        const queue = new SequenceQueue<{ readonly sequence: number; readonly name: number }>();
        const list: { readonly sequence: number; readonly name: number }[] = [];
        for (const [name, sequence] of all.entries()) {
          if (sequence === null) {
            queue.removeFirst();
            list.shift();
          } else {
            queue.add({ sequence, name });
            list.push({ sequence, name });
            list.sort((one, other) => one.sequence - other.sequence); // keeps the order of equal ones
          }
          expect(queue.first).toEqual(list[0]);
        }
        expect(drain(queue)).toEqual(list);
      }),
    );
  });
});
