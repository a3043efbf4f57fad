/**
 * The text of the `result` in the text of a JSON-RPC response, of the last one as `JSON.parse` has it; undefined when there is
 * none.
 *
 * @param text valid JSON
 */
export function findResultText(text: string): string | undefined {
  if (!/^\s*\{/.test(text)) {
    return undefined;
  }
  let result: string | undefined;
  let depth = 0;
  /** Name of the member of the outermost object that the place is in. */
  let name: string | undefined;
  let valueStart = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"': {
        const end = findStringEnd(text, at);
        if (depth === 1 && name === undefined) {
          name = String(JSON.parse(text.slice(at, end)));
          valueStart = text.indexOf(":", end) + 1;
        }
        at = end - 1;
        break;
      }
      case "{":
      case "[":
        depth += 1;
        break;
      case "}":
      case "]":
      case ",":
        if (depth === 1) {
          if (name === "result") {
            result = text.slice(valueStart, at).trim();
          }
          name = undefined;
        }
        if (text[at] !== ",") {
          depth -= 1;
        }
        break;
    }
  }
  return result;
}

/** Index after the quote that ends the string which begins at `start`. */
function findStringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') {
    at += text[at] === "\\" ? 2 : 1;
  }
  return at + 1;
}
