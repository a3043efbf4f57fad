import type { HttpRequest, HttpResponse } from "../http.ts";
import { encodeTexts, gzip, streamedCoding, toBody } from "../large-answer.ts";
import type { BindingSettings } from "../options.ts";
import { negotiateCoding } from "./accept-encoding.ts";

const encoder = new TextEncoder();

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
export async function respondJson(
  request: Pick<HttpRequest, "header">,
  { status, text, mediaType, header }: JsonAnswer,
  { compressions, compressMinBytes }: Pick<BindingSettings, "compressions" | "compressMinBytes">,
): Promise<HttpResponse> {
  header.set("content-type", mediaType);
  // A character is at least one byte. A text with too few characters may still have enough bytes; it is not compressed.
  const isSmall = typeof text === "string" && text.length < compressMinBytes;
  if (isSmall || compressions.length === 0) {
    return { status, header, body: typeof text === "string" ? text : toBody(encodeTexts(text)) };
  }
  header.append("vary", "accept-encoding");
  const accepted = request.header.get("accept-encoding");
  if (typeof text !== "string") {
    const pieces = encodeTexts(text);
    const streamed = compressions.filter(({ name }) => name === streamedCoding);
    if (negotiateCoding(accepted, streamed) === undefined) {
      return { status, header, body: toBody(pieces) };
    }
    header.set("content-encoding", streamedCoding);
    return { status, header, body: gzip(pieces) };
  }
  const compression = negotiateCoding(accepted, compressions);
  if (compression === undefined) {
    return { status, header, body: text };
  }
  header.set("content-encoding", compression.name);
  return { status, header, body: await compression.compress(encoder.encode(text)) };
}
