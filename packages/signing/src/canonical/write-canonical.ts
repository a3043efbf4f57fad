import { formatFieldPath } from "@a2a-connect/core/internal";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { CardTextError } from "./read-card-text.ts";

/**
 * JSON in the one form of RFC 8785: names in the order of their UTF-16 code units, numbers as ECMAScript writes them, no
 * escape and no space that need not be. Ours, because every card that is verified goes through it, and the package for it
 * takes three times as long; the tests compare the two.
 *
 * @throws CardTextError when it holds what RFC 8785 has no form for: a lone surrogate, a number beyond a double
 */
export function writeCanonical(json: JsonValue): string {
  // JSON.stringify writes scalars as RFC 8785 wants them (§3.2.2), but for what it has no form for.
  const text = write(json);
  if (text === undefined) {
    throw findFault(json, []) ?? new TypeError("this is no JSON value");
  }
  return text;
}

/** The text, or undefined when there is none for something in it. */
function write(json: JsonValue | undefined): string | undefined {
  switch (typeof json) {
    case "string":
      return writeText(json);
    case "number":
      return Number.isFinite(json) ? JSON.stringify(json) : undefined;
    case "object":
      return json === null ? "null" : Array.isArray(json) ? writeArray(json) : writeObject(json);
    default:
      return JSON.stringify(json);
  }
}

/** Quote, backslash and control characters, which are escaped (RFC 8785 §3.2.2.2), and surrogates, which may be alone. */
const special = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

function writeText(text: string): string | undefined {
  if (!special.test(text)) {
    return `"${text}"`;
  }
  return text.isWellFormed() ? JSON.stringify(text) : undefined;
}

function writeArray(elements: readonly JsonValue[]): string | undefined {
  let text = "";
  for (const element of elements) {
    const written = write(element);
    if (written === undefined) {
      return undefined;
    }
    text += text === "" ? written : `,${written}`;
  }
  return `[${text}]`;
}

function writeObject(object: JsonObject): string | undefined {
  let text = "";
  for (const name of Object.keys(object).sort()) {
    const writtenName = writeText(name);
    const written = write(object[name]);
    if (writtenName === undefined || written === undefined) {
      return undefined;
    }
    text += `${text === "" ? "" : ","}${writtenName}:${written}`;
  }
  return `{${text}}`;
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
