import { ByteBuffer, readAtMost } from "@a2a-connect/core/internal";
import { readChunks, responseCutOff } from "../fetch/read-response.ts";
import { responseTooLarge } from "../fetch/response-errors.ts";

/** Flags (1 byte) and length (4 bytes) before each message of the Connect and gRPC-Web protocols. */
const prefixLength = 5;

/**
 * The same response with a body that returns whole envelopes, one at a time. It fails
 *
 * - with ResourceExhausted as soon as an envelope announces more than `maxBytes`;
 * - with Unavailable when the connection breaks, or the body ends without an envelope that is marked as the last.
 *
 * Connect's own reader has no limit and allocates what an envelope announces. Its time grows with the square of the
 * number of chunks of an envelope.
 *
 * @param lastFlag bit of the flags that marks the last envelope
 */
export function limitEnvelopes(response: Response, maxBytes: number, lastFlag: number): Response {
  const envelopes = readEnvelopes(readChunks(response), maxBytes, lastFlag);
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        const next = await envelopes.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        await envelopes.return();
      },
    },
    { highWaterMark: 0 }, // no envelope is read ahead
  );
  return withBody(response, body);
}

async function* readEnvelopes(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
  lastFlag: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  const envelope = new ByteBuffer();
  let missing = prefixLength;
  let inContent = false;
  let isLast = false;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.byteLength; ) {
      const piece = chunk.subarray(at, at + missing);
      envelope.append(piece);
      at += piece.byteLength;
      missing -= piece.byteLength;
      if (missing === 0 && !inContent) {
        const { flags, length } = parsePrefix(envelope.peek());
        if (length > maxBytes) {
          throw responseTooLarge(maxBytes);
        }
        isLast = (flags & lastFlag) !== 0;
        inContent = true;
        missing = length;
      }
      if (missing === 0) {
        yield envelope.take();
        inContent = false;
        missing = prefixLength;
      }
    }
  }
  if (!isLast || envelope.length > 0) {
    throw responseCutOff();
  }
}

function parsePrefix(bytes: Uint8Array): { readonly flags: number; readonly length: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, prefixLength);
  return { flags: view.getUint8(0), length: view.getUint32(1) };
}

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
