import { formatBase64, parseBase64 } from "@a2a-connect/core/internal";

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
  return strict.test(text) ? parseBase64(text) : undefined;
}

/** Base64url of JWS. By way of core's encoder, which takes half as long as jose's: every card that is verified goes through it. */
export function encodeBase64url(bytes: Uint8Array): string {
  return formatBase64(bytes)
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/={1,2}$/, "");
}
