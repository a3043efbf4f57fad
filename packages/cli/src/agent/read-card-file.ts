import { open } from "node:fs/promises";
import { CliError } from "../cli-error.ts";

/** Largest card that is read; the client's limit for fetched ones. */
const maxCardBytes = 1024 * 1024;

/** The text of a card file. @throws CliError CARD_NOT_FOUND, CARD_INVALID */
export async function readCardFile(path: string): Promise<string> {
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    if (size > maxCardBytes) {
      throw new CliError(
        "A2ACLI_ERR_CARD_INVALID",
        `${path} has ${size} bytes; a card has at most ${maxCardBytes}`,
      );
    }
    return await file.readFile("utf8");
  } catch (error) {
    if (error instanceof CliError) {
      throw error;
    }
    throw new CliError("A2ACLI_ERR_CARD_NOT_FOUND", `${path} cannot be read`, { cause: error });
  }
}
