import { quote } from "../doctor/finding.ts";

/** Somebody else's text where a sentence of ours goes on behind it: short, on one line, and one sees where it ends. */
export function quoted(text: string): string {
  return JSON.stringify(quote(text));
}

/** Several of them: `"a", "b" and 3 more`. */
export function quotedList(texts: readonly string[], maxItems = 10): string {
  const shown = texts.slice(0, maxItems).map(quoted).join(", ");
  return texts.length > maxItems ? `${shown} and ${texts.length - maxItems} more` : shown;
}
