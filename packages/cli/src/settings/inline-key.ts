/** Whether a setting is the key itself, and not the name of a file with one. */
export function isInlineKey(text: string): boolean {
  return /^\s*(?:\{|-----BEGIN )/.test(text);
}

/** Whether a setting is a private key itself: that has no place on a command line, in the environment or in a project's file. */
export function holdsPrivateKey(text: string): boolean {
  return isInlineKey(text) && /-----BEGIN [A-Z ]*PRIVATE KEY|"d"\s*:|"k"\s*:/.test(text);
}
