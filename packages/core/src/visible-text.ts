const esc = "\\x1b";

/** Device control, start of string, operating system command, privacy message, application command. Up to a terminator. */
const controlString = `(?:${esc}[PX\\]^_]|[\\x90\\x98\\x9d\\x9e\\x9f])[^\\x07\\n\\x18\\x1a\\x1b\\x9c]*(?:\\x07|\\x9c|${esc}\\\\)?`;

/** Colours, cursor movements, modes: parameters, intermediates, a final byte. */
const controlSequence = `(?:${esc}\\[|\\x9b)[0-?]*[ -/]*[@-~]?`;

/** All others, such as a reset or another character set. */
const escapeSequence = `${esc}[ -/]*[0-~]?`;

/**
 * What shows nothing, and may hide words from a reader or put them in another order: controls (C0 but tab and line feed, DEL, C1),
 * format characters (zero width, direction, tags), what is to be ignored where it is not known (variation selectors, fillers), lone
 * surrogates, line and paragraph separators. What makes one picture of several stays, where it does: a joiner between two emoji and a
 * selector behind one. Joiners within words of other scripts go: those can be read without.
 */
const invisible = [
  "(?![\\t\\n\\u200d\\ufe0e\\ufe0f])[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{DI}]",
  "(?<!\\p{ExtPict}[\\ufe0f\\p{EMod}]?)\\u200d",
  "\\u200d(?!\\p{ExtPict})",
  "(?<![\\p{Emoji}\\p{ExtPict}])[\\ufe0e\\ufe0f]",
].join("|");

/**
 * No part of it can fail after it has begun to match, and no two repetitions in a row share a character: the time is linear
 * in the text's length, for any text.
 */
const hidden = new RegExp([controlString, controlSequence, escapeSequence, invisible].join("|"), "gu");

const invisibleOnly = new RegExp(`${invisible}|\\t`, "gu");

/**
 * A text as people may see it: without anything that a terminal obeys (escape sequences and control strings, also those in
 * their 8-bit form and those that never end) and without invisible characters, line feed and tab excepted. Line and paragraph
 * separators become line feeds. To be called on texts of others before they are shown; programs get the text itself.
 *
 * A control string without a terminator is taken to end with its line. A sequence that is cut in two is harmless as well:
 * its beginning goes, and its rest is mere text.
 */
export function visibleText(text: string): string {
  return text.replace(/[\u2028\u2029]/g, "\n").replace(hidden, "");
}

/**
 * JSON with everything that `visibleText` would take out escaped as `\uXXXX`, a unit each, which leaves its value the same. Line feeds
 * stay: in JSON they stand between values only.
 */
export function escapeInvisible(json: string): string {
  return json.replace(invisibleOnly, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}

/** Longest text of others that a sentence of ours repeats, in UTF-16 units: a field and what is wrong with it fit in. */
const maxShownLength = 160;

/** A text of others as it may stand in a sentence of ours: visible, in one line, and short. */
export function shownText(text: string): string {
  // Twice as much holds what is shown; a text of any length costs no more.
  const line = visibleText(text.slice(0, 2 * maxShownLength))
    .replaceAll(/\s+/g, " ")
    .trim();
  const isWhole = text.length <= 2 * maxShownLength && line.length <= maxShownLength;
  return isWhole ? line : `${line.slice(0, maxShownLength).toWellFormed()}…`;
}

/** An address without what may be secret in it: credentials, query and fragment. What is no URL comes back as it is, shortened. */
export function shownUrl(address: string | URL): string {
  const url = address instanceof URL ? address : URL.parse(address);
  return shownText(
    url === null || url.host === "" ? String(address) : `${url.protocol}//${url.host}${url.pathname}`,
  );
}

/** Whether a text can be repeated as it is: at most `maxLength` units, and nothing in it that is not to be seen. */
export function isShowable(text: string, maxLength: number): boolean {
  return text.length <= maxLength && text.search(invisibleOnly) === -1 && !text.includes("\n");
}
