import { checkSigningMembers } from "../option-members.ts";
import { SigningError } from "../signing-error.ts";
import type { CreateKeySetOptions, VerificationKey } from "./key-types.ts";
import { publishedKey } from "./public-key.ts";
import { publicMembers } from "./public-members.ts";
import { explainKeyError } from "./unusable-key.ts";

/** A key set as it is published (RFC 7517 §5). */
export interface PublishedKeySet {
  readonly keys: readonly VerificationKey[];
}

/** Above that, what is said to be seconds is milliseconds: it would be after the year 5138. */
const latestDate = 100_000_000_000;

/**
 * The key set to be served for those who verify. A key that signs no more stays in it with its date as `exp`, so that what it
 * has signed still verifies; once that has passed it is left out, as is a key that is marked as revoked: not every verifier
 * knows these members. Private members never get in.
 *
 * @throws SigningError when two keys have one id, a key is none that signs cards, or a date is no number of seconds
 */
export function createKeySet(
  keys: readonly VerificationKey[],
  options: CreateKeySetOptions = {},
): PublishedKeySet {
  checkSigningMembers("the options of createKeySet", options);
  const { now = Date.now() } = options;
  const published = new Map<string, VerificationKey>();
  for (const key of keys) {
    const { kid, exp, revoked } = key;
    const shown = publish(key);
    const other = published.get(kid);
    if (other !== undefined && !isSameKey(other, shown)) {
      throw new SigningError(
        `two keys have the id ${JSON.stringify(kid)}`,
        "give each key an id of its own (kid)",
      );
    }
    const counts = exp === undefined || exp * 1000 > now;
    const isRevoked = revoked !== undefined && revoked !== false;
    if (counts && !isRevoked) published.set(kid, shown);
  }
  return { keys: [...published.values()] };
}

function publish(key: VerificationKey): VerificationKey {
  for (const name of ["nbf", "exp"] as const) {
    const date = key[name];
    if (date !== undefined && !(date >= 0 && date < latestDate)) {
      throw new SigningError(
        `the date of the key ${JSON.stringify(key.kid)} makes no sense (${name})`,
        "give it in seconds since 1970: Math.floor(date.getTime() / 1000)",
      );
    }
  }
  try {
    return publishedKey(key, key.kid);
  } catch (error) {
    throw explainKeyError(error);
  }
}

function isSameKey(one: VerificationKey, other: VerificationKey): boolean {
  return JSON.stringify(publicMembers(one)) === JSON.stringify(publicMembers(other));
}
