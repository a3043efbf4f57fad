import { base64url } from "jose";

/** Groups of four characters, and at the end two or three of which the last one has no bits that no byte has. */
const strict = /^(?:[\w-]{4})*(?:[\w-][AQgw]|[\w-]{2}[AEIMQUYcgkosw048])?$/;

/**
 * Base64url as JWS wants it (RFC 7515 §2, RFC 4648 §5): without padding, line breaks or blanks, and with one spelling for
 * each sequence of bytes. jose takes more.
 *
 * @returns undefined when it is anything else: other characters, padding, a length that no bytes have, or bits at the end that
 * are not zero
 */
export function decodeBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  return strict.test(text) ? new Uint8Array(base64url.decode(text)) : undefined;
}

/** How many characters so many bytes become. */
export function base64urlLength(byteLength: number): number {
  return Math.ceil((byteLength * 4) / 3);
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const letters = Uint8Array.from(alphabet, (character) => character.charCodeAt(0));

/**
 * Writes base64url without padding as ASCII codes, from `offset` on; for there must be room. Ours, because every card that is
 * verified goes through it, and by way of a text, as jose has it, it takes twice as long.
 */
export function writeBase64url(bytes: Uint8Array, target: Uint8Array, offset: number): void {
  const letter = (bits: number) => letters[bits & 63] ?? 0;
  const byte = (index: number) => bytes[index] ?? 0;
  const length = base64urlLength(bytes.length);
  for (let at = 0, index = 0; at < length; at += 4, index += 3) {
    const bits = (byte(index) << 16) | (byte(index + 1) << 8) | byte(index + 2);
    target[offset + at] = letter(bits >> 18);
    target[offset + at + 1] = letter(bits >> 12);
    if (at + 2 < length) target[offset + at + 2] = letter(bits >> 6);
    if (at + 3 < length) target[offset + at + 3] = letter(bits);
  }
}
