import type { JWK } from "jose";
import { decodeBase64url } from "../jws/jws-text.ts";
import {
  algorithmNames,
  algorithms,
  type Curve,
  coordinateLengths,
  isSameAlgorithm,
  isSignatureAlgorithm,
  type SignatureAlgorithm,
} from "./algorithms.ts";

/**
 * A public key that may verify cards: a JWK (RFC 7517) that says who it is. Beside the members of a JWK it may say when it
 * counts, as key sets of other protocols do.
 */
export interface VerificationKey extends JWK {
  readonly kid: string;
  /** Seconds since 1970 before which it does not count yet. */
  readonly nbf?: number;
  /** Seconds since 1970 from which on it does not count any more. */
  readonly exp?: number;
  /** Whether it was revoked; `true`, or an object that tells when and why. */
  readonly revoked?: boolean | Readonly<Record<string, unknown>>;
}

/**
 * Something that was given to sign with, to be signed, or as a key, cannot be used. All functions that read keys throw it, also those
 * that do not say so. Repeats nothing of a private key, neither in its texts nor in its cause.
 */
export class SigningError extends Error {
  /** What to do about it, in a sentence without a full stop. */
  readonly hint: string;

  /** @param message a sentence for people, without a full stop */
  constructor(message: string, hint: string) {
    super(message);
    this.name = "SigningError";
    this.hint = hint;
  }
}

/** What to do about a key that is of none of the kinds that sign cards. */
export const keyHint =
  "a card is signed with EC keys on P-256 (ES256) or P-384 (ES384), Ed25519 keys (EdDSA) and RSA keys of 2048 bits or more (RS256, PS256); `a2a keys new` makes one, in code generateSigningKey";

/** A key that cannot be used for what it was given for: another type, another curve, too weak, not made for signatures. */
export function unfit(message: string, hint: string = keyHint): SigningError {
  return new SigningError(message, hint);
}

/**
 * The public members of a key, checked: those that its thumbprint is made of (RFC 7638 §3.2), and no other. They must be written in
 * the one way that JWA allows, for otherwise one key would have many thumbprints: it could count as several signers, or come back
 * after it was revoked.
 */
export function publicMembers(key: JWK): JWK {
  const { kty, crv } = key;
  const coordinate = (name: "x" | "y", on: Curve) => readMember(key, name, coordinateLengths[on]).text;
  if (kty === "RSA") return rsaMembers(key);
  if (kty === "EC" && (crv === "P-256" || crv === "P-384")) {
    return { kty, crv, x: coordinate("x", crv), y: coordinate("y", crv) };
  }
  if (kty === "OKP" && crv === "Ed25519") return { kty, crv, x: coordinate("x", crv) };
  throw unfit(
    kty === "oct"
      ? "the key is symmetric (oct): each holder that verifies with it can also sign"
      : "the key (kty, crv) is neither an EC key on P-256 or P-384, nor an OKP key on Ed25519, nor an RSA key",
  );
}

/** Smallest modulus that counts (RFC 7518 §3.3). */
const minimumRsaBits = 2048;

/** Largest modulus that is worked with: verifying takes time that grows with its square, and some runtimes go no further. */
const maximumRsaBits = 8192;

/**
 * The exponent is odd and at least 3: with 1 a signature would be no more than its own padding. Above 64 bits it only makes
 * verifying slow; OpenSSL refuses that for most keys.
 */
function rsaMembers(key: JWK): JWK {
  const [n, e] = [readMember(key, "n"), readMember(key, "e")];
  // Base64urlUInt of RFC 7518 §2 has the smallest number of bytes.
  if (n.bytes[0] === 0 || e.bytes[0] === 0) throw unfit("a number of the RSA key starts with a zero byte");
  const bits = n.bytes.length * 8 - Math.clz32(n.bytes[0] ?? 0) + 24;
  if (bits < minimumRsaBits || bits > maximumRsaBits) {
    throw unfit(`the RSA key has ${bits} bits, not between ${minimumRsaBits} and ${maximumRsaBits}`);
  }
  const last = e.bytes.at(-1) ?? 0;
  if (e.bytes.length > 8 || last % 2 === 0 || (e.bytes.length === 1 && last < 3)) {
    throw unfit('the exponent of the RSA key ("e") is even, less than 3 or above 64 bits');
  }
  return { kty: "RSA", n: n.text, e: e.text };
}

/** @param length in bytes. Default: any length above 0 */
function readMember(key: JWK, name: "x" | "y" | "n" | "e", length?: number) {
  const text: unknown = key[name]; // a JWK comes from JSON, which need not fit its type
  const bytes = typeof text === "string" ? decodeBase64url(text) : undefined;
  const isFull = bytes !== undefined && bytes.length > 0 && bytes.length === (length ?? bytes.length);
  if (typeof text === "string" && isFull) return { text, bytes };
  const what = length === undefined ? "base64url" : `${length} bytes in base64url`;
  throw unfit(`the member "${name}" of the key is missing, or is not ${what} without padding`);
}

/** What a key is for: what it says, else the first algorithm of the table that its type is made for. */
export function algorithmOf(key: JWK): SignatureAlgorithm {
  if (isSignatureAlgorithm(key.alg)) return key.alg;
  const { kty, crv } = publicMembers(key);
  const fitting = algorithmNames.find((alg) => algorithms[alg].kty === kty && algorithms[alg].crv === crv);
  if (key.alg === undefined && fitting !== undefined) return fitting;
  throw unfit('the key is for an algorithm that does not sign cards (its member "alg")');
}

/** Refuses a key that is made for something else than what it is to be used for, or says so. */
export function checkPurpose(key: JWK, alg: SignatureAlgorithm, operation: "sign" | "verify"): void {
  if (!isSignatureAlgorithm(alg)) throw unfit("the algorithm does not sign cards");
  const { kty, crv } = algorithms[alg];
  if (key.kty !== kty || (crv !== undefined && key.crv !== crv)) {
    throw unfit(`${alg} needs a key of the type ${kty}${crv === undefined ? "" : ` on the curve ${crv}`}`);
  }
  const hint = "use another key; if the member is wrong, correct it or leave it out";
  if (key.alg !== undefined && !isSameAlgorithm(key.alg, alg)) {
    throw unfit(`the key is for another algorithm than ${alg} (its member "alg")`, hint);
  }
  if (key.use !== undefined && key.use !== "sig") {
    throw unfit('the key is not for signatures (its member "use")', hint);
  }
  const operations: unknown = key.key_ops;
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes(operation))) {
    throw unfit(`the key may not ${operation} (its member "key_ops")`, hint);
  }
}
