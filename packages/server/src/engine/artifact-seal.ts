import { lifecycleExtension } from "@a2a-connect/core";
import { joinBytes, sha256Hex } from "@a2a-connect/core/internal";
import type { Artifact, Part } from "@a2a-connect/proto";
import { type JsonObject, toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import canonicalize from "canonicalize";

/**
 * The metadata that seals an artifact: `size` in bytes and `sha256` in hex of its content. The content is the parts'
 * bytes one after the other: text and url as UTF-8, raw as it is, data as RFC 8785 JSON (docs/extensions/lifecycle.md).
 */
export async function sealArtifact(parts: readonly Part[], replaceable: boolean): Promise<JsonObject> {
  const content = joinBytes(parts.map(partBytes)) as Uint8Array<ArrayBuffer>; // we make no shared memory
  const sha256 = await sha256Hex(content);
  return { [lifecycleExtension]: { size: content.length, sha256, ...(replaceable ? { replaceable } : {}) } };
}

/** `artifact` with more metadata. */
export function withMetadata(artifact: Artifact, metadata: JsonObject): Artifact {
  return { ...artifact, metadata: { ...artifact.metadata, ...metadata } };
}

function partBytes({ content }: Part): Uint8Array {
  switch (content.case) {
    case "raw":
      return content.value;
    case "text":
    case "url":
      return utf8.encode(content.value);
    case "data":
      return utf8.encode(canonicalize(toJson(ValueSchema, content.value)) ?? "");
    case undefined:
      return new Uint8Array();
  }
}

const utf8 = new TextEncoder();
