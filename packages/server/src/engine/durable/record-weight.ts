import { textBytes } from "@a2a-connect/core/internal";

/** Memory of a number or a place in a list, about, in bytes, as measured with V8; so are those below. */
const slotBytes = 8;

/** Of a text besides its characters. */
const textOverhead = 32;

/** Of a list besides its places. */
const listBytes = 48;

/** Of an object besides its members, */
const objectBytes = 96;

/** and of each member, which may get a hidden class of its own. */
const memberBytes = 48;

/** Of the record, which always has the same few members, and its place in the journal. */
const recordBytes = 128;

/** Of a map, a set, a date, an object without a prototype, and the like. */
const otherBytes = 192;

/**
 * What a record takes in memory, about, in bytes, without its messages: up to ten times what is stored of it.
 *
 * @param values as devalue stores them: each value once, the record first, and in lists and objects the places of other values
 */
export function weighRecord(values: readonly unknown[]): number {
  return values.reduce<number>((sum, value, at) => sum + (at === 0 ? recordBytes : weighValue(value)), 0);
}

/** The same of a remembered number, before it is stored. */
export function weighRemembered(op: string): number {
  return recordBytes + weighValue(op) + weighValue("remembered") + 2 * weighValue(0);
}

function weighValue(value: unknown): number {
  if (typeof value === "string") return textOverhead + textBytes(value);
  if (typeof value !== "object" || value === null) return 2 * slotBytes;
  if (Array.isArray(value))
    return typeof value[0] === "string" ? weighOther(value) : listBytes + slotBytes * value.length;
  let bytes = objectBytes;
  for (const name in value) bytes += memberBytes + textBytes(name);
  return bytes;
}

/** @param parts the name of its class, and what it is made of: places, and texts, such as bytes in base64 */
function weighOther(parts: readonly unknown[]): number {
  return parts.reduce<number>(
    (sum, part) => sum + slotBytes + (typeof part === "string" ? textBytes(part) : 0),
    otherBytes,
  );
}
