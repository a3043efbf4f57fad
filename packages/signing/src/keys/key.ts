import { isShowable } from "@a2a-connect/core/internal";
import { type CryptoKey, calculateJwkThumbprint, importJWK, type JWK } from "jose";
import { decodeBase64url } from "../jws/base64url.ts";
import type { Refusal } from "../verify/verdict.ts";
import {
  algorithms,
  isSameAlgorithm,
  isSignatureAlgorithm,
  maximumRsaBits,
  minimumRsaBits,
} from "./algorithms.ts";
import type { SignatureAlgorithm, VerificationKey } from "./key-types.ts";
import { SigningError } from "./key-types.ts";

/** What to do about a key that is of none of the kinds that sign cards. */
export const keyHint =
  "a card is signed with EC keys on P-256 (ES256) or P-384 (ES384), Ed25519 keys (EdDSA) and RSA keys of 2048 bits or more (RS256, PS256); `a2a keys new` makes one, in code generateSigningKey";

/** A key that cannot be used for what it was given for: another type, another curve, too weak, not made for signatures. */
export function unfit(message: string, hint: string = keyHint): SigningError {
  return new SigningError(message, hint);
}

/** What makes a public key: the members that its thumbprint is made of (RFC 7638 §3.2), and nothing else. */
export type PublicMembers =
  | { readonly kty: "EC"; readonly crv: "P-256" | "P-384"; readonly x: string; readonly y: string }
  | { readonly kty: "OKP"; readonly crv: "Ed25519"; readonly x: string }
  | { readonly kty: "RSA"; readonly n: string; readonly e: string };

/** Exponents above 64 bits only make verifying slow; OpenSSL refuses them for most keys. */
const maximumExponentLength = 8;

/**
 * The public members of a key, checked. They must be written in the one way that JWA allows, for otherwise one key would have
 * many thumbprints: it could count as several signers, or come back after it was revoked.
 *
 * @throws SigningError when the key is not of a type that signs cards, or not well-formed, or a weak RSA key
 */
export function publicMembers(key: JWK): PublicMembers {
  const { crv } = key;
  switch (key.kty) {
    case "EC": {
      if (crv !== "P-256" && crv !== "P-384")
        throw unfit("the curve of the EC key is neither P-256 nor P-384");
      const length = crv === "P-256" ? 32 : 48; // RFC 7518 §6.2.1
      return { kty: "EC", crv, x: coordinate(key, "x", length), y: coordinate(key, "y", length) };
    }
    case "OKP":
      if (crv !== "Ed25519") throw unfit("the curve of the OKP key is not Ed25519");
      return { kty: "OKP", crv, x: coordinate(key, "x", 32) }; // RFC 8037 §2
    case "RSA":
      return { kty: "RSA", n: modulus(key), e: exponent(key) };
    case "oct":
      throw unfit("the key is symmetric (oct), and whoever can verify with it can also sign");
    default:
      throw unfit("the type of the key (kty) is none of EC, OKP and RSA");
  }
}

function coordinate(key: JWK, name: "x" | "y", length: number): string {
  const { text, bytes } = readMember(key, name);
  if (bytes.length === length) return text;
  throw unfit(`the member "${name}" of the ${key.crv} key is not ${length} bytes long`);
}

function modulus(key: JWK): string {
  const { text, bytes } = readMember(key, "n");
  const bits = bytes.length * 8 - Math.clz32(bytes[0] ?? 0) + 24;
  if (bits < minimumRsaBits) {
    throw unfit(`the RSA key has ${bits} bits, and at least ${minimumRsaBits} are needed`);
  }
  if (bits > maximumRsaBits) {
    throw unfit(`the RSA key has ${bits} bits, and at most ${maximumRsaBits} are worked with`);
  }
  return text;
}

