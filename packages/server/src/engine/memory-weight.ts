import {
  bytesBeyondUtf8,
  isObject,
  type JsonSize,
  sizeOfJson,
  sizeOfValue,
  type TaskStep,
  textBytes,
} from "@a2a-connect/core/internal";
import type { Artifact, Message } from "@a2a-connect/proto";
import type { Value } from "@bufbuild/protobuf/wkt";
import type { CallDetails } from "./command.ts";

// What is weighed, and for which limit:
//
// | of | by | for |
// | --- | --- | --- |
// | a message and its details in memory | `weighMessage`, `weighDetails` | `maxActiveBytes` |
// | an entry of the log | `weighStep` | `maxTaskBytes` |
// | a record of a journal | `weighRecord` | `maxActiveBytes`, and four times `maxTaskBytes` |
// | a task in memory | `LiveTask.bytes` | `maxActiveBytes`, and the memory of a read |
//
// `isLarge` of core decides by about the encoded bytes whether something takes turns.

/** Memory of an object besides what it refers to, about, in bytes. */
export const objectBytes: number = 64;

/** Memory of a value of JSON besides its text, about, in bytes: protobuf-es makes two objects of it. */
export const valueBytes: number = 2 * objectBytes;

/** Memory of a task besides what it contains, about, in bytes: its objects, and those of its execution. */
export const taskBytes: number = 8 * 1024;

/** Memory of a call that waits besides its message, about, in bytes: its stream, header and contexts. */
export const callBytes: number = 12 * 1024;

/** What a value of a data part or of metadata adds to the bytes of a task: in memory it takes much more than encoded. */
const valueWeight = 32;

/** The same for a part, which may have 2 bytes: protobuf-es makes two objects of it, too. */
const partWeight = 2 * objectBytes;

/**
 * What a message takes in memory, about, in bytes: a megabyte of small values is a hundred of objects. The limit on the depth of
 * JSON bounds the recursion.
 */
export function weighMessage(value: unknown): number {
  if (typeof value === "string") return textBytes(value);
  if (typeof value !== "object" || value === null) return 0;
  if (value instanceof Uint8Array) return objectBytes + value.byteLength;
  let bytes = objectBytes;
  if (Array.isArray(value)) {
    for (const element of value)
      bytes += (typeof element === "string" ? valueWeight : 0) + weighMessage(element);
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

/** What a step weighs, by what it has besides its encoded bytes. */
export interface StepWeight {
  /** What it adds to the weight of its task. */
  readonly weight: number;
  /** What it takes in memory beyond its encoded bytes: its values, and texts of two bytes a character. */
  readonly ownBytes: number;
  /** How many values of data and metadata it has, and texts in lists. */
  readonly values: number;
  /** What its texts take in memory beyond their bytes. */
  readonly wide: number;
}

/** @param bytes of the encoded step */
export function weighStep(step: TaskStep | { readonly case: undefined }, bytes: number): StepWeight {
  const { parts, values, wide } = sizeOfStep(step);
  return {
    weight: bytes + wide + parts * partWeight + values * valueWeight,
    ownBytes: wide + values * valueBytes,
    values,
    wide,
  };
}

function sizeOfStep(step: TaskStep | { readonly case: undefined }): Size {
  switch (step.case) {
    case "task":
      return sizeOf([...step.value.history, ...step.value.artifacts], step.value);
    case "statusUpdate":
      return sizeOf([step.value.status?.message], step.value);
    case "artifactUpdate":
      return sizeOf([step.value.artifact], step.value);
    case "input":
      return sizeOf([step.value]);
    default:
      return sizeOf([]);
  }
}

/** What the parts, values and texts of a message or an artifact add to its bytes; `wide` of it are what texts take beyond theirs. */
export function weighContent(of: Message | Artifact): { readonly weight: number; readonly wide: number } {
  const { parts, values, wide } = sizeOf([of]);
  return { weight: wide + parts * partWeight + values * valueWeight, wide };
}

/** How many values of data, metadata and lists of texts there are in messages or artifacts. */
export function countValues(all: readonly (Message | Artifact | undefined)[]): number {
  return sizeOf(all).values;
}

/** What messages or artifacts have besides their encoded bytes. */
interface Size {
  readonly parts: number;
  /** Of data, metadata and lists of texts. */
  readonly values: number;
  /** What texts take in memory beyond their bytes. */
  readonly wide: number;
}

interface Holder {
  readonly metadata?: object | undefined;
}

/** @param holder what has them, and metadata of its own */
function sizeOf(all: readonly (Message | Artifact | undefined)[], holder?: Holder): Size {
  const size = { parts: 0, values: 0, wide: 0 };
  const add = ({ values, wide }: Pick<Size, "values" | "wide">): void => {
    size.values += values;
    size.wide += wide;
  };
  const addMetadata = ({ metadata }: Holder): void => {
    if (metadata !== undefined) add(sizeOfJson(metadata));
  };
  if (holder !== undefined) addMetadata(holder);
  const addTexts = (texts: readonly string[]): void => {
    size.values += texts.length; // a megabyte of short ones takes several
    for (const text of texts) size.wide += bytesBeyondUtf8(text);
  };
  for (const each of all) {
    if (each === undefined) continue;
    addMetadata(each);
    addTexts(each.extensions);
    if ("referenceTaskIds" in each) addTexts(each.referenceTaskIds);
    else size.wide += bytesBeyondUtf8(each.name) + bytesBeyondUtf8(each.description);
    size.parts += each.parts.length;
    for (const part of each.parts) {
      addMetadata(part);
      const { content } = part;
      if (content.case === "data") add(sizeOfValue(content.value));
      else if (typeof content.value === "string") size.wide += bytesBeyondUtf8(content.value);
      size.wide += bytesBeyondUtf8(part.filename);
    }
  }
  return size;
}

/** What so many values take in memory beyond what they add to the weight of their task. */
export function memoryOfValues(values: number): number {
  return values * (valueBytes - valueWeight);
}
