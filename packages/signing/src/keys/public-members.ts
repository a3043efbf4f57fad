import type { JWK } from "jose";
import { decodeBase64url } from "../jws/base64url.ts";
import { maximumRsaBits, minimumRsaBits } from "./algorithms.ts";
import { KeyMismatchError } from "./key-mismatch-error.ts";

/** What makes a public key: the members that its thumbprint is made of (RFC 7638 §3.2), and nothing else. */
export type PublicMembers =
  | { readonly kty: "EC"; readonly crv: "P-256" | "P-384"; readonly x: string; readonly y: string }
  | { readonly kty: "OKP"; readonly crv: "Ed25519"; readonly x: string }
  | { readonly kty: "RSA"; readonly n: string; readonly e: string };

/** Bytes of a coordinate (RFC 7518 §6.2.1, RFC 8037 §2). */
const coordinateLengths = { "P-256": 32, "P-384": 48, Ed25519: 32 } as const;

/** Exponents above 64 bits only make verifying slow; OpenSSL refuses them for most keys. */
const maximumExponentLength = 8;

/**
 * The public members of a key, checked. They must be written in the one way that JWA allows, for otherwise one key would have
 * many thumbprints: it could count as several signers, or come back after it was revoked.
 *
 * @throws KeyMismatchError when the key is not of a type that signs cards, or not well-formed, or a weak RSA key
 */
export function publicMembers(key: JWK): PublicMembers {
  switch (key.kty) {
    case "EC": {
      const { crv } = key;
      if (crv !== "P-256" && crv !== "P-384")
        throw new KeyMismatchError("the curve of the EC key is neither P-256 nor P-384");
      return { kty: "EC", crv, x: coordinate(key, "x", crv), y: coordinate(key, "y", crv) };
    }
    case "OKP":
      if (key.crv !== "Ed25519") throw new KeyMismatchError("the curve of the OKP key is not Ed25519");
      return { kty: "OKP", crv: "Ed25519", x: coordinate(key, "x", "Ed25519") };
    case "RSA":
      return { kty: "RSA", n: modulus(key), e: exponent(key) };
    case "oct":
      throw new KeyMismatchError("the key is symmetric (oct), and whoever can verify with it can also sign");
    default:
      throw new KeyMismatchError("the type of the key (kty) is none of EC, OKP and RSA");
  }
}

function coordinate(key: JWK, name: "x" | "y", crv: keyof typeof coordinateLengths): string {
  const length = coordinateLengths[crv];
  if (bytesOf(key, name).length !== length) {
    throw new KeyMismatchError(`the member "${name}" of the ${crv} key is not ${length} bytes long`);
  }
  return textOf(key, name);
}

function modulus(key: JWK): string {
  const bits = bitLength(unsignedOf(key, "n"));
  if (bits < minimumRsaBits) {
    throw new KeyMismatchError(`the RSA key has ${bits} bits, and at least ${minimumRsaBits} are needed`);
  }
  if (bits > maximumRsaBits) {
    throw new KeyMismatchError(`the RSA key has ${bits} bits, and at most ${maximumRsaBits} are worked with`);
  }
  return textOf(key, "n");
}

/** The exponent is odd and at least 3: with 1 a signature would be no more than its own padding. */
function exponent(key: JWK): string {
  const bytes = unsignedOf(key, "e");
  const last = bytes.at(-1) ?? 0;
  if (bytes.length > maximumExponentLength || last % 2 === 0 || (bytes.length === 1 && last < 3)) {
    throw new KeyMismatchError('the exponent of the RSA key ("e") is even, less than 3 or above 64 bits');
  }
  return textOf(key, "e");
}

/** Base64urlUInt of RFC 7518 §2: the smallest number of bytes, so none before it is zero. */
function unsignedOf(key: JWK, name: "n" | "e"): Uint8Array {
  const bytes = bytesOf(key, name);
  if (bytes[0] === 0)
    throw new KeyMismatchError(`the member "${name}" of the RSA key starts with a zero byte`);
  return bytes;
}

function bitLength(bytes: Uint8Array): number {
  return bytes.length * 8 - Math.clz32(bytes[0] ?? 0) + 24;
}

function bytesOf(key: JWK, name: "x" | "y" | "n" | "e"): Uint8Array {
  const bytes = decodeBase64url(textOf(key, name));
  if (bytes === undefined || bytes.length === 0) {
    throw new KeyMismatchError(`the member "${name}" of the key is not unpadded base64url`);
  }
  return bytes;
}

/** A JWK comes from JSON, whatever its type promises. */
function textOf(key: JWK, name: "x" | "y" | "n" | "e"): string {
  const text: unknown = key[name];
  if (typeof text !== "string") throw new KeyMismatchError(`the key has no member "${name}"`);
  return text;
}
