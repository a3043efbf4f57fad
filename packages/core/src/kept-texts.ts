import type { Message } from "@bufbuild/protobuf";
import { scaleToHeap } from "./heap.ts";

/** The default for the length of all together, about. */
const maxTotalLength = scaleToHeap(8 * 2 ** 20);

/** What each takes besides its length, about. */
const entryLength = 128;

/**
 * What was made of messages that no longer change: texts, or bytes. Only the newest are kept: a text may take twelve times the memory of
 * its message, and each wire makes its own.
 */
export class KeptTexts<Made extends { readonly length: number }, Key extends object = Message> {
  #newer = new WeakMap<Key, Made>();
  #older = new WeakMap<Key, Made>();
  /** Of the newer ones. */
  #length = 0;
  readonly #maxLength: number;

  /** @param maxLength of all together, about */
  constructor(maxLength: number = maxTotalLength) {
    this.#maxLength = maxLength;
  }

  get(message: Key): Made | undefined {
    return this.#newer.get(message) ?? this.#older.get(message);
  }

  set(message: Key, made: Made): void {
    this.#newer.set(message, made);
    this.#length += entryLength + made.length;
    if (this.#length < this.#maxLength / 2) return;
    this.#older = this.#newer;
    this.#newer = new WeakMap();
    this.#length = 0;
  }
}
