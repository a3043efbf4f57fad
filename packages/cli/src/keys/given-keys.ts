import { createPublicKey } from "node:crypto";
import { readVerificationKeys, thumbprintOf, type VerificationKey } from "@a2a-connect/signing";
import { ownIdOf } from "@a2a-connect/signing/internal";
import { readSignatureHeaders } from "../card/card-text.ts";
import type { CliIo } from "../cli-io.ts";
import type { LooseObject } from "../json.ts";
import { holdsPrivateKey } from "../settings/values.ts";
import { type KeyFile, readKeyFile, readPublicKeys } from "./key-file.ts";

export interface GivenKeys {
  /** The keys as they may verify one card. One without an id, such as PEM, counts for every id that the card's signatures name. */
  forCard(text: string): readonly VerificationKey[];
  /** Where a key is from, for people; undefined when it was not given. */
  nameOf(thumbprint: string): string | undefined;
  readonly names: readonly string[];
  /** Of these, those that hold a private key, which has no place where cards are verified. */
  readonly privateNames: readonly string[];
}

/** Ids that a key without one stands for: no card that is meant well has as many signatures. */
const maxIds = 20;

/**
 * Reads the keys that `--key`, `--card-key` or `a2a.config.yaml` name: files of a JWK, a key set or PEM, or a JWK or PEM itself.
 * @param keepUnfit whether to keep well-formed keys that cannot verify cards: their verdict is that they do not fit
 * @throws CliError USAGE for others; a key is named by its file, and never repeated
 */
export async function readGivenKeys(
  references: readonly string[],
  io: Pick<CliIo, "cwd" | "stdin">,
  { keepUnfit = false }: { readonly keepUnfit?: boolean } = {},
): Promise<GivenKeys> {
  const named: VerificationKey[] = [];
  const unnamed: VerificationKey[] = [];
  const nameOf = new Map<string, string>();
  const files: KeyFile[] = [];
  for (const reference of references) {
    const file = await readKeyFile(reference, io);
    files.push(file);
    const ids = new Set(file.entries?.map(ownIdOf)); // PEM has none
    for (const key of await (keepUnfit ? readAnyKeys(file) : readPublicKeys(file))) {
      const thumbprint = await thumbprintOf(key).catch(() => undefined); // one that cannot verify has none
      if (thumbprint !== undefined) nameOf.set(thumbprint, file.name);
      (ids.has(key.kid) ? named : unnamed).push(key);
    }
  }
  return {
    forCard: (text) => {
      const kids = new Set(readSignatureHeaders(text).flatMap(({ kid }) => kid ?? []));
      const asked = [...kids].slice(0, maxIds);
      return [...named, ...unnamed.flatMap((key) => asked.map((kid) => ({ ...key, kid })))];
    },
    nameOf: (thumbprint) => nameOf.get(thumbprint),
    names: files.map(({ name }) => name),
    privateNames: files.filter(({ text }) => holdsPrivateKey(text)).map(({ name }) => name),
  };
}

/** The public keys of a file, with those that are well-formed and cannot verify cards. @throws CliError USAGE when there is none */
async function readAnyKeys(file: KeyFile): Promise<readonly VerificationKey[]> {
  const read = (file.entries ?? [file.text]).map((entry) => {
    const text = typeof entry === "string" ? entry : JSON.stringify(entry);
    return readVerificationKeys(text).catch(() => toPublicKey(entry));
  });
  const keys = (await Promise.all(read)).flat();
  return keys.length > 0 ? keys : await readPublicKeys(file);
}

/** Members of a JWK that say what it is for, beside those that are the key. */
const purposes = ["alg", "use", "key_ops", "nbf", "exp", "revoked"] as const;

/** Nothing for what is no public or private key, such as a symmetric one. */
function toPublicKey(entry: LooseObject | string): readonly VerificationKey[] {
  const isPem = typeof entry === "string";
  if (isPem && entry.includes("-----BEGIN CERTIFICATE-----")) return []; // Node would read the key in it
  const jwk = isPem ? {} : entry;
  try {
    const key = createPublicKey(isPem ? entry : { key: entry, format: "jwk" });
    const said = purposes.filter((name) => jwk[name] !== undefined).map((name) => [name, jwk[name]]);
    return [{ ...key.export({ format: "jwk" }), ...Object.fromEntries(said), kid: ownIdOf(jwk) ?? "" }];
  } catch {
    return [];
  }
}
