import { readVerificationKeys, SigningError, thumbprintOf, type VerificationKey } from "@a2a-connect/signing";
import { readSignatureHeaders } from "../card/signature-header.ts";
import { CliError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import { nameKey, readKeyText } from "./read-key-text.ts";

/** Public keys that somebody gave to verify cards with. */
export interface GivenKeys {
  readonly isEmpty: boolean;
  /**
   * The keys as they may verify one card. One without an id, such as PEM, counts for whatever id the card's signatures name: who
   * gives a key means it.
   */
  forCard(text: string): readonly VerificationKey[];
  /** Where a key is from, for people; undefined when it was not given. */
  nameOf(thumbprint: string): string | undefined;
}

/** Ids that a key without one stands for: no card that is meant well has as many signatures. */
const maxIds = 20;

/**
 * Reads the keys that `--key`, `--card-key` or `a2a.config.yaml` name: files of a JWK, a key set or PEM, or a JWK or PEM
 * itself.
 *
 * @throws CliError USAGE for what is no key that verifies cards; it is named by its file, and never repeated
 */
export async function readGivenKeys(
  references: readonly string[],
  io: Pick<CliIo, "cwd">,
): Promise<GivenKeys> {
  const named: VerificationKey[] = [];
  const unnamed: VerificationKey[] = [];
  const names = new Map<string, string>();
  for (const reference of references) {
    const text = await readKeyText(reference, io);
    const ids = idsIn(text);
    for (const key of await readKeys(text, reference)) {
      names.set(await thumbprintOf(key), nameKey(reference));
      (ids.has(key.kid) ? named : unnamed).push(key);
    }
  }
  return {
    isEmpty: references.length === 0,
    forCard: (text) => [...named, ...unnamed.flatMap((key) => withIdsOf(text, key))],
    nameOf: (thumbprint) => names.get(thumbprint),
  };
}

/**
 * The public keys of a text.
 *
 * @param reference what the text was named by
 * @param kid for a key without an id; default its thumbprint
 * @throws CliError USAGE
 */
export async function readKeys(
  text: string,
  reference: string,
  kid?: string,
): Promise<readonly VerificationKey[]> {
  try {
    return await readVerificationKeys(text, kid === undefined ? {} : { kid });
  } catch (error) {
    if (!(error instanceof SigningError)) throw error;
    throw new CliError("A2ACLI_ERR_USAGE", `${nameKey(reference)} verifies no cards: ${error.message}`, {
      hint: error.hint,
      cause: error,
    });
  }
}

/** The ids that a JWK or a key set gives its keys; PEM has none. */
function idsIn(text: string): ReadonlySet<unknown> {
  try {
    const json: unknown = JSON.parse(text);
    const keys = isObject(json) && Array.isArray(json["keys"]) ? json["keys"] : [json];
    return new Set(keys.map((key) => (isObject(key) ? key["kid"] : undefined)));
  } catch {
    return new Set();
  }
}

function withIdsOf(text: string, key: VerificationKey): readonly VerificationKey[] {
  const kids = new Set(readSignatureHeaders(text).flatMap(({ kid }) => kid ?? []));
  return [...kids].slice(0, maxIds).map((kid) => ({ ...key, kid }));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
