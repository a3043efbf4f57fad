import { invalidParams } from "@a2a-connect/core";
import { formatFieldPath, type JsonText, readJsonText, tooManyValues } from "@a2a-connect/core/internal";
import type { ConnectError } from "@connectrpc/connect";
import { type BodyLimits, type BodyRefusal, readBody } from "../body.ts";
import type { HttpRequest } from "../http.ts";
import { nextSlice } from "../next-slice.ts";
import type { BindingSettings } from "../options.ts";

/** A request body as parsed JSON; `json` is undefined for an empty body. */
export interface JsonBody {
  readonly json: unknown;
}

/** The failure of a body with too many values. */
export interface JsonOverflow extends BodyRefusal {
  /** Where the limit was exceeded, as member names and indexes. */
  readonly path: readonly (string | number)[];
  /** The whole text; what follows that path was not parsed. */
  readonly text: string;
}

/** The limits on JSON. */
export type JsonBodyLimits = Pick<BindingSettings, "maxValues">;

/**
 * Nesting beyond which the text is not parsed. The stricter limit (`maxJsonDepth`) is checked field by field and names
 * the field. This one only bounds the parser's memory.
 */
const maxParsedDepth = 50_000;

/**
 * Reads a request body as JSON.
 *
 * @param checkType refuses a body by its headers; not called without a body
 * @returns the JSON, or why it was refused: as in `readBody`, and 400 for text that is not JSON or has too many values
 */
export async function readJson(
  request: HttpRequest,
  limits: BodyLimits & JsonBodyLimits,
  checkType: (header: Headers) => BodyRefusal | undefined,
): Promise<JsonBody | BodyRefusal | JsonOverflow> {
  const bytes = await readBody(request, limits);
  if ("error" in bytes) {
    return bytes;
  }
  if (bytes.byteLength === 0) {
    return { json: undefined };
  }
  const refusal = checkType(request.header);
  if (refusal !== undefined) {
    return refusal;
  }
  return parseJsonBytes(bytes, limits);
}

/**
 * Parses the bytes of a body as JSON within bounded memory; a large body in slices. Refuses a name that occurs twice in
 * the outermost object.
 */
export function parseJsonBytes(
  bytes: Uint8Array,
  { maxValues }: JsonBodyLimits,
): ParsedBody | Promise<ParsedBody> {
  const text = readJsonText(bytes, { maxDepth: maxParsedDepth, maxValues }, nextSlice);
  return text instanceof Promise ? text.then((read) => toBody(read, maxValues)) : toBody(text, maxValues);
}

type ParsedBody = JsonBody | JsonOverflow | BodyRefusal;

function toBody(text: JsonText, maxValues: number): ParsedBody {
  if (text.ok) {
    return { json: text.value };
  }
  if (text.overflow !== undefined) {
    return { status: 400, error: refuseValues(maxValues, text.overflow.path), ...text.overflow };
  }
  return { status: 400, error: invalidParams({ field: "", description: text.problem }) };
}

/** InvalidArgument for more than `maxValues` values. It names the outer levels of their path. */
export function refuseValues(maxValues: number, path: readonly (string | number)[]): ConnectError {
  return invalidParams(tooManyValues(maxValues, formatFieldPath(path.slice(0, maxNamedLevels))));
}

/** Enough to name a part of a message: `message.parts[0].data`. */
const maxNamedLevels = 4;
