import { isObject } from "@a2a-connect/core/internal";
import type { JsonObject } from "@bufbuild/protobuf";
import { readStrictJson } from "../canonical/json.ts";
import { decodeBase64url } from "./base64url.ts";

/** Longest protected header that is read, in characters of its base64url. */
export const maxProtectedLength = 32_768;

/** A byte order mark is kept, so that it is refused: RFC 7515 has no place for one. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads the `protected` member of a signature (RFC 7515 §5.2, steps 2 to 4): strict base64url of strict UTF-8 of a JSON object in
 * which no name occurs twice, at any depth. Never throws. What the members mean is another question.
 *
 * @returns when it is none, the rest of a sentence about it, without a full stop
 */
export function readProtectedHeader(text: string): JsonObject | string {
  if (text.length > maxProtectedLength) return `is longer than ${maxProtectedLength} characters`;
  const bytes = decodeBase64url(text);
  if (bytes === undefined) return "is not base64url without padding";
  const json = decode(bytes);
  if (json === undefined) return "is not UTF-8";
  const read = readStrictJson(json);
  if (read.fault !== undefined) return read.problem;
  return isObject(read.json) ? read.json : "is no JSON object";
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
