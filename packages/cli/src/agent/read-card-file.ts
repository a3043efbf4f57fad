import { open } from "node:fs/promises";
import { CliError } from "../cli-error.ts";

/** Largest card that is read; the client's limit for fetched ones. */
export const maxCardBytes: number = 1024 * 1024;

/** The text of a card file. @throws CliError CARD_NOT_FOUND, CARD_INVALID */
export async function readCardFile(path: string): Promise<string> {
  let bytes: Uint8Array;
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    if (size > maxCardBytes) {
      throw new CliError(
        "A2ACLI_ERR_CARD_INVALID",
        `${path} has ${size} bytes; a card has at most ${maxCardBytes}`,
      );
    }
    bytes = await file.readFile();
  } catch (error) {
    if (error instanceof CliError) {
      throw error;
    }
    throw new CliError("A2ACLI_ERR_CARD_NOT_FOUND", `${path} cannot be read`, { cause: error });
  }
  return requireText(bytes, path);
}

/**
 * The text of a card. What is no UTF-8 has none that everybody would read the same way.
 *
 * @param name what it is, for people
 * @throws CliError CARD_INVALID
 */
export function requireText(bytes: Uint8Array, name: string): string {
  const text = decodeText(bytes);
  if (text === undefined) throw new CliError("A2ACLI_ERR_CARD_INVALID", `${name} is not UTF-8`);
  return text;
}

/** UTF-8 as text, a byte order mark kept; undefined for anything else. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
