import type { JWK } from "jose";
import { checkSigningMembers } from "../option-members.ts";
import { algorithmOf } from "./algorithm-of.ts";
import { checkKeyId } from "./key-id.ts";
import { parseKeyText } from "./key-text.ts";
import type { PublicKeyOptions, SignatureAlgorithm, VerificationKey } from "./key-types.ts";
import { publicMembers } from "./public-members.ts";
import { explainKeyError } from "./unusable-key.ts";
import { checkPurpose, thumbprintOf } from "./verification-key.ts";

/**
 * The public side of a key, for key sets and for those who verify: never with a private member, whatever was given.
 *
 * @param key private or public: a JWK or its text, or PEM (PKCS#8, SPKI or a certificate)
 * @throws SigningError when it is no key that signs cards, or not for that algorithm
 */
export async function publicKeyOf(
  key: JWK | string,
  options: PublicKeyOptions = {},
): Promise<VerificationKey> {
  checkSigningMembers("the options of publicKeyOf", options);
  const { kid, alg } = options;
  const jwk = typeof key === "string" ? await parseKeyText(key) : key;
  try {
    const chosen = alg ?? algorithmOf(jwk);
    return { ...(await toVerificationKey(jwk, kid, chosen)), alg: chosen, use: "sig" };
  } catch (error) {
    throw explainKeyError(error);
  }
}

/**
 * What of a JWK may be shown to everybody and matters to whoever verifies: all that makes the public key, and what it says of
 * its purpose and its time. Nothing else, so that no member of any kind of private key gets through.
 *
 * @param kid default: the JWK's own, else its thumbprint
 * @param alg what it must be for; default: what it is for
 * @throws KeyMismatchError when it is no key that verifies cards; SigningError when its id is none that verifiers look for
 */
export async function toVerificationKey(
  jwk: JWK,
  kid: string | undefined,
  alg?: SignatureAlgorithm,
): Promise<VerificationKey> {
  const ownId = typeof jwk.kid === "string" && jwk.kid !== "" ? jwk.kid : undefined;
  const key = publishedKey(jwk, checkKeyId(kid ?? ownId ?? (await thumbprintOf(jwk))));
  checkPurpose(key, alg ?? algorithmOf(jwk), "verify");
  return key;
}

/** The same of a key whose id is known, whatever its purpose is. @throws KeyMismatchError when it is malformed */
export function publishedKey(jwk: JWK, kid: string): VerificationKey {
  return { ...publicMembers(jwk), kid, ...shownMembers(jwk) };
}

/** The members beside those of the key itself. That they come from JSON is for their reader to mind. */
function shownMembers(jwk: JWK & Partial<VerificationKey>): Partial<VerificationKey> {
  const { alg, use, key_ops, nbf, exp, revoked } = jwk;
  const isPrivate = jwk.d !== undefined; // its operations are not those of the public key
  return {
    ...(alg === undefined ? {} : { alg }),
    ...(use === undefined ? {} : { use }),
    ...(key_ops === undefined || isPrivate ? {} : { key_ops }),
    ...(nbf === undefined ? {} : { nbf }),
    ...(exp === undefined ? {} : { exp }),
    // Not what it tells of when and why: that may be anything.
    ...(revoked === undefined ? {} : { revoked: isMarked(revoked) }),
  };
}

/** Whether a mark counts against a key: whatever it is, unless it says that it is none. */
function isMarked(mark: unknown): boolean {
  return mark !== null && mark !== false;
}
