/** Longest text of others that a sentence of ours repeats, in UTF-16 code units. */
const maxShownLength = 100;

/**
 * A text that came from somewhere else as it may stand in a sentence of ours: in one line, short, and without what a terminal
 * would obey or what would turn the direction of writing.
 */
export function shownText(text: string): string {
  const start = text.slice(0, 2 * maxShownLength).replaceAll(/\s+/gu, " ");
  const clean = start.replaceAll(unshown, "").trim();
  const isWhole = text.length <= 2 * maxShownLength && clean.length <= maxShownLength;
  return isWhole ? clean : `${clean.slice(0, maxShownLength).toWellFormed()}…`;
}

/** An address without what may be secret in it or only makes it long: credentials, query and fragment. */
export function shownUrl({ protocol, host, pathname }: URL): string {
  return shownText(`${protocol}//${host}${pathname}`);
}

/** Whether a text can be repeated as it is: not too long for a name, and nothing in it that is not to be seen. */
export function isShowable(text: string, maxLength: number): boolean {
  return text.length <= maxLength && text.search(unshown) === -1;
}

/** Control and format characters, lone surrogates, line and paragraph separators. */
const unshown = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
