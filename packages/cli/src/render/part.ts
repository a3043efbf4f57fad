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

async function renderPart(output: Output, { content, filename, mediaType, metadata }: Part): Promise<void> {
  const isFile = content.case === "raw" || content.case === "url";
  if (output.verbose && !isFile) {
    if (filename !== "") await output.field("Part Name", filename);
    if (mediaType !== "") await output.field("Part Media Type", mediaType);
  }
  switch (content.case) {
    case "text":
      await output.block("Text", content.value);
      break;
    case "data":
      await output.block("Data", formatJson(toJson(ValueSchema, content.value)));
      break;
    case "raw":
    case "url": {
      const size =
        content.case === "raw" ? `${content.value.byteLength} bytes` : `size unknown, at ${content.value}`;
      await output.field("File", [filename || "unnamed", mediaType || "type unknown", size].join(", "));
      break;
    }
    case undefined:
      await output.field("Part", "empty, or of a kind that this version does not know");
      break;
  }
  if (output.verbose && metadata !== undefined) await output.block("Part Metadata", formatJson(metadata));
}

/** JSON for people. */
export function formatJson(value: JsonValue): string {
  return JSON.stringify(value, undefined, 2);
}
