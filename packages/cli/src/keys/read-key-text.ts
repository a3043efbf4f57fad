import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { CliError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import { describeFileError } from "../file-error.ts";
import { isInlineKey } from "../settings/inline-key.ts";

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
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stdin as AsyncIterable<Uint8Array>) {
    // no encoding is set
    size += chunk.byteLength;
    if (size > maxKeyBytes)
      throw unusable(nameKey("-"), `has more than the ${maxKeyBytes} bytes of any file of keys`);
    chunks.push(chunk);
  }
  if (size === 0) {
    throw unusable(nameKey("-"), "has no key: nothing came, or it was read already", {
      hint: "pipe one key into the command, and name - once",
    });
  }
  return Buffer.concat(chunks).toString("utf8");
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
