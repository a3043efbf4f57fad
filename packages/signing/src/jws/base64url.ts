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

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const letters = Uint8Array.from(alphabet, (character) => character.charCodeAt(0));

/**
 * Base64url as ASCII codes. Ours, because every card that is verified goes through it, and by way of a text, as jose has it, it
 * takes twice as long.
 */
export function encodeBase64url(bytes: Uint8Array): Uint8Array {
  const codes = new Uint8Array(Math.ceil((bytes.length * 4) / 3));
  const byte = (index: number) => bytes[index] ?? 0;
  const letter = (bits: number) => letters[bits & 63] ?? 0;
  for (let at = 0, index = 0; at < codes.length; at += 4, index += 3) {
    const bits = (byte(index) << 16) | (byte(index + 1) << 8) | byte(index + 2);
    codes[at] = letter(bits >> 18); // beyond its end, an array keeps nothing
    codes[at + 1] = letter(bits >> 12);
    codes[at + 2] = letter(bits >> 6);
    codes[at + 3] = letter(bits);
  }
  return codes;
}
