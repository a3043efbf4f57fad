import { type CardSigner, createCardSigner, SigningError } from "@a2a-connect/signing";
import { findKeyTimeFault, ownIdOf, type SignatureAlgorithm } from "@a2a-connect/signing/internal";
import { CliError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import { nameKey, readKeyJson, readKeyText } from "./key-text.ts";

/** How a key signs, where it does not say so itself. */
export interface SigningKeyOptions {
  /** Id of a key that has none; of several, the one that signs. */
  readonly kid?: string;
  readonly alg?: SignatureAlgorithm;
}

/** A private key of a file, and what it signs with. */
export interface OpenSigningKey {
  /** A JWK or PEM. */
  readonly text: string;
  readonly signer: CardSigner;
}

/**
 * The private key of a file: a JWK, PEM, or one of a key set. Verifiers refuse what expired keys and others that are out of their
 * time have signed, so they do not sign here.
 *
 * @param options undefined: whoever asks has no way to say it
 * @throws CliError USAGE when it cannot sign; the key is named by its file, and never repeated
 */
export async function openSigningKey(
  reference: string,
  io: Pick<CliIo, "cwd" | "stdin">,
  options?: SigningKeyOptions,
): Promise<OpenSigningKey> {
  const name = nameKey(reference);
  const text = chooseKey(await readKeyText(reference, io), name, options);
  const signer = await openSigner(text, name, options);
  const [json] = readKeyJson(text) ?? [];
  const fault = json && findKeyTimeFault(json, Date.now());
  if (fault !== undefined) {
    throw cannotSign(name, `the key ${fault.problem}, and verifiers refuse what it signs`, {
      hint: "make another with a2a keys new; a2a serve --retired-key goes on publishing one that signs no more",
    });
  }
  return { text, signer };
}

async function openSigner(
  text: string,
  name: string,
  options: SigningKeyOptions | undefined,
): Promise<CardSigner> {
  try {
    return await createCardSigner({ key: text, ...options });
  } catch (error) {
    if (!(error instanceof SigningError)) throw error;
    const { message, hint } = error;
    const own = await signsByItself(text, options);
    const better = own && `leave --alg away: this key signs with ${own.alg}`;
    throw cannotSign(name, message, { hint: better ?? hint, cause: error });
  }
}

/** The signer that a key is without the algorithm that was asked of it. */
async function signsByItself(
  text: string,
  options: SigningKeyOptions | undefined,
): Promise<CardSigner | undefined> {
  if (options?.alg === undefined) return undefined;
  const { alg: _, ...others } = options;
  return await createCardSigner({ key: text, ...others }).catch(() => undefined);
}

/** The text of the key that signs. An id chooses among several, and is given to none that has another. */
function chooseKey(text: string, name: string, options: SigningKeyOptions | undefined): string {
  const keys = readKeyJson(text);
  const kid = options?.kid;
  if (keys === undefined || keys.length === 0) return text;
  const [only] = keys;
  const ids = keys.map(ownIdOf);
  if (only !== undefined && keys.length === 1) {
    const [id] = ids;
    if (kid === undefined || id === undefined || id === kid) return JSON.stringify(only);
    throw cannotSign(name, `the key has the id ${JSON.stringify(id)}, by which verifiers look for it`, {
      hint: "leave --kid away: it is for keys without an id, such as PEM",
    });
  }
  const chosen = kid === undefined ? [] : keys.filter((key) => ownIdOf(key) === kid);
  const [key] = chosen;
  if (key !== undefined && chosen.length === 1) return JSON.stringify(key);
  const listed = ids.map((id) => (id === undefined ? "one without an id" : JSON.stringify(id))).join(", ");
  throw cannotSign(name, `it has ${keys.length} keys, and one signs`, {
    hint:
      options === undefined
        ? `give the file of the one key alone; its ids are: ${listed}`
        : `choose it with --kid; its ids are: ${listed}`,
  });
}

function cannotSign(
  name: string,
  problem: string,
  options: { readonly hint: string; readonly cause?: unknown },
): CliError {
  return new CliError("A2ACLI_ERR_USAGE", `${name} cannot sign: ${problem}`, options);
}
