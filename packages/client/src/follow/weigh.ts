/** The weight of a value beside its content. */
const valueBytes = 8;

/**
 * The weight of a message, or of any JSON: about its size in memory, and never less than the content of its texts and
 * bytes at any depth. The cost is that of visiting every value; the recursion is as deep as the value, which parsers
 * limit.
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
    bytes += name.length + weigh(value[name as keyof typeof value]); // own members only: messages and JSON inherit none
  }
  return bytes;
}
