import type { Message } from "@a2a-connect/proto";

/** What an object takes in memory besides what it refers to, about. */
const objectBytes = 64;

/** What a message takes in memory, about, in bytes: a megabyte of small values is a hundred of objects. */
export function weighMessage(message: Message): number {
  return weigh(message);
}

/** Messages are as deep as their JSON may be, and no deeper. */
function weigh(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  if (value instanceof Uint8Array) return objectBytes + value.byteLength;
  let bytes = objectBytes;
  if (Array.isArray(value)) {
    for (const element of value) bytes += weigh(element);
    return bytes;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const name in members) {
    if (name !== "$typeName" && name !== "case") bytes += name.length + weigh(members[name]);
  }
  return bytes;
}
