import type { Message, Part } from "@a2a-connect/proto";
import { toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { compareText } from "./fact.ts";
import { BatchError, createRoom, parseTranscript, type Transcript } from "./transcript.ts";

const maxTranscripts = 1_000;

/** Of all files together: JSON is parsed at once, and other calls wait meanwhile. */
const maxFileBytes = 2_000_000;

/**
 * The transcripts in a message: data parts with one transcript, a list of them or `{ transcripts: […] }`, and JSON files
 * with the same, in any number and order.
 *
 * @returns oldest first, whatever the order they came in
 * @throws BatchError with the first thing that is wrong
 */
export function readBatch({ parts }: Message): readonly Transcript[] {
  checkFiles(parts);
  const values = parts.flatMap((part, index) => listTranscripts(readPart(part, `part ${index + 1}`)));
  if (values.length === 0 || values.length > maxTranscripts) {
    throw new BatchError(`A batch has 1 to ${maxTranscripts} transcripts, in data parts or JSON files.`);
  }
  const room = createRoom();
  const transcripts = values.map((value, index) => parseTranscript(value, `transcripts[${index}]`, room));
  const ids = new Set<string>();
  for (const { id } of transcripts) {
    if (ids.has(id)) {
      throw new BatchError(`There are two transcripts "${id}".`);
    }
    ids.add(id);
  }
  return transcripts.toSorted(
    (one, other) => compareText(one.startedAt, other.startedAt) || compareText(one.id, other.id),
  );
}

function checkFiles(parts: readonly Part[]): void {
  let bytes = 0;
  for (const [index, { content, filename }] of parts.entries()) {
    bytes += content.case === "raw" ? content.value.length : 0;
    if (bytes > maxFileBytes) {
      const name = filename || `part ${index + 1}`;
      throw new BatchError(
        `"${name}" is beyond the ${maxFileBytes} bytes that all files of a message have together.`,
      );
    }
  }
}

/** Words beside the transcripts ("please consolidate these") say nothing new. */
function readPart({ content, filename }: Part, where: string): unknown {
  switch (content.case) {
    case "data":
      return toJson(ValueSchema, content.value);
    case "raw":
      return parseFile(content.value, filename || where);
    case "url":
      throw new BatchError(`${where} is an address: send the file itself.`);
    case "text":
    case undefined:
      return [];
  }
}

function parseFile(bytes: Uint8Array, name: string): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new BatchError(`"${name}" is not JSON in UTF-8.`);
  }
}

function listTranscripts(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) {
    return value;
  }
  const inner =
    typeof value === "object" && value !== null && "transcripts" in value ? value.transcripts : value;
  return Array.isArray(inner) ? inner : [inner];
}
