import { SigningError } from "../signing-error.ts";
import { KeyMismatchError } from "./key-mismatch-error.ts";

/** What to do about a key that is of none of the kinds that sign cards. */
export const keyHint =
  "a card is signed with EC keys on P-256 (ES256) or P-384 (ES384), Ed25519 keys (EdDSA) and RSA keys of 2048 bits or more (RS256, PS256); `a2a keys new` makes one, in code generateSigningKey";

/** What to do about a text that is no key at all. */
export const textHint = "give a JWK, a key set (JWKS) or PEM; `a2a keys new` makes a key";

/** What callers who gave a key are told of it: a KeyMismatchError with a hint. Anything else stays what it is. */
export function explainKeyError(error: unknown): unknown {
  return error instanceof KeyMismatchError
    ? new SigningError(error.message, error.hint ?? keyHint, { cause: error })
    : error;
}
