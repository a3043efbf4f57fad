import { formatFieldPath } from "@a2a-connect/core";
import type { JsonValue } from "@bufbuild/protobuf";
import canonicalize from "canonicalize";
import { CardTextError } from "./card-text-error.ts";

/**
 * JSON in the one form of RFC 8785: names in the order of their UTF-16 code units, numbers as ECMAScript writes them, no
 * escape and no space that need not be.
 *
 * @throws CardTextError when it holds what RFC 8785 has no form for: a lone surrogate, a number beyond a double
 */
export function writeCanonical(json: JsonValue): string {
  try {
    return canonicalize(json) as string; // undefined only for what is not JSON
  } catch (error) {
    throw findFault(json, []) ?? error;
  }
}

/** Where the text or number stands that has no form. Only asked when there is one: looking costs more than writing. */
function findFault(json: JsonValue, path: (string | number)[]): CardTextError | undefined {
  if (typeof json === "string" && !json.isWellFormed()) {
    const where = formatFieldPath(path);
    return new CardTextError("lone-surrogate", `the text of ${where} is not valid Unicode`, where);
  }
  if (typeof json === "number" && !Number.isFinite(json)) {
    const where = formatFieldPath(path);
    return new CardTextError("number-out-of-range", `the number ${where} is out of range`, where);
  }
  if (typeof json !== "object" || json === null) {
    return undefined;
  }
  for (const [name, value] of Object.entries(json)) {
    path.push(Array.isArray(json) ? Number(name) : name);
    if (!name.isWellFormed()) {
      const where = formatFieldPath(path);
      return new CardTextError("lone-surrogate", `the name ${where} is not valid Unicode`, where);
    }
    const fault = findFault(value, path);
    if (fault !== undefined) {
      return fault;
    }
    path.pop();
  }
  return undefined;
}
