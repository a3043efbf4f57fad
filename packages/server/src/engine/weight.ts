import type { TaskStep } from "@a2a-connect/core/internal";
import type { Artifact, Message } from "@a2a-connect/proto";
import type { Value } from "@bufbuild/protobuf/wkt";

/** Memory of an object besides what it refers to, about, in bytes. */
const objectBytes = 64;

/** Memory of a value of JSON besides its text, about, in bytes: protobuf-es makes two objects of it. */
export const valueBytes: number = 2 * objectBytes;

/**
 * What a message takes in memory, about, in bytes: a megabyte of small values is a hundred of objects. The limit on the depth of
 * JSON bounds the recursion.
 */
export function weighMessage(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  if (value instanceof Uint8Array) return objectBytes + value.byteLength;
  let bytes = objectBytes;
  if (Array.isArray(value)) {
    for (const element of value) bytes += weighMessage(element);
    return bytes;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const name in members) {
    if (name !== "$typeName" && name !== "case") bytes += name.length + weighMessage(members[name]);
  }
  return bytes;
}

/** What a value of a data part or of metadata adds to the bytes of a task: in memory it takes much more than encoded. */
const valueWeight = 32;

/** What a step adds to the weight of its task: its encoded bytes, and some for each value of its data. */
export function weighStep(step: TaskStep | { readonly case: undefined }, bytes: number): number {
  switch (step.case) {
    case "task":
      return bytes + weighValues(step.value.history) + weighValues(step.value.artifacts);
    case "statusUpdate":
      return bytes + weighValues([step.value.status?.message]);
    case "artifactUpdate":
      return bytes + weighValues([step.value.artifact]);
    case "input":
      return bytes + weighValues([step.value]);
    default:
      return bytes;
  }
}

/** What the values of messages or artifacts add to their bytes. */
export function weighValues(all: readonly (Message | Artifact | undefined)[]): number {
  let values = 0;
  for (const each of all) {
    if (each === undefined) continue;
    values += countJson(each.metadata);
    for (const { content, metadata } of each.parts) {
      values += countJson(metadata) + (content.case === "data" ? countValue(content.value) : 0);
    }
  }
  return values * valueWeight;
}

function countJson(json: unknown): number {
  if (json === undefined) return 0;
  let values = 1;
  if (typeof json === "object" && json !== null) {
    for (const member of Object.values(json)) values += countJson(member);
  }
  return values;
}

function countValue({ kind }: Value): number {
  let values = 1;
  if (kind.case === "listValue") {
    for (const element of kind.value.values) values += countValue(element);
  } else if (kind.case === "structValue") {
    for (const member of Object.values(kind.value.fields)) values += countValue(member);
  }
  return values;
}
