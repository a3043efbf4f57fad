import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { CliError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import { isInlineKey } from "../settings/inline-key.ts";

/** Largest file that is read for keys: the limit for key sets. */
const maxKeyBytes = 256 * 1024;

/**
 * The text of a key: of the file that is named, or what was given when that is the key itself.
 *
 * @throws CliError USAGE when there is no such file, or it is none that a key can be in
 */
export async function readKeyText(reference: string, { cwd }: Pick<CliIo, "cwd">): Promise<string> {
  if (isInlineKey(reference)) return reference;
  const path = resolve(cwd, reference);
  try {
    const { size } = await stat(path);
    if (size > maxKeyBytes)
      throw unusable(reference, `has ${size} bytes, and a file of keys has at most ${maxKeyBytes}`);
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw unusable(reference, "cannot be read", error);
  }
}

/** How a key is called in messages: by its file, never by what is in it. */
export function nameKey(reference: string): string {
  return isInlineKey(reference) ? "the given key" : reference;
}

function unusable(reference: string, problem: string, cause?: unknown): CliError {
  return new CliError("A2ACLI_ERR_USAGE", `${reference} ${problem}`, {
    hint: "a key is a file with a JWK, a key set (JWKS) or PEM; a2a keys new makes one",
    ...(cause === undefined ? {} : { cause }),
  });
}
