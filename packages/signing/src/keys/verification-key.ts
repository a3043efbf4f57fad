import { type CryptoKey, calculateJwkThumbprint, type JWK } from "jose";
import { algorithms, isSameAlgorithm, isSignatureAlgorithm } from "./algorithms.ts";
import { KeyMismatchError } from "./key-mismatch-error.ts";
import type { SignatureAlgorithm, VerificationKey } from "./key-types.ts";
import { publicMembers } from "./public-members.ts";

export { KeyMismatchError };

const imported = new WeakMap<JWK, Map<SignatureAlgorithm, Promise<CryptoKey>>>();
const thumbprints = new WeakMap<JWK, Promise<string>>();

/**
 * A public key as Web Crypto wants it. It is imported once for each object and algorithm, so a key must not be changed after
 * it was used. Whether it is expired or revoked is not asked here. Private members are not looked at.
 *
 * @throws KeyMismatchError (as a rejection) when the key is not for this algorithm or not for signatures (`alg`, `use`,
 *   `key_ops`; RFC 7517 §4), symmetric, malformed, or an RSA key of less than 2048 bits
 */
export function importVerificationKey(key: VerificationKey, alg: SignatureAlgorithm): Promise<CryptoKey> {
  const known = imported.get(key)?.get(alg);
  if (known !== undefined) return known;
  const importing = importAnew(key, alg);
  const byAlgorithm = imported.get(key) ?? new Map<SignatureAlgorithm, Promise<CryptoKey>>();
  imported.set(key, byAlgorithm.set(alg, importing));
  return importing;
}

async function importAnew(key: VerificationKey, alg: SignatureAlgorithm): Promise<CryptoKey> {
  checkPurpose(key, alg, "verify");
  const members = publicMembers(key);
  try {
    return await crypto.subtle.importKey("jwk", members, algorithms[alg].keyParameters, true, ["verify"]);
  } catch (cause) {
    throw new KeyMismatchError(importProblem(cause, alg), { cause });
  }
}

function importProblem(cause: unknown, alg: SignatureAlgorithm): string {
  return cause instanceof DOMException && cause.name === "NotSupportedError"
    ? `this runtime does not know ${alg}`
    : "the key is malformed: its point is not on the curve, or its numbers make no key";
}

/**
 * What a JWK says of its own purpose, against what it is to be used for.
 *
 * @throws KeyMismatchError when the two do not agree
 */
export function checkPurpose(key: JWK, alg: SignatureAlgorithm, operation: "sign" | "verify"): void {
  if (!isSignatureAlgorithm(alg)) throw new KeyMismatchError("the algorithm is none that signs cards");
  const { kty, crv } = algorithms[alg];
  if (key.kty === "oct")
    throw new KeyMismatchError("the key is symmetric (oct), and cards are signed with key pairs only");
  if (key.kty !== kty) throw new KeyMismatchError(`${alg} needs a key of the type ${kty}`);
  if (crv !== undefined && key.crv !== crv)
    throw new KeyMismatchError(`${alg} needs a key on the curve ${crv}`);
  if (key.alg !== undefined && !isSameAlgorithm(key.alg, alg)) {
    throw new KeyMismatchError(`the key is for another algorithm than ${alg} (its member "alg")`, {
      hint: "let it do what it is for, or take another key; where the member is wrong, correct it or leave it away",
    });
  }
  if (key.use !== undefined && key.use !== "sig") {
    throw new KeyMismatchError('the key is not for signatures (its member "use")', {
      hint: 'take one that is; where the member is wrong, make it "sig" or leave it away',
    });
  }
  const operations: unknown = key.key_ops;
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes(operation))) {
    throw new KeyMismatchError(`the key may not ${operation} (its member "key_ops")`, {
      hint: `take one that may; where the member is wrong, add "${operation}" or leave it away`,
    });
  }
}

/**
 * SHA-256 thumbprint of a key (RFC 7638), base64url: the same for the public and the private key, and whatever else the JWK
 * says. Computed once for each object.
 *
 * @throws KeyMismatchError (as a rejection) as {@link publicMembers} does
 */
export function thumbprintOf(key: JWK): Promise<string> {
  const known = thumbprints.get(key);
  if (known !== undefined) return known;
  const computing = computeThumbprint(key);
  thumbprints.set(key, computing);
  return computing;
}

async function computeThumbprint(key: JWK): Promise<string> {
  return await calculateJwkThumbprint(publicMembers(key), "sha256");
}
