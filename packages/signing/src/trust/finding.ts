import { shownText } from "@a2a-connect/core/internal";

/** Something about a card that matters to security. */
export interface SecurityFinding {
  /** In a sentence. What it quotes of the card is short and has no control characters in it. */
  readonly text: string;
  /** Where, such as `securityRequirements[0]`; of what is gone, where it was. */
  readonly path: string;
}

/** A name or an address of a card as it may stand in a sentence: quoted, short, and nothing that a terminal obeys. */
export function quote(text: string): string {
  return JSON.stringify(shownText(text));
}

/** Names of a card in a sentence: `"a", "b" and 3 more`. */
export function quoteList(texts: readonly string[], maxItems?: number): string {
  return list(texts, quote, maxItems);
}

/** Paths in a sentence: `a, b and 3 more`. */
export function listPaths(paths: readonly string[], maxItems?: number): string {
  return list(paths, shownText, maxItems);
}

/** Items in a sentence, the first of many. */
export function list(
  items: readonly string[],
  show: (item: string) => string = (item) => item,
  maxItems = 5,
): string {
  const shown = items.slice(0, maxItems).map(show).join(", ");
  return items.length > maxItems ? `${shown} and ${items.length - maxItems} more` : shown;
}
