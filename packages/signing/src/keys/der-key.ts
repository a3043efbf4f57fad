import type { JWK } from "jose";
import { algorithms } from "./algorithms.ts";

/** One algorithm for each type of key that signs cards. */
const typicalAlgorithms = [algorithms.ES256, algorithms.ES384, algorithms.Ed25519, algorithms.RS256];

/**
 * A key as a JWK, of whichever type it is. A private one is with its private members.
 *
 * @param bytes PKCS#8 or SubjectPublicKeyInfo, as DER
 * @returns undefined when it is no key, or none of a type that signs cards
 */
export async function readDerKey(
  format: "pkcs8" | "spki",
  bytes: Uint8Array<ArrayBuffer>,
): Promise<JWK | undefined> {
  for (const { keyParameters } of typicalAlgorithms) {
    try {
      const usages = [format === "pkcs8" ? "sign" : "verify"] as const;
      const key = await crypto.subtle.importKey(format, bytes, keyParameters, true, usages);
      const { alg: _, key_ops: __, ext: ___, ...jwk } = await crypto.subtle.exportKey("jwk", key);
      return jwk as JWK; // both are RFC 7517's, and only jose's says so of its members
    } catch {
      // It is of another type. The error says less than the caller's.
    }
  }
  return undefined;
}

/** `id-RSASSA-PSS` (RFC 4055 §3.1), as DER. */
const pssIdentifier = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0a];

/** Whether a key says that it is for RSA-PSS alone, which Web Crypto does not read. @param bytes as for {@link readDerKey} */
export function isBoundToPss(bytes: Uint8Array): boolean {
  const start = Array.from(bytes.subarray(0, 64), (_, index) => index); // its algorithm stands before everything large
  return start.some((at) => pssIdentifier.every((byte, index) => bytes[at + index] === byte));
}
