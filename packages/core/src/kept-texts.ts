import type { Message } from "@bufbuild/protobuf";
import { scaleToHeap } from "./heap.ts";

/** Up to this length what was made of a message takes about as much memory as its objects. */
const shortLength = 1_024;

/** The default for the length of all long ones together, about. */
const maxLongLength = scaleToHeap(8 * 2 ** 20);

/**
 * What was made of messages that no longer change: texts, or bytes. A short one is kept for as long as its message is reachable. Of
 * long ones only the newest are kept: a text may take twelve times the memory of its message, and each wire makes its own.
 */
export class KeptTexts<Made extends { readonly length: number }, Key extends object = Message> {
  readonly #short = new WeakMap<Key, Made>();
  #newer = new WeakMap<Key, Made>();
  #older = new WeakMap<Key, Made>();
  /** Of the newer ones. */
  #length = 0;
  readonly #maxLength: number;

  /** @param maxLength of all long ones together, about */
  constructor(maxLength: number = maxLongLength) {
    this.#maxLength = maxLength;
  }

  get(message: Key): Made | undefined {
    return this.#short.get(message) ?? this.#newer.get(message) ?? this.#older.get(message);
  }

  set(message: Key, made: Made): void {
    if (made.length <= shortLength) {
      this.#short.set(message, made);
      return;
    }
    this.#newer.set(message, made);
    this.#length += made.length;
    if (this.#length < this.#maxLength / 2) return;
    this.#older = this.#newer;
    this.#newer = new WeakMap();
    this.#length = 0;
  }
}
