import { visibleText } from "@a2a-connect/node/client";

/**
 * Text that may be stored and shown: without terminal sequences, control characters and invisible ones; white space is
 * single spaces.
 */
export function plainText(text: string): string {
  return visibleText(text)
    .replaceAll(/\s+/gu, " ")
    .replaceAll(/\p{Cf}/gu, "")
    .trim();
}

/**
 * What two spellings of the same have in common: no case, no accents, no punctuation. Not for showing. The memory set finds its rows by it:
 * those that a version with another rule has saved are found again when the transcripts are handed over to a new database.
 */
export function foldText(text: string): string {
  return text
    .normalize("NFD") // NFKD would make 18 characters of some
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}@.]+/gu, " ")
    .trim();
}
