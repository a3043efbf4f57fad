/** What a value takes beside its content. */
const valueBytes = 8;

/**
 * What a message, or any JSON, weighs: about what it takes in memory, and never less than the content of its texts and bytes,
 * wherever in it they are. Costs as much as there is, and recurses as deep, which parsers limit.
 */
export function weigh(value: unknown): number {
  if (typeof value === "string") {
    return valueBytes + value.length;
  }
  if (typeof value !== "object" || value === null) {
    return value === undefined ? 0 : valueBytes;
  }
  if (ArrayBuffer.isView(value)) {
    return valueBytes + value.byteLength;
  }
  let bytes = valueBytes;
  if (Array.isArray(value)) {
    for (const each of value) {
      bytes += weigh(each);
    }
    return bytes;
  }
  for (const name in value) {
    bytes += name.length + weigh(value[name as keyof typeof value]); // its own: messages and JSON inherit nothing
  }
  return bytes;
}
