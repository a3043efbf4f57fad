import { ByteBuffer } from "@a2a-connect/core/internal";

/**
 * The bytes before a message in an envelope: one byte of flags, four bytes of length. The same in all three protocols.
 */
export const prefixBytes = 5;

/** The length of the message that an envelope announces in its prefix. */
export function announcedBytes({ buffer, byteOffset, byteLength }: Uint8Array): number {
  return new DataView(buffer, byteOffset, byteLength).getUint32(1);
}

/**
 * Envelopes whole and one by one, prefix and message in one array, however their bytes are divided into chunks. It takes time and
 * memory by the bytes, not by the chunks. What is no whole envelope comes last: the beginning of one where the chunks end, or the
 * prefix alone of one that announces more than `maxBytes`.
 */
export async function* splitEnvelopes(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  const content = new ByteBuffer();
  let length = prefixBytes;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.byteLength; ) {
      const piece = chunk.subarray(at, at + length - content.length);
      content.append(piece);
      at += piece.byteLength;
      if (content.length === prefixBytes) {
        length += announcedBytes(content.peek());
        if (length > prefixBytes + maxBytes) {
          yield content.take();
          return;
        }
      }
      if (content.length === length) {
        length = prefixBytes;
        yield content.take();
      }
    }
  }
  if (content.length > 0) {
    yield content.take();
  }
}
