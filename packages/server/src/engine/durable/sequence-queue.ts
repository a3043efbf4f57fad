interface Entry<Item> {
  readonly item: Item;
  /** How many were added before it. */
  readonly arrival: number;
}

/**
 * Items by their position in a task's log, the earliest first; of equal ones, the one that was added first. They are added in any
 * order. To add one, and to remove the earliest, takes steps by the logarithm of their number: it is a binary heap.
 */
export class SequenceQueue<Item extends { readonly sequence: number }> {
  /** Each comes before the two at twice its index, plus one and plus two. */
  readonly #heap: Entry<Item>[] = [];
  #arrivals = 0;

  constructor(items: Iterable<Item> = []) {
    for (const item of items) this.add(item);
  }

  /** The earliest item; undefined when there is none. */
  get first(): Item | undefined {
    return this.#heap[0]?.item;
  }

  add(item: Item): void {
    const added = { item, arrival: this.#arrivals++ };
    let at = this.#heap.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const entry = this.#heap[above];
      if (entry === undefined || isBefore(entry, added)) break;
      this.#heap[at] = entry;
      at = above;
    }
    this.#heap[at] = added;
  }

  /** Removes the earliest item. */
  removeFirst(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    let at = 0;
    for (;;) {
      const next = this.#earlierOf(2 * at + 1, 2 * at + 2);
      const entry = this.#heap[next];
      if (entry === undefined || isBefore(last, entry)) break;
      this.#heap[at] = entry;
      at = next;
    }
    this.#heap[at] = last;
  }

  /** Whether an item has this position. It looks at all of them. */
  has(wanted: number): boolean {
    return this.#heap.some(({ item }) => item.sequence === wanted);
  }

  /** Removes all items, and returns them in any order. */
  takeAll(): Item[] {
    return this.#heap.splice(0).map(({ item }) => item);
  }

  #earlierOf(one: number, other: number): number {
    const [first, second] = [this.#heap[one], this.#heap[other]];
    return first !== undefined && second !== undefined && isBefore(second, first) ? other : one;
  }
}

type Placed = Entry<{ readonly sequence: number }>;

function isBefore(one: Placed, other: Placed): boolean {
  const difference = one.item.sequence - other.item.sequence;
  return difference === 0 ? one.arrival < other.arrival : difference < 0;
}
