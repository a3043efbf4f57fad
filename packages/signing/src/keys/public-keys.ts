import { isSame } from "@a2a-connect/core/internal";
import type { JWK } from "jose";
import type { SignatureAlgorithm } from "./algorithms.ts";
import { findKeyTimeFault, isMarked, keyIdOf } from "./key.ts";
import type { VerificationKey } from "./key-type.ts";
import { algorithmOf, checkPurpose, keyHint, publicMembers, SigningError } from "./key-type.ts";
import { parseKey, parseKeys } from "./parse-keys.ts";

/** What a public key is to say of itself. */
export interface PublicKeyOptions {
  /** Default: the JWK's own, else its thumbprint (RFC 7638). */
  readonly kid?: string | undefined;
  /** Default: the JWK's own, else what its type is made for. */
  readonly alg?: SignatureAlgorithm | undefined;
}

/** A key set as it is published (RFC 7517 §5). */
export interface PublishedKeySet {
  readonly keys: readonly VerificationKey[];
}

/**
 * The public side of a key, for key sets and verifiers. It never has a private member.
 *
 * @param key private or public: a JWK or its text, or PEM (PKCS#8 or SPKI)
 * @throws SigningError when it is no key that signs cards, or not for that algorithm
 */
export async function publicKeyOf(
  key: JWK | string,
  options: PublicKeyOptions = {},
): Promise<VerificationKey & { readonly alg: SignatureAlgorithm }> {
  const { kid, alg } = options;
  const jwk = typeof key === "string" ? await parseKey(key) : key;
  const chosen = alg ?? algorithmOf(jwk);
  return { ...(await toVerificationKey(jwk, kid, chosen)), alg: chosen, use: "sig" };
}

/** What of a JWK may be shown to others and matters to those who verify. Defaults as in PublicKeyOptions. */
async function toVerificationKey(
  jwk: JWK,
  kid: string | undefined,
  alg?: SignatureAlgorithm,
): Promise<VerificationKey> {
  const key = toPublished(jwk, await keyIdOf(jwk, kid));
  checkPurpose(key, alg ?? algorithmOf(jwk), "verify");
  return key;
}

/** What a public key may say of its purpose and its time. The operations of a private key are others. */
const publicFacts = ["alg", "use", "key_ops", "nbf", "exp", "revoked"] as const;

/**
 * A key whose id is known, for any purpose: the members that make the public key, and what it says of itself. Nothing else, so
 * that no member of a private key gets out.
 */
function toPublished(jwk: JWK & Partial<VerificationKey>, kid: string): VerificationKey {
  const isPrivate = jwk.d !== undefined;
  const said = publicFacts.filter((name) => jwk[name] !== undefined && !(isPrivate && name === "key_ops"));
  // Of a revocation not when and why: that may be anything.
  const facts = said.map((name) => [name, name === "revoked" ? isMarked(jwk.revoked) : jwk[name]]);
  return { ...publicMembers(jwk), kid, ...Object.fromEntries(facts) };
}

/**
 * Public keys from the text of a file: a JWK, a key set (RFC 7517) or PEM. One without an id gets its thumbprint (RFC 7638). Of
 * private keys only the public side is returned. Keys in a set that are not for cards are passed over, unless there are no others.
 *
 * @param options.kid of one key its id, in place of its own; of several the id of those that are wanted; default: all, as they are
 * @returns at least one
 * @throws SigningError when there is none; its hint says what to do
 */
export async function readVerificationKeys(
  text: string,
  options: Pick<PublicKeyOptions, "kid"> = {},
): Promise<readonly VerificationKey[]> {
  const { kid } = options;
  const given = await parseKeys(text);
  if (given.length === 1) return [await toVerificationKey(given[0], kid)];
  const read = await Promise.allSettled(given.map((jwk) => toVerificationKey(jwk, undefined)));
  const keys = read.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const unfit = read.find((each) => each.status === "rejected");
  if (keys.length === 0)
    throw new SigningError(`no key of the set can be used: ${unfit?.reason.message}`, keyHint);
  const wanted = kid === undefined ? keys : keys.filter((key) => key.kid === kid);
  if (wanted.length === 0) {
    const ids = keys.map((key) => JSON.stringify(key.kid)).join(", ");
    throw new SigningError("no key of the set has the id that was asked for", `its ids are: ${ids}`);
  }
  return wanted;
}

/**
 * The key set to be served for those who verify. A key that signs no more stays in it with its date as `exp`, so that what it
 * has signed still verifies; once that has passed it is left out, as is a key that is marked as revoked: not every verifier
 * knows these members. Private members never get in.
 *
 * @param options.now milliseconds since 1970; default: now
 * @throws SigningError when two keys have one id, or a key is none that signs cards
 */
export function createKeySet(
  keys: readonly VerificationKey[],
  options: { readonly now?: number } = {},
): PublishedKeySet {
  const { now = Date.now() } = options;
  const published = new Map<string, VerificationKey>();
  for (const key of keys) {
    const { kid, exp, revoked } = key;
    const shown = toPublished(key, kid);
    const other = published.get(kid);
    if (other !== undefined && !isSame(publicMembers(other), publicMembers(shown))) {
      const hint = "give each key an id of its own (kid)";
      throw new SigningError(`two keys have the id ${JSON.stringify(kid)}`, hint);
    }
    if (findKeyTimeFault({ exp, revoked }, now) === undefined) published.set(kid, shown);
  }
  return { keys: [...published.values()] };
}
