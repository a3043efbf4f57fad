import type { JWK } from "jose";
import { checkSigningMembers } from "../option-members.ts";
import { SigningError } from "../signing-error.ts";
import { parseKeyTexts } from "./key-text.ts";
import type { ReadVerificationKeysOptions, VerificationKey } from "./key-types.ts";
import { toVerificationKey } from "./public-key.ts";
import { explainKeyError, keyHint, textHint } from "./unusable-key.ts";

/**
 * Public keys from the text of a file: a JWK, a key set (RFC 7517) or PEM (SPKI, or a certificate, whose dates become `nbf` and
 * `exp`; of a chain it is the first). One without an id gets its thumbprint (RFC 7638). Of private keys only the public side is
 * returned. Keys in a set that are not for cards are passed over, unless there are no others.
 *
 * @returns at least one
 * @throws SigningError when there is none; its hint says what to do
 */
export async function readVerificationKeys(
  text: string,
  options: ReadVerificationKeysOptions = {},
): Promise<readonly VerificationKey[]> {
  checkSigningMembers("the options of readVerificationKeys", options);
  const { kid } = options;
  const given = await parseKeyTexts(text);
  const [only] = given;
  if (only !== undefined && given.length === 1) return [await toKey(only, kid)];
  const { keys, problem } = await readAll(given);
  if (keys.length === 0) {
    throw problem === undefined
      ? new SigningError("the key set is empty", textHint)
      : new SigningError(`no key of the set can be used: ${problem}`, keyHint);
  }
  const wanted = kid === undefined ? keys : keys.filter((key) => key.kid === kid);
  if (wanted.length === 0) {
    throw new SigningError(
      "no key of the set has the id that was asked for",
      `its ids are: ${listIds(keys)}`,
    );
  }
  return wanted;
}

function listIds(keys: readonly VerificationKey[]): string {
  return keys.map(({ kid }) => JSON.stringify(kid)).join(", ");
}

/** Those that can be used, and what was wrong with the first that cannot. */
async function readAll(
  given: readonly JWK[],
): Promise<{ readonly keys: readonly VerificationKey[]; readonly problem: string | undefined }> {
  const keys: VerificationKey[] = [];
  let problem: string | undefined;
  for (const jwk of given) {
    try {
      keys.push(await toKey(jwk, undefined));
    } catch (error) {
      if (!(error instanceof SigningError)) throw error;
      problem ??= error.message;
    }
  }
  return { keys, problem };
}

async function toKey(jwk: JWK, kid: string | undefined): Promise<VerificationKey> {
  try {
    return await toVerificationKey(jwk, kid);
  } catch (error) {
    throw explainKeyError(error);
  }
}
