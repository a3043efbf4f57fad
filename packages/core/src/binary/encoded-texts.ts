import { scaleToHeap } from "../heap.ts";
import { KeptTexts } from "../kept-texts.ts";

/** Characters from which a text is long: to encode it again takes milliseconds. */
export const longText: number = 64 * 1024;

/** Bytes of long texts that are kept, of all messages: a task may be in memory for days. */
const maxKeptBytes = scaleToHeap(64 * 2 ** 20);

/**
 * The bytes from which long texts of a oneof were decoded, by the object that protobuf-es makes of the oneof. The
 * encoder takes them as they are, so a text that a caller has sent need not be encoded for the log and for the answer.
 * Only the newest are kept, and none longer than that object.
 */
const texts = new KeptTexts<
  { readonly text: string; readonly bytes: Uint8Array; readonly length: number },
  object
>(maxKeptBytes);

/**
 * Keeps the bytes of a long text, and with them the whole buffer that they are in.
 *
 * @param oneof the oneof with the text as its value
 */
export function keepEncodedText(oneof: { readonly value?: unknown }, bytes: Uint8Array): void {
  texts.set(oneof, { text: String(oneof.value), bytes, length: bytes.buffer.byteLength });
}

/** @returns undefined when the oneof was not decoded, or has another text since, or when many others were decoded since */
export function encodedText(oneof: object, text: string): Uint8Array | undefined {
  const kept = texts.get(oneof);
  return kept?.text === text ? kept.bytes : undefined;
}
