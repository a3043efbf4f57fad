/** Items by their place in a task's log, the earliest first; of equal ones, the one that was added first. */
export class SequenceQueue<Item extends { readonly sequence: number }> {
  #items: Item[];
  /** Where the first one is: what is before it is gone. */
  #start = 0;

  /** @param items in order */
  constructor(items: Iterable<Item> = []) {
    this.#items = [...items];
  }

  /** The earliest; undefined when there is none. */
  get first(): Item | undefined {
    return this.#items[this.#start];
  }

  /** Adds one; it costs nothing when it is the latest, as most are. */
  add(item: Item): void {
    const before = this.#items.findLastIndex(({ sequence }) => sequence <= item.sequence);
    this.#items.splice(Math.max(before + 1, this.#start), 0, item);
  }

  /** Takes the earliest away. */
  removeFirst(): void {
    if (this.#start < this.#items.length) {
      this.#start++;
    }
    // Moved seldom, and never more items than have been taken away since: all removals together cost what they are.
    if (this.#start * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#start);
      this.#start = 0;
    }
  }

  /** Whether one of them has this place. */
  has(wanted: number): boolean {
    return this.#items.slice(this.#start).some(({ sequence }) => sequence === wanted);
  }

  /** Takes all away. */
  clear(): void {
    this.#items = [];
    this.#start = 0;
  }
}
