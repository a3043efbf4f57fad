import { SigningError } from "../signing-error.ts";
import { KeyMismatchError } from "./key-mismatch-error.ts";

/** What to do about a key that cannot sign cards, or verify them. */
export const keyHint =
  "a card is signed with EC keys on P-256 (ES256) or P-384 (ES384), Ed25519 keys (EdDSA) and RSA keys of 2048 bits or more (RS256, PS256); generateSigningKey makes one, and so does `a2a keys new`";

/** What callers who gave a key are told of it: a KeyMismatchError with a hint. Anything else stays what it is. */
export function explainKeyError(error: unknown): unknown {
  return error instanceof KeyMismatchError
    ? new SigningError(error.message, keyHint, { cause: error })
    : error;
}
