import { stripVTControlCharacters } from "node:util";

/** Text that a terminal may see: no control sequences, line feeds and tabs kept. */
export function toText(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/\r\n?/g, "\n")
    .replace(unsafe, (character) => (character === "\n" || character === "\t" ? character : ""));
}

/**
 * A diagnostic that may quote an agent: what follows its first line is indented, so that an agent's words never look like
 * an `error:` or a `hint:` of ours.
 */
export function toSentence(text: string): string {
  return toText(text).trimEnd().replaceAll("\n", "\n  ");
}

/** The same on one line. */
export function toLine(text: string): string {
  return toText(text).replace(/\s*\n\s*/g, " ");
}

/**
 * The lines of a block. An empty line within becomes a line of one space: the empty line that ends a block is the only
 * one, so nobody takes what an agent wrote for fields of ours (a2a-cli §11.2).
 */
export function toBlock(text: string): string {
  return toText(text).replace(/\n+$/, "").replace(/^$/gm, " ");
}

/** JSON on one line, or indented. What a terminal might act upon is escaped, which leaves the value the same. */
export function formatJsonDocument(value: unknown, oneLine: boolean): string {
  return escapeUnsafe(JSON.stringify(value, undefined, oneLine ? undefined : 2));
}

/** The text of some JSON with what a terminal might act upon escaped, which leaves the value the same. */
export function escapeUnsafe(json: string): string {
  return json.replace(unsafe, (character) =>
    character === "\n" ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

// C0 and C1 controls, DEL, and what turns the direction of writing.
const unsafe = /[\p{Cc}\p{Bidi_C}]/gu;
