import { invalidParams } from "@a2a-connect/core";
import { formatFieldPath, type JsonText, readJsonText, tooManyValues } from "@a2a-connect/core/internal";
import type { ConnectError } from "@connectrpc/connect";
import { type BodyLimits, type BodyRefusal, readBody, type Sender } from "../body.ts";
import type { HttpRequest, HttpResponse } from "../http.ts";
import { encodeBody, encodeTexts, streamedCoding, toBody } from "../large-answer.ts";
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
 * @param checkType refuses a body by its headers; not called without a body; undefined: they were checked before
 * @returns the JSON, or why it was refused: as in `readBody`, and 400 for text that is not JSON or has too many values
 */
export async function readJson(
  request: HttpRequest,
  limits: BodyLimits & JsonBodyLimits,
  checkType?: (header: Headers) => BodyRefusal | undefined,
): Promise<JsonBody | BodyRefusal | JsonOverflow> {
  const bytes = await readBody(request, limits);
  if ("error" in bytes) {
    return bytes;
  }
  if (bytes.byteLength === 0) {
    return { json: undefined };
  }
  const refusal = checkType?.(request.header);
  if (refusal !== undefined) {
    return refusal;
  }
  const parsed = parseJsonBytes(bytes, limits, request.callerNetwork);
  request.body.freeBytes?.(); // which were decoded at once
  return parsed;
}

/**
 * Parses the bytes of a body as JSON within bounded memory; a large body in slices. Refuses a name that occurs twice in
 * the outermost object. When it returns, it needs the bytes no longer.
 *
 * @param caller whose body it is (`nextSlice`)
 */
export function parseJsonBytes(
  bytes: Uint8Array,
  { maxValues }: JsonBodyLimits,
  caller: string | undefined,
): ParsedBody | Promise<ParsedBody> {
  const text = readJsonText(bytes, { maxDepth: maxParsedDepth, maxValues }, () => nextSlice(caller, "body"));
  return text instanceof Promise
    ? text.then((read) => toParsedBody(read, maxValues))
    : toParsedBody(text, maxValues);
}

type ParsedBody = JsonBody | JsonOverflow | BodyRefusal;

function toParsedBody(text: JsonText, maxValues: number): ParsedBody {
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

/** A JSON text with its status and header fields. */
export interface JsonAnswer {
  readonly status: number;
  /** In pieces when it is large: they are made while the reader takes them. */
  readonly text: string | Iterable<string>;
  readonly mediaType: string;
  /** The function keeps the object and adds fields to it. */
  readonly header: Headers;
}

/** The response with a JSON text, compressed when the request allows it and it is worth it. */
export function respondJson(
  request: Sender & Pick<HttpRequest, "header">,
  { status, text, mediaType, header }: JsonAnswer,
  { compressions, compressMinBytes }: Pick<BindingSettings, "compressions" | "compressMinBytes">,
): HttpResponse | Promise<HttpResponse> {
  header.set("content-type", mediaType);
  // A character is at least one byte. A text with too few characters may still have enough bytes; it is not compressed.
  const isSmall = typeof text === "string" && text.length < compressMinBytes;
  if (isSmall || compressions.length === 0) {
    return { status, header, body: typeof text === "string" ? text : toBody(encodeTexts(text)) };
  }
  header.append("vary", "accept-encoding");
  const accepted = request.header.get("accept-encoding");
  const usable =
    typeof text === "string" ? compressions : compressions.filter(({ name }) => name === streamedCoding);
  const coding = negotiateCoding(accepted, usable);
  const encoding = encodeBody(
    request,
    typeof text === "string" ? text : encodeTexts(text),
    coding,
    "content-encoding",
    header,
  );
  return encoding.then((body) => ({ status, header, body }));
}

/**
 * The coding of an answer: of our codings the one that an Accept-Encoding header prefers, and the first of several
 * equal ones. Undefined for no coding: when the header allows none, or prefers `identity`. `*` is every coding that the
 * header does not name (RFC 9110 §12.5.3).
 */
export function negotiateCoding<Coding extends { readonly name: string }>(
  acceptEncoding: string | null,
  compressions: readonly Coding[],
): Coding | undefined {
  if (acceptEncoding === null || compressions.length === 0) {
    return undefined;
  }
  const weights = new Map(acceptEncoding.split(",").map(parseItem));
  const others = weights.get("*") ?? 0;
  let preferred: Coding | undefined;
  let highest = 0;
  for (const compression of compressions) {
    const weight = weights.get(compression.name) ?? others;
    if (weight > highest) {
      preferred = compression;
      highest = weight;
    }
  }
  return (weights.get("identity") ?? others) > highest ? undefined : preferred;
}

function parseItem(item: string): [coding: string, weight: number] {
  const [coding = "", ...parameters] = item.split(";");
  const weight = parameters
    .map((parameter) => /^\s*q\s*=\s*([\d.]+)\s*$/i.exec(parameter)?.[1])
    .find(Boolean);
  return [coding.trim().toLowerCase(), Number(weight ?? 1)];
}
