import type { JWK } from "jose";
import { algorithms, isSignatureAlgorithm } from "./algorithms.ts";
import { KeyMismatchError } from "./key-mismatch-error.ts";
import type { SignatureAlgorithm } from "./key-types.ts";
import { publicMembers } from "./public-members.ts";

/**
 * What a key is for: what it says, else what its type is made for. Of two names, and of two paddings, that is the one that most
 * verifiers know.
 *
 * @throws KeyMismatchError when the key is for something else, or is none that signs cards
 */
export function algorithmOf(key: JWK): SignatureAlgorithm {
  if (isSignatureAlgorithm(key.alg)) return key.alg;
  if (key.alg !== undefined) {
    const names = Object.keys(algorithms).join(", ");
    throw new KeyMismatchError(
      'the key is for an algorithm that cards are not signed with (its member "alg")',
      key.kty === "oct"
        ? {}
        : { hint: `take another key; where the member is wrong, make it one of ${names} or leave it away` },
    );
  }
  const members = publicMembers(key);
  switch (members.kty) {
    case "EC":
      return members.crv === "P-256" ? "ES256" : "ES384";
    case "OKP":
      return "EdDSA";
    case "RSA":
      return "RS256";
  }
}
