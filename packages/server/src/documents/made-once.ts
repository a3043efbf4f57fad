import { RecentMap } from "@a2a-connect/core/internal";

/** A value, and what it was made from last. */
interface Entry<Value> {
  source?: unknown;
  /** The newest, for all who ask for it; undefined after a failure. */
  making?: Promise<Value> | undefined;
  last?: Value;
}

/**
 * Values that change now and then, by key: those asked for last. What a value is made from is its source: the same object or
 * text until it changes.
 */
export class MadeOnce<Value> {
  readonly #entries: RecentMap<string, Entry<Value>>;

  constructor(maxKept: number) {
    this.#entries = new RecentMap(maxKept);
  }

  /** Forgets all, also what is being made now. */
  clear(): void {
    this.#entries.clear();
  }

  /** The last value that was made. */
  last(key: string): Value | undefined {
    return this.#entries.get(key)?.last;
  }

  /**
   * The value of a source, made once for all who ask for it. When that fails, it is tried again by the next who asks.
   *
   * @param make gets the value before
   * @throws what `make` throws
   */
  find(key: string, source: unknown, make: (before: Value | undefined) => Promise<Value>): Promise<Value> {
    const entry = this.#entries.get(key) ?? {};
    this.#entries.set(key, entry);
    if (entry.making === undefined || entry.source !== source) {
      entry.source = source;
      entry.making = keep(entry, source, make(entry.last));
    }
    return entry.making;
  }
}

/** Keeps what comes, unless something newer has been asked for meanwhile. */
async function keep<Value>(entry: Entry<Value>, source: unknown, making: Promise<Value>): Promise<Value> {
  try {
    const value = await making;
    if (entry.source === source) entry.last = value;
    return value;
  } catch (error) {
    if (entry.source === source) entry.making = undefined;
    throw error;
  }
}
