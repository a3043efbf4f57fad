import { isObject, type JsonSize, sizeOfJson, sizeOfValue, type TaskStep } from "@a2a-connect/core/internal";
import type { Artifact, Message } from "@a2a-connect/proto";
import type { Value } from "@bufbuild/protobuf/wkt";
import type { CallDetails } from "./command.ts";

// What is weighed, and for which limit:
//
// | of | by | for |
// | --- | --- | --- |
// | a message and its details in memory | `weighMessage`, `weighDetails` | `maxActiveBytes` |
// | an entry of the log | `weighStep` | `maxTaskBytes` |
// | a task in memory | `LiveTask.bytes` | `maxActiveBytes`, and the memory of a read |
//
// `isLarge` of core decides by about the encoded bytes whether something takes turns.

/** Memory of an object besides what it refers to, about, in bytes. */
export const objectBytes: number = 64;

/** Memory of a value of JSON besides its text, about, in bytes: protobuf-es makes two objects of it. */
export const valueBytes: number = 2 * objectBytes;

/** What a value of a data part or of metadata adds to the bytes of a task: in memory it takes much more than encoded. */
const valueWeight = 32;

/** The same for a part, which may have 2 bytes: protobuf-es makes two objects of it, too. */
const partWeight = 2 * objectBytes;

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
  if (members["$typeName"] === "google.protobuf.Value") return weighJson(sizeOfValue(value as Value));
  for (const name in members) {
    const member = members[name];
    if (name === "metadata" && isObject(member)) bytes += weighJson(sizeOfJson(member));
    else if (name !== "$typeName" && name !== "case") bytes += name.length + weighMessage(member);
  }
  return bytes;
}

/** The same of what came with a message and is no part of it. */
export function weighDetails({
  metadata,
  acceptedOutputModes = [],
  extensions = [],
  caller,
}: CallDetails): number {
  const texts = [...acceptedOutputModes, ...extensions].reduce(
    (sum, text) => sum + objectBytes + text.length,
    0,
  );
  return texts + weighMessage(caller) + (metadata === undefined ? 0 : weighJson(sizeOfJson(metadata)));
}

function weighJson({ values, texts }: JsonSize): number {
  return values * valueBytes + texts;
}

/** What a step adds to the weight of its task: its encoded bytes, and some for each part and each value of its data. */
export function weighStep(step: TaskStep | { readonly case: undefined }, bytes: number): number {
  switch (step.case) {
    case "task":
      return (
        bytes +
        weighMetadata(step.value) +
        weighValues(step.value.history) +
        weighValues(step.value.artifacts)
      );
    case "statusUpdate":
      return bytes + weighMetadata(step.value) + weighValues([step.value.status?.message]);
    case "artifactUpdate":
      return bytes + weighMetadata(step.value) + weighValues([step.value.artifact]);
    case "input":
      return bytes + weighValues([step.value]);
    default:
      return bytes;
  }
}

/** How many values of data and metadata the messages of a step have. */
export function countStepValues(step: TaskStep): number {
  switch (step.case) {
    case "task":
      return countValues(step.value.history);
    case "statusUpdate":
      return countValues([step.value.status?.message]);
    case "input":
      return countValues([step.value]);
    default:
      return 0;
  }
}

/** What the parts and values of messages or artifacts add to their bytes. */
export function weighValues(all: readonly (Message | Artifact | undefined)[]): number {
  const parts = all.reduce((sum, each) => sum + (each?.parts.length ?? 0), 0);
  return parts * partWeight + countValues(all) * valueWeight;
}

/** How many values of data and metadata there are in messages or artifacts. */
export function countValues(all: readonly (Message | Artifact | undefined)[]): number {
  let values = 0;
  for (const each of all) {
    if (each === undefined) continue;
    values += countMetadata(each);
    for (const part of each.parts) {
      values += countMetadata(part);
      if (part.content.case === "data") values += sizeOfValue(part.content.value).values;
    }
  }
  return values;
}

/** What the values of a step take in memory. @param weight of the step, by `weighStep`, without its bytes */
export function memoryOfStepValues(step: TaskStep | { readonly case: undefined }, weight: number): number {
  return ((weight - countParts(step) * partWeight) / valueWeight) * valueBytes;
}

function countParts(step: TaskStep | { readonly case: undefined }): number {
  switch (step.case) {
    case "task":
      return partsOf(step.value.history) + partsOf(step.value.artifacts);
    case "statusUpdate":
      return step.value.status?.message?.parts.length ?? 0;
    case "artifactUpdate":
      return step.value.artifact?.parts.length ?? 0;
    case "input":
      return step.value.parts.length;
    default:
      return 0;
  }
}

function partsOf(all: readonly (Message | Artifact)[]): number {
  return all.reduce((sum, { parts }) => sum + parts.length, 0);
}

/** What so many values take in memory beyond what they add to the weight of their task. */
export function memoryOfValues(values: number): number {
  return values * (valueBytes - valueWeight);
}

function weighMetadata(holder: { readonly metadata?: object | undefined }): number {
  return countMetadata(holder) * valueWeight;
}

function countMetadata({ metadata }: { readonly metadata?: object | undefined }): number {
  return metadata === undefined ? 0 : sizeOfJson(metadata).values;
}
