import { escapeInvisible, visibleText } from "@a2a-connect/core/internal";

/** Text that people may see, its lines ended by line feeds alone. */
export function toText(text: string): string {
  return visibleText(text.replace(/\r\n?/g, "\n"));
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

/** JSON on one line, or indented. Invisible characters and what a terminal might act upon are escaped, which leaves the value the same. */
export function formatJsonDocument(value: unknown, oneLine: boolean): string {
  return escapeInvisible(JSON.stringify(value, undefined, oneLine ? undefined : 2));
}
