/**
 * Base64url as JWS wants it (RFC 7515 §2, RFC 4648 §5): without padding, line breaks or blanks, and with one spelling for
 * each sequence of bytes.
 *
 * @returns undefined when it is anything else: other characters, padding, a length that no bytes have, or bits at the end that
 * are not zero
 */
export function decodeBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  const rest = text.length % 4;
  if (rest === 1) return undefined;
  const bytes = new Uint8Array((text.length * 3) >> 2);
  let bits = 0;
  let at = 0;
  for (let index = 0; index < text.length; index++) {
    const sextet = sextets[text.charCodeAt(index)] ?? -1;
    if (sextet < 0) return undefined;
    bits = (bits << 6) | sextet;
    switch (index & 3) {
      case 1:
        bytes[at++] = bits >> 4;
        break;
      case 2:
        bytes[at++] = bits >> 2;
        break;
      case 3:
        bytes[at++] = bits;
        break;
    }
  }
  const unused = rest === 2 ? 0b1111 : rest === 3 ? 0b11 : 0;
  return (bits & unused) === 0 ? bytes : undefined;
}

/** Base64url without padding. */
export function encodeBase64url(bytes: Uint8Array): string {
  const encoded = new Uint8Array(base64urlLength(bytes.length));
  writeBase64url(bytes, encoded, 0);
  return ascii.decode(encoded);
}

/** How many characters so many bytes become. */
export function base64urlLength(byteLength: number): number {
  return Math.ceil((byteLength * 4) / 3);
}

/** Write base64url without padding as ASCII codes, from `offset` on; for there must be room. */
export function writeBase64url(bytes: Uint8Array, target: Uint8Array, offset: number): void {
  let at = offset;
  let index = 0;
  for (; index + 2 < bytes.length; index += 3) {
    const bits = (byte(bytes, index) << 16) | (byte(bytes, index + 1) << 8) | byte(bytes, index + 2);
    target[at++] = letter(bits >> 18);
    target[at++] = letter(bits >> 12);
    target[at++] = letter(bits >> 6);
    target[at++] = letter(bits);
  }
  const rest = bytes.length - index;
  if (rest === 0) return;
  const bits = (byte(bytes, index) << 16) | (byte(bytes, index + 1) << 8);
  target[at++] = letter(bits >> 18);
  target[at++] = letter(bits >> 12);
  if (rest === 2) target[at] = letter(bits >> 6);
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

const letters = Uint8Array.from(alphabet, (character) => character.charCodeAt(0));

/** By character code, -1 for what is not in the alphabet. */
const sextets = new Int8Array(128).fill(-1);
for (const [sextet, code] of letters.entries()) sextets[code] = sextet;

const ascii = new TextDecoder();

/** The byte, or 0 behind the last one. */
function byte(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}

function letter(bits: number): number {
  return letters[bits & 63] ?? 0;
}
