import { parseForeignUrl } from "./web-url.ts";

const esc = "\\x1b";

/**
 * Device control, start of string, operating system command, privacy message, application command. Each ends with a
 * terminator.
 */
const controlString = `(?:${esc}[PX\\]^_]|[\\x90\\x98\\x9d\\x9e\\x9f])[^\\x07\\n\\x18\\x1a\\x1b\\x9c]*(?:\\x07|\\x9c|${esc}\\\\)?`;

/** Colours, cursor movements, modes: parameters, intermediates, a final byte. */
const controlSequence = `(?:${esc}\\[|\\x9b)[0-?]*[ -/]*[@-~]?`;

/** Other escape sequences: intermediates, a final byte. */
const escapeSequence = `${esc}[ -/]*[0-~]?`;

/**
 * Characters that show nothing, and may hide words from a reader or change their order: controls (C0 but tab and line
 * feed, DEL, C1), format characters (zero width, direction, tags), characters to ignore when unknown (variation
 * selectors, fillers), lone surrogates, line and paragraph separators. Characters that join several into one picture
 * stay where they do so: a joiner between two emoji and a selector after one. Joiners within words of other scripts are
 * removed: those words can be read without.
 */
const invisible = [
  "(?![\\t\\n\\u200d\\ufe0e\\ufe0f])[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{DI}]",
  "(?<!\\p{ExtPict}[\\ufe0f\\p{EMod}]?)\\u200d",
  "\\u200d(?!\\p{ExtPict})",
  "(?<![\\p{Emoji}\\p{ExtPict}])[\\ufe0e\\ufe0f]",
].join("|");

/**
 * No part of the pattern can fail after it has begun to match, and no two repetitions in a row share a character. So
 * the time is linear in the text's length, for any text.
 */
const hidden = new RegExp([controlString, controlSequence, escapeSequence, invisible].join("|"), "gu");

const invisibleOnly = new RegExp(`${invisible}|\\t`, "gu");

/**
 * A text that is safe to show to people: without anything that controls a terminal (escape sequences and control
 * strings, also in their 8-bit form and without an end) and without invisible characters except line feed and tab. Line
 * and paragraph separators become line feeds. Call it on texts of other parties before showing them; programs get the
 * text itself.
 *
 * A control string without a terminator ends with its line. A sequence that is cut in two is harmless as well: its
 * beginning is removed, and its rest is ordinary text.
 */
export function visibleText(text: string): string {
  return text.replace(/[\u2028\u2029]/g, "\n").replace(hidden, "");
}

/** The same of a text's first `maxLength` UTF-16 units; `…` says that there are more. */
export function visibleBeginning(text: string, maxLength: number): string {
  return text.length <= maxLength ? visibleText(text) : `${visibleText(text.slice(0, maxLength))}…`;
}

/**
 * JSON in which every character that `visibleText` would remove is escaped as `\uXXXX`, one escape for each UTF-16
 * unit, so its value stays the same. Line feeds stay: in JSON they occur only between values.
 */
export function escapeInvisible(json: string): string {
  return json.replace(invisibleOnly, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}

/**
 * Longest text of another party that one of our sentences repeats, in UTF-16 units: enough for a field and what is
 * wrong with it.
 */
const maxShownLength = 160;

/** A text of another party for use in one of our sentences: visible, in one line, and short. */
export function shownText(text: string): string {
  // Twice the length is enough for the shown part, so a text of any length costs no more.
  const line = visibleText(text.slice(0, 2 * maxShownLength))
    .replaceAll(/\s+/g, " ")
    .trim();
  const isWhole = text.length <= 2 * maxShownLength && line.length <= maxShownLength;
  return isWhole ? line : `${line.slice(0, maxShownLength).toWellFormed()}…`;
}

/** Items of another party in one of our sentences, the first of many: `a, b and 3 more`. */
export function shownItems(
  items: readonly string[],
  maxItems: number,
  show: (item: string) => string = shownText,
): string {
  const shown = items.slice(0, maxItems).map(show).join(", ");
  return items.length > maxItems ? `${shown} and ${items.length - maxItems} more` : shown;
}

/** The same, each once and ten at most; `none` when there are none. */
export function shownList(texts: Iterable<string>, none = "none"): string {
  return shownItems([...new Set(texts)], 10) || none;
}

/**
 * An address without possible secrets: credentials, query and fragment. A text that is not a URL is returned shortened.
 */
export function shownUrl(address: string | URL): string {
  const url = address instanceof URL ? address : parseForeignUrl(address);
  return shownText(
    url === undefined || url.host === "" ? String(address) : `${url.protocol}//${url.host}${url.pathname}`,
  );
}

/** Whether a text can be repeated as it is: at most `maxLength` units, and no invisible characters. */
export function isShowable(text: string, maxLength: number): boolean {
  return text.length <= maxLength && text.search(invisibleOnly) === -1 && !text.includes("\n");
}
