import { type DerElement, derTags, readDer } from "../keys/der.ts";

/** Algorithms whose signatures have a form of DER, too. */
export type EcdsaAlgorithm = "ES256" | "ES384";

const coordinateLengths: Readonly<Record<EcdsaAlgorithm, number>> = { ES256: 32, ES384: 48 };

/**
 * An ECDSA signature as JWS wants it, R||S (RFC 7518 §3.4), from the DER that key management services and OpenSSL give
 * (RFC 3279 §2.2.3).
 *
 * @returns undefined when it is no such DER, or one of a larger curve
 */
export function ecdsaFromDer(der: Uint8Array, alg: EcdsaAlgorithm): Uint8Array<ArrayBuffer> | undefined {
  const elements = readDer(Uint8Array.from(der));
  const [sequence] = elements ?? [];
  if (elements?.length !== 1 || sequence?.tag !== derTags.sequence) return undefined;
  const integers = readDer(sequence.content);
  const [r, s] = integers ?? [];
  if (integers?.length !== 2 || r === undefined || s === undefined) return undefined;
  const length = coordinateLengths[alg];
  const signature = new Uint8Array(2 * length);
  return placeInteger(r, signature.subarray(0, length)) && placeInteger(s, signature.subarray(length))
    ? signature
    : undefined;
}

/** Writes a positive integer to the right of a field. Its sign takes a byte of its own when its first bit is set. */
function placeInteger({ tag, content }: DerElement, target: Uint8Array): boolean {
  const first = content[0] ?? 0;
  if (first >= 0x80) return false; // a negative one
  const digits = first === 0 ? content.subarray(1) : content;
  if (tag !== derTags.integer || digits.length === 0 || digits.length > target.length) return false;
  target.set(digits, target.length - digits.length);
  return true;
}
