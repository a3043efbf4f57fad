import { formatFieldPath } from "../field-walk.ts";
import {
  closeBrace,
  closeBracket,
  colon,
  comma,
  findStringEnd,
  openBrace,
  openBracket,
  quote,
} from "./json-characters.ts";
import { type JsonFault, type JsonLimits, JsonReader } from "./json-reader.ts";
import { longNameWeight } from "./json-value.ts";

/**
 * The outcome of parsing a JSON text: a value, or a sentence for the caller that repeats nothing of the caller's text.
 */
export type JsonText = { readonly ok: true; readonly value: unknown } | JsonProblem;

/** Why a text was not taken. */
export interface JsonProblem {
  readonly ok: false;
  readonly problem: string;
  /**
   * For a text with too many values: the path, as member names and indexes, and the text itself, which was not read
   * further.
   */
  readonly overflow?: { readonly path: readonly (string | number)[]; readonly text: string };
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Decodes a body as UTF-8 (strictly; it skips a byte order mark) and parses it as JSON without limits. Never throws.
 * For texts of callers use {@link readJsonText}.
 */
export function parseJsonText(bytes: Uint8Array): JsonText {
  const text = decodeText(bytes);
  return text === undefined ? notUtf8 : parseText(text);
}

/**
 * The same for the text of a caller, who may be an attacker: with limits, and without blocking other calls. A text of
 * more than 32 Ki characters is read in slices of a few milliseconds. A name that occurs twice in the outermost object
 * is refused.
 *
 * @param turn lets other calls run between two slices
 * @returns the outcome, at once when the text is short; never rejects
 */
export function readJsonText(
  bytes: Uint8Array,
  limits: JsonLimits,
  turn: () => Promise<void>,
): JsonText | Promise<JsonText> {
  const text = decodeText(bytes);
  if (text === undefined) {
    return notUtf8;
  }
  // A value has at least one character, so a text that is shorter than the limit cannot exceed it.
  if (text.length > Math.min(limits.maxValues, sliceLength)) {
    return readInSlices(text, limits, turn);
  }
  const defect = scanJson(text, limits);
  return defect === undefined ? parseText(text) : { ok: false, problem: problems[defect.kind] };
}

/** Characters in one slice. In the worst case, many short names, a slice takes about five milliseconds. */
const sliceLength = 32 * 1024;

async function readInSlices(text: string, limits: JsonLimits, turn: () => Promise<void>): Promise<JsonText> {
  const reader = new JsonReader(text, limits);
  for (let until = sliceLength, done = false; !done; until += sliceLength) {
    await turn(); // before the first slice, too: to decode the text took up to ten milliseconds
    done = reader.read(Math.min(until, text.length));
  }
  await turn(); // the caller checks and builds the result next
  const { fault } = reader;
  if (fault === undefined) {
    return { ok: true, value: reader.result };
  }
  const problem = problems[fault.kind];
  return fault.kind === "too-many-values"
    ? { ok: false, problem, overflow: { path: fault.path, text } }
    : { ok: false, problem };
}

function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function parseText(text: string): JsonText {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false, problem: problems.malformed };
  }
}

const notUtf8: JsonProblem = { ok: false, problem: "the body is not valid UTF-8" };

const problems: Readonly<Record<JsonFault["kind"], string>> = {
  malformed: "the body is not valid JSON",
  "too-deep": "the body is nested too deeply",
  "duplicate-member": "the body names a member twice",
  "too-many-values": "the body has too many values",
};

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
 */
export function countValues(text: string, atMost: number = Number.POSITIVE_INFINITY): number {
  let values = 0;
  for (let at = 0; at < text.length && values <= atMost; at++) {
    switch (text.charCodeAt(at)) {
      case openBrace:
      case openBracket:
        values += 2;
        break;
      case colon:
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
  let at = from;
  while (isWhitespace(text.charCodeAt(at))) {
    at += 1;
  }
  return text.charCodeAt(at) === colon;
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
