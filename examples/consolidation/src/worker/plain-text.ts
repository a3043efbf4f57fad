const esc = "\u001b";

/** Window titles (OSC), colours and cursor moves (CSI), and whatever else begins with ESC. */
const terminalSequence = new RegExp(
  `${esc}\\][^\u0007${esc}]*(?:\u0007|${esc}\\\\)?|${esc}\\[[0-?]*[ -/]*[@-~]|${esc}.`,
  "gu",
);

/**
 * Text that may be stored and shown: without terminal sequences, control characters and characters that change the
 * direction of writing; white space is single spaces.
 */
export function plainText(text: string): string {
  return text
    .replaceAll(terminalSequence, "")
    .replaceAll(/\s+/gu, " ")
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, "")
    .trim();
}

/** What two spellings of the same have in common: no case, no accents, no punctuation. Not for showing. */
export function foldText(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}@.]+/gu, " ")
    .trim();
}
