import { type CardSigner, createCardSigner, SigningError } from "@a2a-connect/signing";
import { type CardSignerOptions, findKeyTimeFault, ownIdOf } from "@a2a-connect/signing/internal";
import { type CliError, usageError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import type { LooseObject } from "../json.ts";
import { type KeyFile, readKeyFile, refuseRenaming } from "./key-file.ts";

/** How a key signs, where it does not say so itself. Of several keys, the id says which one signs. */
type SigningKeyOptions = Pick<CardSignerOptions, "kid" | "alg">;

/**
 * The private key of a file: a JWK, PEM, or one of a key set. Verifiers refuse what expired keys and others that are out of their
 * time have signed, so they do not sign here. @param options undefined: the caller has no way to say it
 * @throws CliError USAGE when it cannot sign; the key is named by its file, and never repeated
 */
export async function openSigningKey(
  reference: string,
  io: Pick<CliIo, "cwd" | "stdin">,
  options?: SigningKeyOptions,
): Promise<{ readonly text: string; readonly signer: CardSigner }> {
  const file = await readKeyFile(reference, io);
  const jwk = chooseKey(file, options);
  const text = jwk === undefined ? file.text : JSON.stringify(jwk);
  const signer = await createCardSigner({ key: text, ...options }).catch(async (error: unknown) => {
    if (!(error instanceof SigningError)) throw error;
    const { alg, ...others } = options ?? {};
    // What the key is without the algorithm that was asked of it.
    const own = alg && (await createCardSigner({ key: text, ...others }).catch(() => undefined));
    const hint = own ? `leave --alg out: this key signs with ${own.alg}` : error.hint;
    throw cannotSign(file.name, error.message, hint, error);
  });
  const fault = jwk && findKeyTimeFault(jwk, Date.now());
  if (fault === undefined) return { text, signer };
  throw cannotSign(
    file.name,
    `the key ${fault.problem}, so verifiers refuse what it signs`,
    "make a new key with a2a keys new; a2a serve --retired-key still publishes the old one",
  );
}

/** The JWK that signs; undefined for PEM. An id chooses among several, and is given to none that has another. */
function chooseKey(file: KeyFile, options: SigningKeyOptions | undefined): LooseObject | undefined {
  const { name, entries: keys = [] } = file;
  const kid = options?.kid;
  const [only, ...others] = keys;
  if (only === undefined) return undefined;
  if (others.length === 0) {
    refuseRenaming(file, kid);
    return only;
  }
  const chosen = kid === undefined ? [] : keys.filter((key) => ownIdOf(key) === kid);
  if (chosen.length === 1) return chosen[0];
  const ids = keys.map((key) => JSON.stringify(ownIdOf(key)) ?? "one without an id").join(", ");
  const what = options === undefined ? "give a file with only the key that signs" : "choose it with --kid";
  throw cannotSign(name, `it has ${keys.length} keys, and only one can sign`, `${what}; its ids are: ${ids}`);
}

function cannotSign(name: string, problem: string, hint: string, cause?: unknown): CliError {
  return usageError(`${name} cannot sign: ${problem}`, hint, cause);
}
