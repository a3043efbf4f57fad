import { invalidParams, parseJsonText } from "@a2a-connect/core";
import { type BodyLimits, type BodyRefusal, readBody } from "../body.ts";
import type { HttpRequest } from "../http.ts";

/** A request body as parsed JSON; `json` is undefined for an empty body. */
export interface JsonBody {
  readonly json: unknown;
}

/**
 * Nesting that is looked at at all. The limit that counts (`maxJsonDepth`) is checked field by field and names the
 * field; this one only keeps the parser's memory in bounds.
 */
const maxParsedDepth = 50_000;

/**
 * Read a request body as JSON.
 *
 * @param checkType refuses a body by its headers; not asked when there is no body
 * @returns the JSON, or why it was refused: as `readBody`, and 400 for what is not JSON
 */
export async function readJson(
  request: HttpRequest,
  limits: BodyLimits,
  checkType: (header: Headers) => BodyRefusal | undefined,
): Promise<JsonBody | BodyRefusal> {
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
  return parseJsonBytes(bytes);
}

/** Parse the bytes of a body as JSON within bounded memory. A name that stands twice in the outermost object is refused. */
export function parseJsonBytes(bytes: Uint8Array): JsonBody | BodyRefusal {
  const text = parseJsonText(bytes, { maxDepth: maxParsedDepth });
  return text.ok ? { json: text.value } : notJson(text.problem);
}

function notJson(description: string): BodyRefusal {
  return { status: 400, error: invalidParams({ field: "", description }) };
}
