import { readVerificationKeys, thumbprintOf, type VerificationKey } from "@a2a-connect/signing";
import { ownIdOf } from "@a2a-connect/signing/internal";
import { readSignatureHeaders } from "../card/card-text.ts";
import { CliError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import {
  findUnfitKeys,
  holdsPrivate,
  nameKey,
  readKeyJson,
  readKeyText,
  refusedAsUsage,
} from "./key-text.ts";

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
  /** What was given, for people, in its order. */
  readonly names: readonly string[];
  /** Of these, those that hold a private key, which has no place where cards are verified. */
  readonly privateNames: readonly string[];
}

/** How keys that were given are read. */
export interface ReadGivenKeysOptions {
  /**
   * Whether to keep well-formed keys that cannot verify cards: their verdict is that they do not fit. Default: they are wrong
   * use.
   */
  readonly keepUnfit?: boolean;
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
  io: Pick<CliIo, "cwd" | "stdin">,
  { keepUnfit = false }: ReadGivenKeysOptions = {},
): Promise<GivenKeys> {
  const named: VerificationKey[] = [];
  const unnamed: VerificationKey[] = [];
  const names = new Map<string, string>();
  const privateNames: string[] = [];
  for (const reference of references) {
    const text = await readKeyText(reference, io);
    const ids = idsIn(text);
    if (holdsPrivate(text)) privateNames.push(nameKey(reference));
    for (const key of keepUnfit ? await readAnyKeys(text, reference) : await readKeys(text, reference)) {
      const thumbprint = await thumbprintOf(key).catch(() => undefined); // one that cannot verify has none
      if (thumbprint !== undefined) names.set(thumbprint, nameKey(reference));
      (ids.has(key.kid) ? named : unnamed).push(key);
    }
  }
  return {
    isEmpty: references.length === 0,
    forCard: (text) => [...named, ...unnamed.flatMap((key) => withIdsOf(text, key))],
    nameOf: (thumbprint) => names.get(thumbprint),
    names: references.map(nameKey),
    privateNames,
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
  const options = kid === undefined ? {} : { kid };
  return await refusedAsUsage(
    () => readVerificationKeys(text, options),
    `${nameKey(reference)} verifies no cards: `,
  );
}

/** The public keys of a text, with those that are well-formed and cannot verify cards. @throws CliError USAGE when there is none */
async function readAnyKeys(text: string, reference: string): Promise<readonly VerificationKey[]> {
  const unfit = await findUnfitKeys(text);
  try {
    return [...(await readKeys(text, reference)), ...unfit];
  } catch (error) {
    if (unfit.length > 0 && error instanceof CliError) return unfit;
    throw error;
  }
}

/** The ids that a JWK or a key set gives its keys; PEM has none. */
function idsIn(text: string): ReadonlySet<unknown> {
  return new Set(readKeyJson(text)?.map(ownIdOf));
}

function withIdsOf(text: string, key: VerificationKey): readonly VerificationKey[] {
  const kids = new Set(readSignatureHeaders(text).flatMap(({ kid }) => kid ?? []));
  return [...kids].slice(0, maxIds).map((kid) => ({ ...key, kid }));
}
