import { isObject, parseBase64 } from "@a2a-connect/core/internal";
import type { JsonObject } from "@bufbuild/protobuf";
import { readStrictJson } from "../canonical/json.ts";

/** Groups of four characters, and at the end two or three of which the last one has no bits that no byte has. */
const strict = /^(?:[\w-]{4})*(?:[\w-][AQgw]|[\w-]{2}[AEIMQUYcgkosw048])?$/;

/**
 * Base64url as JWS wants it (RFC 7515 §2, RFC 4648 §5): without padding, line breaks or blanks, and with one spelling for
 * each sequence of bytes. jose takes more.
 *
 * @returns undefined when it is anything else: other characters, padding, a length that no bytes have, or bits at the end that
 * are not zero
 */
export function decodeBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  return strict.test(text) ? parseBase64(text) : undefined;
}

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
  const json = decodeUtf8(bytes);
  if (json === undefined) return "is not UTF-8";
  const read = readStrictJson(json);
  if (read.fault !== undefined) return read.problem;
  return isObject(read.json) ? read.json : "is not a JSON object";
}

/** The text of strict UTF-8; undefined for other bytes. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
