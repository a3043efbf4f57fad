/**
 * The text without the characters at its end that `isTrimmed` accepts, in time that is linear in their number. The
 * pattern `\s+$` takes quadratic time: from each of the spaces within a text, it looks for the end again.
 */
export function trimEndOf(text: string, isTrimmed: (character: string) => boolean): string {
  let end = text.length;
  while (end > 0 && isTrimmed(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** A path or a URL without the slashes at its end. */
export function trimSlashes(path: string): string {
  return trimEndOf(path, (character) => character === "/");
}
