/** Items by their position in a task's log, the earliest first; of equal ones, the one that was added first. */
export class SequenceQueue<Item extends { readonly sequence: number }> {
  #items: Item[];
  /** Index of the first item; the items before it are removed. */
  #start = 0;

  /** @param items in order */
  constructor(items: Iterable<Item> = []) {
    this.#items = [...items];
  }

  /** The earliest item; undefined when there is none. */
  get first(): Item | undefined {
    return this.#items[this.#start];
  }

  /** Adds an item. It costs nothing for the latest position, as most have. */
  add(item: Item): void {
    const before = this.#items.findLastIndex(({ sequence }) => sequence <= item.sequence);
    this.#items.splice(Math.max(before + 1, this.#start), 0, item);
  }

  /** Removes the earliest item. */
  removeFirst(): void {
    if (this.#start < this.#items.length) {
      this.#start++;
    }
    // The array is shortened only when as many items were removed as are moved, so a removal costs constant time on
    // average.
    if (this.#start * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#start);
      this.#start = 0;
    }
  }

  /** Whether an item has this position. */
  has(wanted: number): boolean {
    return this.#items.slice(this.#start).some(({ sequence }) => sequence === wanted);
  }

  /** Removes all items. */
  clear(): void {
    this.#items = [];
    this.#start = 0;
  }
}
