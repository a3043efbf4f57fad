import { resolve } from "node:path";
import { readVerificationKeys, SigningError, type VerificationKey } from "@a2a-connect/signing";
import { ownIdOf } from "@a2a-connect/signing/internal";
import { usageError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import { readInput } from "../files.ts";
import { isObject, type LooseObject, parseJson } from "../json.ts";
import { isInlineKey } from "../settings/values.ts";

/** Where keys are: a file, the standard input, or a key that was given itself. */
export interface KeyFile {
  /** What messages call it: by its file, never by what is in it. */
  readonly name: string;
  /** A JWK, a key set or PEM. */
  readonly text: string;
  /** The keys of a JWK or a key set, as they stand there; undefined for PEM, and for what is no key. */
  readonly entries: readonly LooseObject[] | undefined;
}

/** Largest file that is read for keys: the limit for key sets. */
const maxKeyBytes = 256 * 1024;

/** Reads the file that is named, the standard input (`-`), or what was given when that is the key itself. @throws CliError USAGE */
export async function readKeyFile(
  reference: string,
  { cwd, stdin }: Pick<CliIo, "cwd" | "stdin">,
): Promise<KeyFile> {
  if (isInlineKey(reference)) {
    return { name: "the given key", text: reference, entries: readEntries(reference) };
  }
  const isPiped = reference === "-";
  const name = isPiped ? "the standard input" : reference;
  const usual = "a key is a file with a JWK, a key set (JWKS) or PEM; a2a keys new makes one";
  const bytes = await readInput(isPiped ? stdin : resolve(cwd, reference), name, maxKeyBytes, {
    refuse: (message, hint = usual, cause) => usageError(message, hint, cause),
  });
  if (isPiped && bytes.byteLength === 0) {
    const hint = "pipe one key into the command, and name - once";
    throw usageError(
      `${name} has no key: the input is empty, or a2a has already read it for another -`,
      hint,
    );
  }
  const text = bytes.toString("utf8");
  return { name, text, entries: readEntries(text) };
}

function readEntries(text: string): readonly LooseObject[] | undefined {
  const json = parseJson(text.trim());
  if (!isObject(json)) return undefined;
  const { keys } = json;
  if (keys === undefined) return [json];
  return Array.isArray(keys) ? keys.filter(isObject) : undefined;
}

/** The public keys of a file. @param kid for a key without an id; default its thumbprint @throws CliError USAGE when it has none */
export async function readPublicKeys(
  { name, text }: KeyFile,
  kid?: string,
): Promise<readonly VerificationKey[]> {
  return await refusedAsUsage(() => readVerificationKeys(text, { kid }), `${name} cannot verify cards: `);
}

/** What `work` gives; what is refused there, such as a key that is none, is wrong use. @param subject begins the sentence */
export async function refusedAsUsage<T>(work: () => T | Promise<T>, subject: string = ""): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof SigningError ? usageError(subject + error.message, error.hint, error) : error;
  }
}

/** By another id than its own, verifiers would find a key for none of its signatures. @throws CliError USAGE */
export function refuseRenaming({ name, entries = [] }: KeyFile, kid: string | undefined): void {
  const [only, ...others] = entries;
  const id = only && ownIdOf(only);
  if (kid === undefined || others.length > 0 || id === undefined || id === kid) return;
  throw usageError(
    `${name} has the id ${JSON.stringify(id)}, which its signatures name`,
    "leave --kid out: it is for keys without an id, such as PEM",
  );
}
