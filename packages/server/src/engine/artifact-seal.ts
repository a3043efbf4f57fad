import { lifecycleExtension } from "@a2a-connect/core";
import type { Artifact, Part } from "@a2a-connect/proto";
import { type JsonObject, toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import canonicalize from "canonicalize";

/**
 * The metadata that seals an artifact: `size` in bytes and `sha256` in hex of its content. The content is the parts'
 * bytes one after the other: text and url as UTF-8, raw as it is, data as RFC 8785 JSON (docs/extensions/lifecycle.md).
 */
export async function sealArtifact(parts: readonly Part[], replaceable: boolean): Promise<JsonObject> {
  const content = joinBytes(parts.map(partBytes));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
  const sha256 = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
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

function joinBytes(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    joined.set(chunk, offset);
    offset += chunk.length;
  }
  return joined;
}

const utf8 = new TextEncoder();
