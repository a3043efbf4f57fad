import type { Part } from "@a2a-connect/proto";
import { type JsonValue, toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { Output } from "../output.ts";

/**
 * Text of the parts of a message or an artifact, none left out (a2a-cli §10.2): text as it is, data as indented JSON,
 * files as one line with name, media type and size.
 */
export async function renderParts(output: Output, parts: readonly Part[]): Promise<void> {
  for (const part of parts) await renderPart(output, part);
}

/** Chunks of text, one after the other as they were streamed, as the one text that they are. */
export function joinText(parts: readonly Part[]): readonly Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const before = joined.at(-1);
    if (before?.content.case === "text" && part.content.case === "text" && isContinued(before, part)) {
      const value = before.content.value + part.content.value;
      joined[joined.length - 1] = { ...before, content: { case: "text", value } };
    } else {
      joined.push(part);
    }
  }
  return joined;
}

function isContinued(before: Part, part: Part): boolean {
  return (
    before.metadata === undefined &&
    part.metadata === undefined &&
    before.filename === part.filename &&
    before.mediaType === part.mediaType
  );
}

async function renderPart(output: Output, part: Part): Promise<void> {
  const { content, filename, mediaType, metadata } = part;
  if (output.verbose) await renderDetails(output, part);
  switch (content.case) {
    case "text":
      await output.block("Text", content.value);
      break;
    case "data":
      await output.block("Data", formatJson(toJson(ValueSchema, content.value)));
      break;
    case "raw":
      await output.field("File", describeFile(filename, mediaType, `${content.value.byteLength} bytes`));
      break;
    case "url":
      await output.field("File", describeFile(filename, mediaType, `size unknown, at ${content.value}`));
      break;
    case undefined:
      await output.field("Part", "empty, or of a kind that this version does not know");
      break;
  }
  if (output.verbose && metadata !== undefined) await output.block("Part Metadata", formatJson(metadata));
}

/** Name and type of what is no file; files have theirs on their line. */
async function renderDetails(output: Output, { content, filename, mediaType }: Part): Promise<void> {
  if (content.case !== "raw" && content.case !== "url") {
    await output.field("Part Name", filename === "" ? undefined : filename);
    await output.field("Part Media Type", mediaType === "" ? undefined : mediaType);
  }
}

function describeFile(filename: string, mediaType: string, size: string): string {
  return [filename || "unnamed", mediaType || "type unknown", size].join(", ");
}

/** JSON for people. */
export function formatJson(value: JsonValue): string {
  return JSON.stringify(value, undefined, 2);
}