/** The exponent is odd and at least 3: with 1 a signature would be no more than its own padding. */
function exponent(key: JWK): string {
  const { text, bytes } = readMember(key, "e");
  const last = bytes.at(-1) ?? 0;
  if (bytes.length > maximumExponentLength || last % 2 === 0 || (bytes.length === 1 && last < 3)) {
    throw unfit('the exponent of the RSA key ("e") is even, less than 3 or above 64 bits');
  }
  return text;
}

function readMember(key: JWK, name: "x" | "y" | "n" | "e"): { text: string; bytes: Uint8Array } {
  const text: unknown = key[name]; // a JWK comes from JSON, which need not fit its type
  if (typeof text !== "string") throw unfit(`the key has no member "${name}"`);
  const bytes = decodeBase64url(text);
  if (bytes === undefined || bytes.length === 0) {
    throw unfit(`the member "${name}" of the key is not unpadded base64url`);
  }
  // Base64urlUInt of RFC 7518 §2 has the smallest number of bytes.
  if (bytes[0] === 0 && (name === "n" || name === "e")) {
    throw unfit(`the member "${name}" of the RSA key starts with a zero byte`);
  }
  return { text, bytes };
}

/**
 * What a key is for: what it says, else the first algorithm of the table that its type is made for.
 *
 * @throws SigningError when the key is for something else, or is none that signs cards
 */
export function algorithmOf(key: JWK): SignatureAlgorithm {
  if (isSignatureAlgorithm(key.alg)) return key.alg;
  const names = Object.keys(algorithms).join(", ");
  if (key.alg !== undefined) {
    throw unfit(
      'the key is for an algorithm that cards are not signed with (its member "alg")',
      key.kty === "oct"
        ? keyHint
        : `take another key; where the member is wrong, make it one of ${names} or leave it away`,
    );
  }
  const { kty } = publicMembers(key);
  const fitting = Object.values(algorithms).find(
    (each) => each.kty === kty && (each.crv ?? key.crv) === key.crv,
  );
  if (fitting === undefined) throw unfit("the key is none that signs cards");
  return fitting.alg;
}

/**
 * Compares what a JWK says of its own purpose with what it is to be used for.
 *
 * @throws SigningError when the two do not agree
 */
export function checkPurpose(key: JWK, alg: SignatureAlgorithm, operation: "sign" | "verify"): void {
  if (!isSignatureAlgorithm(alg)) throw unfit("the algorithm is none that signs cards");
  const { kty, crv } = algorithms[alg];
  if (key.kty === "oct") throw unfit("the key is symmetric (oct), and cards are signed with key pairs only");
  if (key.kty !== kty) throw unfit(`${alg} needs a key of the type ${kty}`);
  if (crv !== undefined && key.crv !== crv) throw unfit(`${alg} needs a key on the curve ${crv}`);
  if (key.alg !== undefined && !isSameAlgorithm(key.alg, alg)) {
    throw unfit(
      `the key is for another algorithm than ${alg} (its member "alg")`,
      "let it do what it is for, or take another key; where the member is wrong, correct it or leave it away",
    );
  }
  if (key.use !== undefined && key.use !== "sig") {
    throw unfit(
      'the key is not for signatures (its member "use")',
      'take one that is; where the member is wrong, make it "sig" or leave it away',
    );
  }
  const operations: unknown = key.key_ops;
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes(operation))) {
    throw unfit(
      `the key may not ${operation} (its member "key_ops")`,
      `take one that may; where the member is wrong, add "${operation}" or leave it away`,
    );
  }
}

/** Longest key id, in UTF-16 code units: verifiers look no further. */
export const maxKeyIdLength = 256;

/**
 * The id of a key that signs or verifies: every verifier can look for it, and show it.
 *
 * @throws SigningError when it is empty, too long, or has what is not to be seen
 */
export function checkKeyId(kid: string): string {
  if (kid !== "" && isShowable(kid, maxKeyIdLength)) return kid;
  throw new SigningError(
    `the id of the key (kid) is empty, has control characters, or more than ${maxKeyIdLength} characters`,
    "choose a short name, such as 2026-summer, or leave it away: then it is the key's thumbprint",
  );
}

