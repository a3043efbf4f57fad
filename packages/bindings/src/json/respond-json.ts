import type { HttpRequest, HttpResponse } from "../http.ts";
import { encodeBody, encodeTexts, streamedCoding, toBody } from "../large-answer.ts";
import type { BindingSettings } from "../options.ts";

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
  request: Pick<HttpRequest, "header">,
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
