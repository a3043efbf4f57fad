import { coordinateLengths } from "./algorithms.ts";

const tags = { integer: 0x02, sequence: 0x30 } as const;

/**
 * An ECDSA signature as JWS wants it, R||S (RFC 7518 §3.4), from the DER that key management services and OpenSSL give
 * (RFC 3279 §2.2.3).
 *
 * @returns undefined when it is no such DER, or one of a larger curve: of these two curves each length takes one byte
 */
export function ecdsaFromDer(der: Uint8Array, alg: "ES256" | "ES384"): Uint8Array<ArrayBuffer> | undefined {
  const length = coordinateLengths[alg === "ES256" ? "P-256" : "P-384"];
  const signature = new Uint8Array(2 * length);
  let rest = der.subarray(2);
  if (der[0] !== tags.sequence || der[1] !== rest.length) return undefined;
  for (const end of [length, 2 * length]) {
    const [tag, size = 0, first = 0] = rest;
    const digits = rest.subarray(first === 0 ? 3 : 2, 2 + size); // the sign takes a byte of its own before a first bit that is set
    const isPositive = tag === tags.integer && first < 0x80 && digits.length > 0;
    if (!isPositive || digits.length > length || rest.length < 2 + size) return undefined;
    signature.set(digits, end - digits.length);
    rest = rest.subarray(2 + size);
  }
  return rest.length === 0 ? signature : undefined;
}
