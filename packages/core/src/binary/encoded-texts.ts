/** Characters from which a text is long: to encode it again takes milliseconds. */
export const longText: number = 64 * 1024;

/**
 * The bytes from which long texts of a oneof were decoded, by the object that protobuf-es makes of the oneof. The
 * encoder takes them as they are, so a text that a caller has sent need not be encoded for the log and for the answer.
 * They live as long as that object.
 */
const texts = new WeakMap<object, { readonly text: string; readonly bytes: Uint8Array }>();

/** Keeps the bytes of a long text. @param oneof the oneof with the text as its value */
export function keepEncodedText(oneof: { readonly value?: unknown }, bytes: Uint8Array): void {
  texts.set(oneof, { text: String(oneof.value), bytes });
}

/** @returns undefined when the oneof was not decoded, or has another text since */
export function encodedText(oneof: object, text: string): Uint8Array | undefined {
  const kept = texts.get(oneof);
  return kept?.text === text ? kept.bytes : undefined;
}
