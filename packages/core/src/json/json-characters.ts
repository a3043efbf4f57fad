/* The characters that give a JSON text its structure. */

export const quote: number = 0x22;
export const backslash: number = 0x5c;
export const colon: number = 0x3a;
export const comma: number = 0x2c;
export const openBracket: number = 0x5b;
export const closeBracket: number = 0x5d;
export const openBrace: number = 0x7b;
export const closeBrace: number = 0x7d;

/** Index of the quote that ends the string whose content starts at `from`; the length of the text when there is none. */
export function findStringEnd(text: string, from: number): number {
  const first = text.indexOf('"', from);
  if (first === -1) {
    return text.length;
  }
  if (text.charCodeAt(first - 1) !== backslash) {
    return first;
  }
  // A string with escapes is read from its start. To count the backslashes before each quote could take quadratic time.
  let at = from;
  for (; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === quote) {
      break;
    }
    if (character === backslash) {
      at += 1;
    }
  }
  return Math.min(at, text.length);
}
