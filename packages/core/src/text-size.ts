/** Texts of so many characters are remembered: to read others again takes no longer. */
const longText = 512;

/** How many of them. */
const maxKnown = 4;

interface KnownText {
  readonly text: string;
  readonly bytes: number;
  beyondUtf8: number | undefined;
}

/**
 * Finds the sizes of the texts that one pass comes upon. An agent may give a few long texts of its caller's in thousands of places: they are
 * read once.
 */
export class TextSizes {
  #known: readonly KnownText[] = none;

  /** What the text takes in memory, about, in bytes. */
  bytesOf(text: string): number {
    return text.length < longText ? textBytes(text) : this.#find(text).bytes;
  }

  /** How much that is beyond the text's bytes in UTF-8. */
  beyondUtf8(text: string): number {
    if (text.length < longText) return bytesBeyondUtf8(text);
    const known = this.#find(text);
    known.beyondUtf8 ??= bytesBeyondUtf8(text);
    return known.beyondUtf8;
  }

  #find(text: string): KnownText {
    for (const known of this.#known) if (known.text === text) return known;
    const found = { text, bytes: textBytes(text), beyondUtf8: undefined };
    this.#known = [found, ...this.#known.slice(0, maxKnown - 1)];
    return found;
  }
}

const none: readonly KnownText[] = [];

/** V8 keeps a text with such a character in two bytes for each character, and others in one. To ask that of the others takes no time. */
const wideCharacter = /[\u0100-\uffff]/;

/** What a text takes in memory, about, in bytes. */
export function textBytes(text: string): number {
  return wideCharacter.test(text) ? 2 * text.length : text.length;
}

/** How much that is beyond the text's bytes in UTF-8. */
export function bytesBeyondUtf8(text: string): number {
  if (!wideCharacter.test(text)) return 0;
  let utf8 = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    utf8 += unit < 0x80 ? 1 : unit < 0x800 || (unit & 0xf800) === 0xd800 ? 2 : 3; // a pair of surrogates has 4
  }
  return Math.max(0, 2 * text.length - utf8);
}
