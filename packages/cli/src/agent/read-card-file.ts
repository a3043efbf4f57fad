import { type FileHandle, open } from "node:fs/promises";
import { CliError } from "../cli-error.ts";
import { describeFileError } from "../file-error.ts";

/** Largest card that is read; the client's limit for fetched ones. */
export const maxCardBytes: number = 1024 * 1024;

/**
 * The text of a card file.
 *
 * @param name how the user has named it
 * @throws CliError CARD_NOT_FOUND, CARD_INVALID
 */
export async function readCardFile(path: string, name: string = path): Promise<string> {
  let bytes: Uint8Array;
  try {
    await using file = await open(path);
    bytes = await readAll(file, name);
  } catch (error) {
    if (error instanceof CliError) {
      throw error;
    }
    const { problem, hint } = describeFileError(error, "read");
    throw new CliError("A2ACLI_ERR_CARD_NOT_FOUND", `${name} ${problem}`, {
      ...(hint === undefined ? {} : { hint }),
      cause: error,
    });
  }
  return requireText(bytes, name);
}

/** A pipe does not say its size before. @throws CliError CARD_INVALID */
async function readAll(file: FileHandle, name: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of file.createReadStream({ autoClose: false }) as AsyncIterable<Uint8Array>) {
    // no encoding is set
    size += chunk.byteLength;
    if (size > maxCardBytes) {
      throw new CliError(
        "A2ACLI_ERR_CARD_INVALID",
        `${name} has more than the ${maxCardBytes} bytes that a card may have`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
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
