const esc = "\\x1b";

/** Device control, start of string, operating system command, privacy message, application command. Up to a terminator. */
const controlString = `(?:${esc}[PX\\]^_]|[\\x90\\x98\\x9d\\x9e\\x9f])[^\\x07\\n\\x18\\x1a\\x1b\\x9c]*(?:\\x07|\\x9c|${esc}\\\\)?`;

/** Colours, cursor movements, modes: parameters, intermediates, a final byte. */
const controlSequence = `(?:${esc}\\[|\\x9b)[0-?]*[ -/]*[@-~]?`;

/** All others, such as a reset or another character set. */
const escapeSequence = `${esc}[ -/]*[0-~]?`;

/** C0 but tab and line feed, DEL, C1, and what turns the direction of writing. */
const controlCharacter = "[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]";

/**
 * No part of it can fail after it has begun to match, and no two repetitions in a row share a character: the time is linear
 * in the text's length, whatever the text.
 */
const everything = new RegExp(
  [controlString, controlSequence, escapeSequence, controlCharacter].join("|"),
  "g",
);

/**
 * A text without anything that a terminal obeys: escape sequences and control strings, also those in their 8-bit form and
 * those that never end, other control characters but line feed and tab, and the characters that turn the direction of
 * writing. To be called on whatever an agent sent before a terminal sees it.
 *
 * A control string without a terminator is taken to end with its line. A sequence that is cut in two is harmless as well:
 * its beginning goes, and its rest is mere text.
 */
export function stripControlSequences(text: string): string {
  return text.replace(everything, "");
}
