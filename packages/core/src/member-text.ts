import {
  closeBrace,
  closeBracket,
  comma,
  findStringEnd,
  openBrace,
  openBracket,
  quote,
} from "./json-characters.ts";

/**
 * The text of a member of the outermost object in a JSON text; of two members with the name, the last, like
 * `JSON.parse`. Undefined when there is none.
 *
 * @param text valid JSON; for other text the result has no meaning
 * @throws SyntaxError for some texts that are not JSON
 */
export function findMemberText(text: string, member: string): string | undefined {
  const steps = findMemberInSteps(text, member);
  for (;;) {
    const step = steps.next();
    if (step.done === true) {
      return step.value;
    }
  }
}

/** Characters of one step. */
const stepLength = 128 * 1024;

/** `findMemberText` in steps; each yields how many characters it has read. A single string is one step. */
export function* findMemberInSteps(text: string, member: string): Generator<number, string | undefined> {
  if (!/^\s*\{/.test(text)) {
    return undefined;
  }
  let found: string | undefined;
  let depth = 0;
  /** Name of the current member of the outermost object. */
  let name: string | undefined;
  let valueStart = 0;
  let begun = 0;
  for (let at = 0; at < text.length; at++) {
    if (at - begun >= stepLength) {
      yield at - begun;
      begun = at;
    }
    const character = text.charCodeAt(at);
    switch (character) {
      case quote: {
        const end = findStringEnd(text, at + 1);
        if (depth === 1 && name === undefined) {
          name = String(JSON.parse(text.slice(at, end + 1)));
          valueStart = text.indexOf(":", end) + 1;
        }
        at = end;
        break;
      }
      case openBrace:
      case openBracket:
        depth += 1;
        break;
      case closeBrace:
      case closeBracket:
      case comma:
        if (depth === 1) {
          if (name === member) {
            found = text.slice(valueStart, at).trim();
          }
          name = undefined;
        }
        if (character !== comma) {
          depth -= 1;
        }
        break;
    }
  }
  return found;
}
