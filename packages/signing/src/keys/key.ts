import { isShowable } from "@a2a-connect/core/internal";
import { type CryptoKey, calculateJwkThumbprint, importJWK, type JWK } from "jose";
import type { Refusal } from "../verify/faults.ts";
import type { SignatureAlgorithm } from "./algorithms.ts";
import { checkPurpose, publicMembers, SigningError, unfit, type VerificationKey } from "./key-type.ts";

/** Longest key id, in UTF-16 code units: verifiers look no further. */
export const maxKeyIdLength = 256;

/** The id that a JWK has itself; undefined where it has none. */
export function ownIdOf({ kid }: { readonly kid?: unknown }): string | undefined {
  return typeof kid === "string" && kid !== "" ? kid : undefined;
}

/**
 * The id of a key: the one that is given, else the JWK's own, else its thumbprint (RFC 7638). Refuses one that not every verifier
 * can look for, and show.
 */
export async function keyIdOf(jwk: JWK, given: string | undefined): Promise<string> {
  const kid = given ?? ownIdOf(jwk) ?? (await thumbprintOf(jwk));
  if (kid !== "" && isShowable(kid, maxKeyIdLength)) return kid;
  throw new SigningError(
    `the id of the key (kid) is empty, has control characters, or more than ${maxKeyIdLength} characters`,
    "choose a short name, such as 2026-summer, or leave it out: then the id is the key's thumbprint",
  );
}

const imported = new WeakMap<JWK, Map<SignatureAlgorithm, Promise<CryptoKey>>>();

/**
 * A public key as Web Crypto wants it. It is imported once for each object and algorithm, so a key must not be changed after
 * it was used. Whether it is expired or revoked is not asked here. Private members are not looked at.
 */
export function importVerificationKey(key: VerificationKey, alg: SignatureAlgorithm): Promise<CryptoKey> {
  const byAlgorithm = imported.get(key) ?? new Map<SignatureAlgorithm, Promise<CryptoKey>>();
  const importing = byAlgorithm.get(alg) ?? importPublicKey(key, alg);
  imported.set(key, byAlgorithm.set(alg, importing));
  return importing;
}

async function importPublicKey(key: VerificationKey, alg: SignatureAlgorithm): Promise<CryptoKey> {
  checkPurpose(key, alg, "verify");
  return await importKey(publicMembers(key), alg);
}

/** Nothing of the platform's error is told: it may be about secret members. */
export async function importKey(jwk: JWK, alg: SignatureAlgorithm): Promise<CryptoKey> {
  const importing = importJWK(jwk, alg, { extractable: false }) as Promise<CryptoKey>; // bytes only of symmetric keys
  return await importing.catch(() => {
    throw unfit(`the key is malformed or not complete, or this runtime does not know ${alg}`);
  });
}

/**
 * SHA-256 thumbprint of a key (RFC 7638), base64url: the same for the public and the private key. Other members of the JWK do
 * not change it.
 *
 * @throws SigningError (as a rejection) when the key is not of a type that signs cards, or not well-formed
 */
export async function thumbprintOf(key: JWK): Promise<string> {
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
    return { fault: "key-expired", problem: `expired ${formatTime("at", exp)}` };
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
    ? "(its date is not a number of seconds since 1970)"
    : `${preposition} ${date.toISOString()}`;
}
