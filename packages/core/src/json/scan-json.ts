import { formatFieldPath } from "../field-walk.ts";
import { longNameWeight, manyNames } from "./json-value.ts";

/* ---- The characters that give a JSON text its structure ---- */

export const quote: number = 0x22;
export const backslash: number = 0x5c;
export const colon: number = 0x3a;
export const comma: number = 0x2c;
export const openBracket: number = 0x5b;
export const closeBracket: number = 0x5d;
export const openBrace: number = 0x7b;
export const closeBrace: number = 0x7d;

/** Index of the quote that ends the string whose content starts at `from`; the length of the text when there is none. */
export function findStringEnd(text: string, from: number): number {
  const first = text.indexOf('"', from);
  if (first === -1) {
    return text.length;
  }
  if (text.charCodeAt(first - 1) !== backslash) {
    return first;
  }
  // A string with escapes is read from its start. To count the backslashes before each quote could take quadratic time.
  let at = from;
  for (; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === quote) {
      break;
    }
    if (character === backslash) {
      at += 1;
    }
  }
  return Math.min(at, text.length);
}

/* ---- The scan ---- */

/** What {@link scanJson} finds before the text is parsed. */
export type JsonDefect =
  | { readonly kind: "too-deep" }
  /** `path` in the form of errors: `skills[0].name`. */
  | { readonly kind: "duplicate-member"; readonly path: string };

/** Options of the scan. */
export interface ScanJsonOptions {
  /** How deep objects and arrays may be nested. */
  readonly maxDepth: number;
  /** In which objects a name may not occur twice: the outermost object (default), or every object. */
  readonly duplicates?: "outermost" | "everywhere";
}

/** An object or array that is open at the current index of the text. */
interface OpenContainer {
  /** The names so far, for an object whose names are compared. */
  readonly names: Set<string> | undefined;
  /** The current member or element. */
  at: string | number;
}

/**
 * Scans a JSON text for problems that `JSON.parse` does not report, in one pass and without building values:
 *
 * - nesting beyond `maxDepth`. The parser takes about 60 bytes for each level, so 16 MiB of brackets would cost a
 *   gigabyte before it failed;
 * - a name that occurs twice. `JSON.parse` silently keeps the last one, but a proxy that read the first one saw another
 *   text.
 *
 * The scan does not decide whether the text is JSON at all.
 */
export function scanJson(
  text: string,
  { maxDepth, duplicates = "outermost" }: ScanJsonOptions,
): JsonDefect | undefined {
  const comparedDepth = duplicates === "everywhere" ? maxDepth : 1;
  /** Open objects and arrays at depth 1 to `comparedDepth`; deeper ones are not kept. */
  const open: OpenContainer[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    switch (character) {
      case openBrace:
      case openBracket:
        depth += 1;
        if (depth > maxDepth) {
          return { kind: "too-deep" };
        }
        if (depth <= comparedDepth) {
          open.push(character === openBrace ? { names: new Set(), at: "" } : { names: undefined, at: 0 });
        }
        break;
      case closeBrace:
      case closeBracket:
        if (depth <= comparedDepth) {
          open.pop();
        }
        depth -= 1;
        break;
      case comma: {
        const inner = depth <= comparedDepth ? open.at(-1) : undefined;
        if (typeof inner?.at === "number") {
          inner.at += 1;
        }
        break;
      }
      case quote: {
        const end = findStringEnd(text, at + 1);
        const inner = depth <= comparedDepth ? open.at(-1) : undefined;
        if (inner?.names !== undefined && isFollowedByColon(text, end + 1)) {
          inner.at = readName(text.slice(at, end + 1));
          if (inner.names.has(inner.at)) {
            return { kind: "duplicate-member", path: formatFieldPath(open.map((each) => each.at)) };
          }
          inner.names.add(inner.at);
        }
        at = end;
        break;
      }
    }
  }
  return undefined;
}

/**
 * How many values a JSON text has, before it is parsed: 15 MB of brackets become gigabytes of objects. It counts what names
 * or separates values, an object or array twice, because it takes most memory, and a long name by its length.
 *
 * @param atMost where it stops: beyond this number
 * @param manyNamesValues what each name of an object beyond its first `manyNames` counts besides
 */
export function countValues(
  text: string,
  atMost: number = Number.POSITIVE_INFINITY,
  manyNamesValues = 0,
): number {
  let values = 0;
  /** How many names the open objects have, the innermost one last. */
  const names: number[] = [];
  for (let at = 0; at < text.length && values <= atMost; at++) {
    switch (text.charCodeAt(at)) {
      case openBrace:
      case openBracket:
        values += 2;
        names.push(0);
        break;
      case closeBrace:
      case closeBracket:
        names.pop();
        break;
      case colon: {
        values += 1;
        const count = (names.pop() ?? 0) + 1;
        names.push(count);
        if (count > manyNames) values += manyNamesValues;
        break;
      }
      case comma:
        values += 1;
        break;
      case quote: {
        const end = findStringEnd(text, at + 1);
        const weight = longNameWeight(end - at - 1);
        if (weight > 0 && isFollowedByColon(text, end + 1)) {
          values += weight;
        }
        at = end;
        break;
      }
    }
  }
  return values;
}

function isFollowedByColon(text: string, from: number): boolean {
  return text.charCodeAt(skipSpace(text, from)) === colon;
}

/** Index of the next character that is no white space; the length of the text when there is none. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  while (isWhitespace(text.charCodeAt(at))) {
    at += 1;
  }
  return at;
}

function isWhitespace(character: number): boolean {
  return character === 0x20 || character === 0x09 || character === 0x0a || character === 0x0d;
}

/** A quoted name without its quotes and escapes. A malformed name stays as it is: the parser will refuse it. */
function readName(quoted: string): string {
  if (!quoted.includes("\\")) {
    return quoted.slice(1, -1);
  }
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}
