import { formatFieldPath } from "./field-walk.ts";

/** What {@link scanJson} notices before the text is parsed. */
export type JsonDefect =
  | { readonly kind: "too-deep" }
  /** `path` as errors name it: `skills[0].name`. */
  | { readonly kind: "duplicate-member"; readonly path: string };

/** How a text is looked over. */
export interface ScanJsonOptions {
  /** Objects and arrays that may be nested in each other. */
  readonly maxDepth: number;
  /** Where a name may not occur twice: in the outermost object (default), or in every object. */
  readonly duplicates?: "outermost" | "everywhere";
}

/** An object or array that is open at some place of the text. */
interface OpenContainer {
  /** Names so far, of an object whose names are compared. */
  readonly names: Set<string> | undefined;
  /** The member or element that the place is in. */
  at: string | number;
}

/**
 * Look over the bytes of a JSON text for what `JSON.parse` would not tell, in one pass and without building anything:
 *
 * - nesting beyond `maxDepth`. The parser takes about 60 bytes for each level, so 16 MiB of brackets would cost a
 *   gigabyte before it failed;
 * - a name that occurs twice, of which `JSON.parse` silently keeps the last. A proxy that looked at the first saw another
 *   text.
 *
 * Says nothing about whether the text is JSON at all.
 */
export function scanJson(
  bytes: Uint8Array,
  { maxDepth, duplicates = "outermost" }: ScanJsonOptions,
): JsonDefect | undefined {
  const comparedDepth = duplicates === "everywhere" ? maxDepth : 1;
  /** Those at depth 1 to `comparedDepth`; nothing is known of deeper ones. */
  const open: OpenContainer[] = [];
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case openBrace:
      case openBracket:
        depth += 1;
        if (depth > maxDepth) {
          return { kind: "too-deep" };
        }
        if (depth <= comparedDepth) {
          open.push(bytes[at] === openBrace ? { names: new Set(), at: "" } : { names: undefined, at: 0 });
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
        const end = findStringEnd(bytes, at + 1);
        const inner = depth <= comparedDepth ? open.at(-1) : undefined;
        if (inner?.names !== undefined && isFollowedByColon(bytes, end + 1)) {
          inner.at = decodeName(bytes.subarray(at, end + 1));
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

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const comma = 0x2c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

const decoder = new TextDecoder();

/** Index of the quote that ends the string whose content starts at `from`; the length of the text when there is none. */
function findStringEnd(bytes: Uint8Array, from: number): number {
  let end = bytes.indexOf(quote, from);
  while (end !== -1 && isEscaped(bytes, from, end)) {
    end = bytes.indexOf(quote, end + 1);
  }
  return end === -1 ? bytes.length : end;
}

function isEscaped(bytes: Uint8Array, from: number, at: number): boolean {
  let backslashes = 0;
  while (at - backslashes > from && bytes[at - backslashes - 1] === backslash) {
    backslashes += 1;
  }
  return backslashes % 2 === 1;
}

function isFollowedByColon(bytes: Uint8Array, from: number): boolean {
  let at = from;
  while (at < bytes.length && isWhitespace(bytes[at])) {
    at += 1;
  }
  return bytes[at] === colon;
}

function isWhitespace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

/** A quoted name without its quotes and escapes; as it stands when it is malformed, which the parser will say. */
function decodeName(quoted: Uint8Array): string {
  const text = decoder.decode(quoted);
  if (!text.includes("\\")) {
    return text.slice(1, -1);
  }
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}
