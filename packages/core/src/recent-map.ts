/** A map of bounded size: what has not been asked for longest goes first. */
export class RecentMap<Key, Value> extends Map<Key, Value> {
  readonly #maxSize: number;
  /**
   * Goes over the keys, which are all behind it, once: a new iterator would first pass the places of all that were removed, tens of
   * thousands in a large map.
   */
  readonly #oldest: Iterator<Key, unknown> = this.keys();

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
    if (this.size > this.#maxSize) {
      this.delete(this.#oldest.next().value as Key); // there is one: the map is not empty
    }
    return this;
  }
}
