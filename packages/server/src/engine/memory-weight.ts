import {
  bytesBeyondUtf8,
  containerValues,
  isObject,
  type JsonSize,
  sizeOfJson,
  sizeOfValue,
  type TaskStep,
  TextSizes,
} from "@a2a-connect/core/internal";
import type { Artifact, Message } from "@a2a-connect/proto";
import type { Value } from "@bufbuild/protobuf/wkt";
import type { CallDetails } from "./command.ts";

// What is weighed, and for which limit:
//
// | of | by | for |
// | --- | --- | --- |
// | a message and its details in memory | `weighMessage`, `weighDetails` | `maxActiveBytes` |
// | what an agent puts out, at least, before anything is made of it | `assertMessage`, `assertArtifact` | `maxTaskBytes` |
// | an entry of the log, and the event in it | `weighStep` | `maxTaskBytes`, `maxTailBytes` |
// | a record of a journal | `weighRecord` | `maxTaskBytes`, `maxActiveBytes` |
// | a task in memory, by its entries | `LiveTask.bytes` | `maxActiveBytes`, and the memory of a read |
//
// `isLarge` of core decides by about the encoded bytes whether something takes turns.

/** Memory of an object besides what it refers to, about, in bytes. */
export const objectBytes: number = 64;

/** Memory of a value of JSON besides its text, and of a part, about, in bytes: protobuf-es makes two objects of it. */
export const valueBytes: number = 2 * objectBytes;

/** The same of an object or a list. */
export const containerBytes: number = (1 + containerValues) * valueBytes;

/** Memory of a task besides what it contains, about, in bytes: its objects, and those of its execution. */
export const taskBytes: number = 8 * 1024;

/** Memory of a call that waits besides its message, about, in bytes: its stream, header and contexts. */
export const callBytes: number = 12 * 1024;

/** Memory of a step, a sleep or a take of the inbox that is not over, about, in bytes: its promises and what they keep. */
export const operationBytes: number = 4 * 1024;

/** How much of the memory of one task, and of that of all tasks, they may take. */
export const operationsPart: number = 1 / 2;

/**
 * What a message takes in memory, about, in bytes: a megabyte of small values is a hundred of objects. The limit on the depth of
 * JSON bounds the recursion.
 */
export function weighMessage(value: unknown): number {
  return weigh(value, new TextSizes());
}

function weigh(value: unknown, texts: TextSizes): number {
  if (typeof value === "string") return texts.bytesOf(value);
  if (typeof value !== "object" || value === null) return 0;
  if (value instanceof Uint8Array) return objectBytes + value.byteLength;
  let bytes = objectBytes;
  if (Array.isArray(value)) {
    for (const element of value)
      bytes += (typeof element === "string" ? valueBytes : 0) + weigh(element, texts);
    return bytes;
  }
  const members = value as Readonly<Record<string, unknown>>;
  if (members["$typeName"] === "google.protobuf.Value") return weighJson(sizeOfValue(value as Value));
  for (const name in members) {
    const member = members[name];
    if (name === "metadata" && isObject(member)) bytes += weighJson(sizeOfJson(member));
    else if (name !== "$typeName" && name !== "case") bytes += name.length + weigh(member, texts);
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

/** What content takes in memory, about, in bytes. */
export interface ContentWeight {
  /** All of it: its encoded bytes, its values and parts, and what its texts take beyond their bytes. */
  readonly weight: number;
  /** What its texts take beyond their bytes. */
  readonly wide: number;
}

/** @param bytes of the encoded step or event */
export function weighStep(step: TaskStep, bytes: number): ContentWeight {
  switch (step.case) {
    case "task":
      return weighAll([...step.value.history, ...step.value.artifacts], bytes, step.value);
    case "statusUpdate":
      return weighAll([step.value.status?.message], bytes, step.value);
    case "artifactUpdate":
      return weighAll([step.value.artifact], bytes, step.value);
    case "input":
    case "message":
      return weighAll([step.value], bytes);
    case undefined:
      return { weight: bytes, wide: 0 };
  }
}

/** @param bytes of the encoded message or artifact */
export function weighContent(of: Message | Artifact, bytes: number): ContentWeight {
  return weighAll([of], bytes);
}

interface Holder {
  readonly metadata?: object | undefined;
}

/** @param holder what has them, and metadata of its own */
function weighAll(
  all: readonly (Message | Artifact | undefined)[],
  bytes: number,
  holder?: Holder,
): ContentWeight {
  const size = { values: 0, wide: 0 };
  const sizes = new TextSizes();
  const add = ({ values, wide }: JsonSize): void => {
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
    size.values += each.parts.length;
    for (const part of each.parts) {
      addMetadata(part);
      const { content } = part;
      if (content.case === "data") add(sizeOfValue(content.value));
      else if (typeof content.value === "string") size.wide += sizes.beyondUtf8(content.value);
      size.wide += bytesBeyondUtf8(part.filename);
    }
  }
  return { weight: bytes + size.wide + size.values * valueBytes, wide: size.wide };
}
