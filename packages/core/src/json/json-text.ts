import { type JsonFault, type JsonLimits, JsonReader } from "./json-reader.ts";
import { maxNameLength } from "./json-value.ts";
import { countValues, scanJson } from "./scan-json.ts";

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
  // A value has at least one character, so a text that is shorter than the limit cannot exceed it, but for a very long name.
  const mayExceed = text.length > Math.min(limits.maxValues, sliceLength);
  if (mayExceed || (text.length > maxNameLength && countValues(text) > limits.maxValues)) {
    return readInSlices(text, limits, turn);
  }
  const defect = scanJson(text, limits);
  return defect === undefined ? parseText(text) : { ok: false, problem: problems[defect.kind] };
}

/** Characters in one slice. In the worst case, many short names, a slice takes about five milliseconds. */
const sliceLength = 32 * 1024;

async function readInSlices(text: string, limits: JsonLimits, turn: () => Promise<void>): Promise<JsonText> {
  const reader = new JsonReader(text, limits);
  do {
    await turn(); // before the first slice, too: to decode the text took up to ten milliseconds
  } while (!reader.read(sliceLength));
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
