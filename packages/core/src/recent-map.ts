/** A map of bounded size: what has not been asked for longest goes first. When it is full, a 256th of it goes at a time. */
export class RecentMap<Key, Value> extends Map<Key, Value> {
  readonly #maxSize: number;

  /** @param maxSize at least 1 */
  constructor(maxSize: number) {
    super();
    this.#maxSize = maxSize;
  }

  override get(key: Key): Value | undefined {
    const value = super.get(key);
    if (value !== undefined) {
      this.set(key, value);
    }
    return value;
  }

  override set(key: Key, value: Value): this {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.#maxSize) this.#removeOldest();
    return this;
  }

  /**
   * Of a large map several at a time: a new iterator passes the places of all that were removed, tens of thousands. One that is kept
   * would keep in memory what was removed.
   */
  #removeOldest(): void {
    let left = Math.max(1, Math.floor(this.#maxSize / 256));
    for (const key of this.keys()) {
      this.delete(key);
      left -= 1;
      if (left === 0) return;
    }
  }
}
