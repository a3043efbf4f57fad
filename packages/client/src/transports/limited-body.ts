import { responseTooLarge } from "@a2a-connect/bindings/client";
import { Code, ConnectError } from "@connectrpc/connect";
import { ByteBuffer } from "./byte-buffer.ts";

/**
 * The same response with its body read to the end.
 *
 * @throws ConnectError ResourceExhausted when it is longer than `maxBytes`, Unavailable when it is cut off
 */
export async function limitBody(response: Response, maxBytes: number): Promise<Response> {
  const buffer = new ByteBuffer();
  for await (const chunk of readBody(response)) {
    if (buffer.length + chunk.byteLength > maxBytes) {
      throw responseTooLarge(maxBytes);
    }
    buffer.append(chunk);
  }
  return withBody(response, buffer.take());
}

/**
 * A body chunk by chunk. To stop early closes the connection.
 *
 * @throws ConnectError Unavailable when the connection breaks
 */
export async function* readBody({ body }: Response): AsyncGenerator<Uint8Array, void> {
  if (body === null) {
    return;
  }
  const reader = body.getReader(); // not every browser can iterate over a stream
  try {
    for (let result = await reader.read(); !result.done; result = await reader.read()) {
      yield result.value;
    }
  } catch (thrown) {
    throw responseCutOff(thrown);
  } finally {
    reader.cancel().catch(() => {}); // it is closed already
  }
}

/** The same response with another body. */
export function withBody(
  { status, statusText, headers }: Response,
  body: ReadableStream<Uint8Array<ArrayBuffer>> | Uint8Array<ArrayBuffer>,
): Response {
  const bodiless = [204, 205, 304].includes(status);
  return new Response(bodiless ? null : body, { status, statusText, headers });
}

/** A response ended in the middle. */
export function responseCutOff(cause?: unknown): ConnectError {
  return new ConnectError("the response was cut off", Code.Unavailable, undefined, undefined, cause);
}
