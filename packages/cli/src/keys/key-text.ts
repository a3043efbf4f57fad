import { createPublicKey } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { readVerificationKeys, SigningError, type VerificationKey } from "@a2a-connect/signing";
import { ownIdOf } from "@a2a-connect/signing/internal";
import { CliError, usageError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import { describeFileError, readBounded } from "../files.ts";
import { isObject, type LooseObject, parseJson } from "../json.ts";
import { isInlineKey } from "../settings/values.ts";

/** Largest file that is read for keys: the limit for key sets. */
const maxKeyBytes = 256 * 1024;

/**
 * The text of a key: of the file that is named, of the standard input (`-`), or what was given when that is the key itself.
 *
 * @throws CliError USAGE when there is no such file, or it is none that a key can be in
 */
export async function readKeyText(reference: string, io: Pick<CliIo, "cwd" | "stdin">): Promise<string> {
  if (isInlineKey(reference)) return reference;
  return reference === "-" ? await readPipedKey(io) : await readKeyFile(reference, io);
}

async function readKeyFile(reference: string, { cwd }: Pick<CliIo, "cwd">): Promise<string> {
  const path = resolve(cwd, reference);
  try {
    const { size } = await stat(path);
    if (size > maxKeyBytes)
      throw unusable(reference, `has ${size} bytes, and a file of keys has at most ${maxKeyBytes}`);
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof CliError) throw error;
    const { problem, hint } = describeFileError(error, "read");
    throw unusable(reference, problem, { hint: hint ?? keyFileHint, cause: error });
  }
}

async function readPipedKey({ stdin }: Pick<CliIo, "stdin">): Promise<string> {
  const bytes = await readBounded(stdin, maxKeyBytes, () =>
    unusable(nameKey("-"), `has more than the ${maxKeyBytes} bytes of any file of keys`),
  );
  if (bytes.byteLength === 0) {
    throw unusable(nameKey("-"), "has no key: nothing came, or it was read already", {
      hint: "pipe one key into the command, and name - once",
    });
  }
  return bytes.toString("utf8");
}

/** How a key is called in messages: by its file, never by what is in it. */
export function nameKey(reference: string): string {
  if (reference === "-") return "the standard input";
  return isInlineKey(reference) ? "the given key" : reference;
}

const keyFileHint = "a key is a file with a JWK, a key set (JWKS) or PEM; a2a keys new makes one";

function unusable(
  name: string,
  problem: string,
  options: { readonly hint?: string; readonly cause?: unknown } = {},
): CliError {
  return new CliError("A2ACLI_ERR_USAGE", `${name} ${problem}`, { hint: keyFileHint, ...options });
}

/** The keys of a JWK or a key set, as they stand there; undefined for PEM, and for what is no key. */
export function readKeyJson(text: string): readonly LooseObject[] | undefined {
  const json = parseJson(text.trim());
  if (!isObject(json)) return undefined;
  const { keys } = json;
  if (keys === undefined) return [json];
  return Array.isArray(keys) ? keys.filter(isObject) : undefined;
}

/**
 * The keys of a text that are well-formed and cannot verify cards: too weak, on another curve, or by their own members for
 * something else. Public sides only.
 */
export async function findUnfitKeys(text: string): Promise<readonly VerificationKey[]> {
  const entries = readKeyJson(text) ?? [text];
  const unfit: VerificationKey[] = [];
  for (const entry of entries) {
    const own = typeof entry === "string" ? entry : JSON.stringify(entry);
    const isFit = await readVerificationKeys(own).then(
      () => true,
      () => false,
    );
    const key = isFit ? undefined : toPublicKey(entry);
    if (key !== undefined) unfit.push(key);
  }
  return unfit;
}

/** Whether there is a private key in a text. */
export function holdsPrivate(text: string): boolean {
  const keys = readKeyJson(text);
  return keys === undefined
    ? /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)
    : keys.some(({ d, k }) => d !== undefined || k !== undefined);
}

/** Members of a JWK that say what it is for, beside those that are the key. */
const purposes = ["alg", "use", "key_ops", "nbf", "exp", "revoked"] as const;

/** Undefined for what is no public or private key, such as a symmetric one. */
function toPublicKey(entry: LooseObject | string): VerificationKey | undefined {
  try {
    if (typeof entry === "string") return { ...createPublicKey(entry).export({ format: "jwk" }), kid: "" };
    const members = createPublicKey({ key: entry, format: "jwk" }).export({ format: "jwk" });
    const said = purposes.filter((name) => entry[name] !== undefined).map((name) => [name, entry[name]]);
    return { ...members, ...Object.fromEntries(said), kid: ownIdOf(entry) ?? "" };
  } catch {
    return undefined;
  }
}

/** What `work` gives; what is refused there, such as a key that is none, is wrong use. @param subject begins the sentence */
export async function refusedAsUsage<T>(work: () => T | Promise<T>, subject: string = ""): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof SigningError ? usageError(subject + error.message, error.hint, error) : error;
  }
}