/** The id that a JWK has itself; undefined where it has none. */
export function ownIdOf({ kid }: { readonly kid?: unknown }): string | undefined {
  return typeof kid === "string" && kid !== "" ? kid : undefined;
}

const imported = new WeakMap<JWK, Map<SignatureAlgorithm, Promise<CryptoKey>>>();
const thumbprints = new WeakMap<JWK, Promise<string>>();

/**
 * A public key as Web Crypto wants it. It is imported once for each object and algorithm, so a key must not be changed after
 * it was used. Whether it is expired or revoked is not asked here. Private members are not looked at.
 *
 * @throws SigningError (as a rejection) when the key is not for this algorithm or not for signatures (RFC 7517 §4), or is
 *   malformed or too weak
 */
export function importVerificationKey(key: VerificationKey, alg: SignatureAlgorithm): Promise<CryptoKey> {
  const byAlgorithm = imported.get(key) ?? new Map<SignatureAlgorithm, Promise<CryptoKey>>();
  const importing = byAlgorithm.get(alg) ?? importPublicKey(key, alg);
  imported.set(key, byAlgorithm.set(alg, importing));
  return importing;
}

async function importPublicKey(key: VerificationKey, alg: SignatureAlgorithm): Promise<CryptoKey> {
  checkPurpose(key, alg, "verify");
  const members = publicMembers(key);
  try {
    return (await importJWK(members, alg)) as CryptoKey; // bytes only of symmetric keys
  } catch (cause) {
    const isUnknown = cause instanceof DOMException && cause.name === "NotSupportedError";
    throw unfit(
      isUnknown
        ? `this runtime does not know ${alg}`
        : "the key is malformed: its point is not on the curve, or its numbers make no key",
    );
  }
}

/**
 * SHA-256 thumbprint of a key (RFC 7638), base64url: the same for the public and the private key. Other members of the JWK do
 * not change it.
 * Computed once for each object.
 *
 * @throws SigningError (as a rejection) when the key is not of a type that signs cards, or not well-formed
 */
export function thumbprintOf(key: JWK): Promise<string> {
  const thumbprint = thumbprints.get(key) ?? computeThumbprint(key);
  thumbprints.set(key, thumbprint);
  return thumbprint;
}

async function computeThumbprint(key: JWK): Promise<string> {
  return await calculateJwkThumbprint(publicMembers(key), "sha256");
}

/**
 * Why a key does not count by what it says itself (requirement M-4); undefined when it does. Keys are JSON of others: a date or a
 * mark that cannot be read counts against the key.
 *
 * @param now milliseconds since 1970
 * @returns the problem as the rest of a sentence about the key
 */
export function findKeyTimeFault(
  { nbf, exp, revoked }: Readonly<Partial<Record<"nbf" | "exp" | "revoked", unknown>>>,
  now: number,
): Refusal<"key-revoked" | "key-not-yet-valid" | "key-expired"> | undefined {
  if (isMarked(revoked)) return { fault: "key-revoked", problem: "is marked as revoked" };
  if (nbf !== undefined && !(isTime(nbf) && now >= nbf * 1000)) {
    return { fault: "key-not-yet-valid", problem: `does not count ${formatTime("before", nbf)}` };
  }
  if (exp !== undefined && !(isTime(exp) && now < exp * 1000)) {
    return { fault: "key-expired", problem: `does not count any more ${formatTime("since", exp)}` };
  }
  return undefined;
}

/** Whether a mark of revocation counts against a key: every value does, but undefined, null and false. */
export function isMarked(mark: unknown): boolean {
  return mark !== undefined && mark !== null && mark !== false;
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function formatTime(preposition: string, seconds: unknown): string {
  const date = isTime(seconds) ? new Date(seconds * 1000) : undefined;
  return date === undefined || Number.isNaN(date.getTime())
    ? "(its date is no number of seconds since 1970)"
    : `${preposition} ${date.toISOString()}`;
}
