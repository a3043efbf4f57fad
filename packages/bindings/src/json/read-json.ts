import { invalidParams } from "@a2a-connect/core";
import { formatFieldPath, readJsonText, tooManyValues } from "@a2a-connect/core/internal";
import type { ConnectError } from "@connectrpc/connect";
import { type BodyLimits, type BodyRefusal, readBody } from "../body.ts";
import type { HttpRequest } from "../http.ts";
import { nextSlice } from "../next-slice.ts";
import type { BindingSettings } from "../options.ts";

/** A request body as parsed JSON; `json` is undefined for an empty body. */
export interface JsonBody {
  readonly json: unknown;
}

/** A body of more values than are taken. */
export interface JsonOverflow extends BodyRefusal {
  /** Where the limit was passed, as member names and indexes. */
  readonly path: readonly (string | number)[];
  /** All of it; what comes after that place is unread. */
  readonly text: string;
}

/** How much JSON is taken. */
export type JsonBodyLimits = Pick<BindingSettings, "maxValues">;

/**
 * Nesting that is looked at at all. The limit that counts (`maxJsonDepth`) is checked field by field and names the
 * field; this one only keeps the parser's memory in bounds.
 */
const maxParsedDepth = 50_000;

/**
 * Read a request body as JSON.
 *
 * @param checkType refuses a body by its headers; not asked when there is no body
 * @returns the JSON, or why it was refused: as `readBody`, and 400 for what is not JSON or holds too many values
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
 * Parse the bytes of a body as JSON within bounded memory, those of a large one in slices. A name that stands twice in the
 * outermost object is refused.
 */
export async function parseJsonBytes(
  bytes: Uint8Array,
  { maxValues }: JsonBodyLimits,
): Promise<JsonBody | JsonOverflow | BodyRefusal> {
  const text = await readJsonText(bytes, { maxDepth: maxParsedDepth, maxValues }, nextSlice);
  if (text.ok) {
    return { json: text.value };
  }
  if (text.overflow !== undefined) {
    return { status: 400, error: refuseValues(maxValues, text.overflow.path), ...text.overflow };
  }
  return { status: 400, error: invalidParams({ field: "", description: text.problem }) };
}

/** InvalidArgument for more than `maxValues` values, which names the outer levels of where that was. */
export function refuseValues(maxValues: number, path: readonly (string | number)[]): ConnectError {
  return invalidParams(tooManyValues(maxValues, formatFieldPath(path.slice(0, maxNamedLevels))));
}

/** Enough to tell a part from its message: `message.parts[0].data`. */
const maxNamedLevels = 4;
