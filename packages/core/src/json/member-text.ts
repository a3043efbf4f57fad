import { closeBrace, colon, comma, findStringEnd, openBrace, quote, skipSpace } from "./scan-json.ts";

/**
 * The text of a member of the outermost object in a JSON text; of two members with the name, the last, like
 * `JSON.parse`. Undefined when there is none.
 *
 * @param text valid JSON; for other text the result has no meaning
 * @throws SyntaxError for some texts that are not JSON
 */
export function findMemberText(text: string, member: string): string | undefined {
  if (!/^\s*\{/.test(text)) {
    return undefined;
  }
  let found: string | undefined;
  const position = { at: 0, depth: 0 };
  /** Name of the current member of the outermost object. */
  let name: string | undefined;
  let valueStart = 0;
  for (;;) {
    toOutermost(text, position);
    const { at } = position;
    if (at >= text.length) return found;
    const character = text.charCodeAt(at);
    if (character === quote) {
      const end = findStringEnd(text, at + 1);
      if (name === undefined) {
        name = String(JSON.parse(text.slice(at, end + 1)));
        valueStart = skipSpace(text, end + 1) + 1;
        if (text.charCodeAt(valueStart - 1) !== colon) return found; // not JSON from here on: each name would look for one up to the end
        position.at = valueStart;
      } else {
        position.at = end + 1;
      }
    } else {
      if (name === member) found = text.slice(valueStart, at).trim();
      name = undefined;
      position.at = at + 1;
      if (character !== comma) position.depth -= 1;
    }
  }
}

/** Moves on to the next quote, comma or end of the outermost object. */
function toOutermost(text: string, position: { at: number; depth: number }): void {
  let { at, depth } = position;
  for (; at < text.length; at++) {
    const character = text.charCodeAt(at);
    const brace = character | 0x20; // brackets become braces
    if (brace === openBrace) {
      depth += 1;
    } else if (brace === closeBrace) {
      if (depth <= 1) break;
      depth -= 1;
    } else if (character === quote) {
      if (depth <= 1) break;
      at = findStringEnd(text, at + 1);
    } else if (character === comma && depth <= 1) {
      break;
    }
  }
  position.at = at;
  position.depth = depth;
}
