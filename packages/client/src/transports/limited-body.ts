import { readChunks, responseTooLarge } from "@a2a-connect/bindings/client";
import { readAtMost } from "@a2a-connect/core/internal";

/**
 * The same response with its body read to the end.
 *
 * @throws ConnectError ResourceExhausted when it is longer than `maxBytes`, Unavailable when it is cut off
 */
export async function limitBody(response: Response, maxBytes: number): Promise<Response> {
  const bytes = await readAtMost(readChunks(response), maxBytes);
  if (bytes === undefined) {
    throw responseTooLarge(maxBytes);
  }
  return withBody(response, bytes);
}

/** The same response with another body. */
export function withBody(
  { status, statusText, headers }: Response,
  body: ReadableStream<Uint8Array<ArrayBuffer>> | Uint8Array<ArrayBuffer>,
): Response {
  const bodiless = [204, 205, 304].includes(status);
  return new Response(bodiless ? null : body, { status, statusText, headers });
}
