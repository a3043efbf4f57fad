/** A map of bounded size: what has not been asked for longest goes first. */
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
    if (this.size > this.#maxSize) {
      const [oldest] = this.keys();
      this.delete(oldest as Key); // there is one: the map is not empty
    }
    return this;
  }
}
