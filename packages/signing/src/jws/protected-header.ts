import { defaultMaxDepth, scanJson } from "@a2a-connect/core/internal";
import type { JsonObject } from "@bufbuild/protobuf";
import { isObject } from "../canonical/json-members.ts";
import { decodeBase64url } from "./base64url.ts";

/** A protected header, or what is wrong with it: the rest of a sentence about it, without a full stop. */
export type ProtectedHeader =
  | { readonly ok: true; readonly header: JsonObject }
  | { readonly ok: false; readonly problem: string };

/** Longest protected header that is read, in characters of its base64url. */
export const maxProtectedLength = 32_768;

/**
 * Read the `protected` member of a signature (RFC 7515 §5.2, steps 2 to 4): strict base64url of strict UTF-8 of a JSON object in
 * which no name occurs twice, in whatever depth. Never throws. What the members mean is another question.
 */
export function readProtectedHeader(text: string): ProtectedHeader {
  if (text.length > maxProtectedLength) {
    return refused(`is longer than ${maxProtectedLength} characters`);
  }
  const bytes = decodeBase64url(text);
  if (bytes === undefined) {
    return refused("is not base64url without padding");
  }
  const json = decode(bytes);
  if (json === undefined) {
    return refused("is not UTF-8");
  }
  const defect = scanJson(json, { maxDepth: defaultMaxDepth, duplicates: "everywhere" });
  if (defect?.kind === "too-deep") {
    return refused(`is nested deeper than ${defaultMaxDepth} levels`);
  }
  const value = parse(json);
  if (value === undefined) {
    return refused("is not JSON");
  }
  if (defect?.kind === "duplicate-member") {
    return refused("has a member twice");
  }
  return isObject(value) ? { ok: true, header: value } : refused("is no JSON object");
}

function refused(problem: string): ProtectedHeader {
  return { ok: false, problem };
}

/** A byte order mark is kept, so that it is refused: RFC 7515 has no place for one. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
