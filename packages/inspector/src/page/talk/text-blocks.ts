/** Characters in a block: what a browser lays out in a millisecond or two, again and again while it grows. */
const blockLength = 8_192;

/**
 * A text that grows, in blocks of one length: to append costs what is appended, and a view shows some blocks of a text of
 * any length.
 */
export class TextBlocks {
  readonly #blocks: string[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get blocks(): readonly string[] {
    return this.#blocks;
  }

  append(text: string): void {
    this.#length += text.length;
    let rest = text;
    const last = this.#blocks.at(-1);
    if (last !== undefined && last.length < blockLength) {
      const taken = rest.slice(0, blockLength - last.length);
      this.#blocks[this.#blocks.length - 1] = last + taken;
      rest = rest.slice(taken.length);
    }
    for (let at = 0; at < rest.length; at += blockLength) {
      this.#blocks.push(rest.slice(at, at + blockLength));
    }
  }

  /** All of it. */
  toString(): string {
    return this.#blocks.join("");
  }
}
