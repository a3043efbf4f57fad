/** A text in slices of about `length` characters; no character is cut in two. */
export function* divideText(text: string, length: number): Generator<string, void> {
  for (let at = 0; at < text.length; ) {
    let end = at + length;
    if ((text.codePointAt(end - 1) ?? 0) > 0xffff) {
      end += 1; // the other half of a surrogate pair
    }
    yield text.slice(at, end);
    at = end;
  }
}

/** How many bytes `TextEncoder` makes of a text. */
export function utf8Length(text: string): number {
  if (nodeBuffer !== undefined) {
    return nodeBuffer.byteLength(text); // counts without encoding
  }
  let bytes = 0;
  for (const slice of divideText(text, sliceLength)) {
    bytes += encoder.encodeInto(slice, room).written;
  }
  return bytes;
}

const sliceLength = 16 * 1024;

const encoder = new TextEncoder();

/** What is encoded only to be counted. A character of UTF-16 is up to three bytes; a slice may be one longer. */
const room = new Uint8Array(3 * (sliceLength + 1));

const nodeBuffer = (globalThis as { readonly Buffer?: { byteLength(text: string): number } }).Buffer; // where there is one
