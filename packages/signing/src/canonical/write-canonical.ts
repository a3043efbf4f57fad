import { formatFieldPath } from "@a2a-connect/core/internal";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { CardTextError } from "./unambiguous-text.ts";

/**
 * JSON in the one form of RFC 8785: names in the order of their UTF-16 code units, numbers as ECMAScript writes them, no
 * escape and no space that need not be. Ours, because every card that is verified goes through it, and the package for it
 * takes three times as long; the tests compare the two.
 *
 * @throws CardTextError when it holds what RFC 8785 has no form for: a lone surrogate, a number beyond a double
 */
export function writeCanonical(json: JsonValue): string {
  return write(json, []);
}

type Path = (string | number)[];

/** JSON.stringify writes scalars as RFC 8785 wants them (§3.2.2), but for what it has no form for. */
function write(json: JsonValue | undefined, path: Path): string {
  switch (typeof json) {
    case "string":
      return writeText(json, "text of", path);
    case "number":
      if (!Number.isFinite(json)) {
        const where = formatFieldPath(path);
        throw new CardTextError("number-out-of-range", `the number ${where} is out of range`, where);
      }
      return String(json);
    case "boolean":
      return String(json);
    case "object":
      return json === null ? "null" : Array.isArray(json) ? writeArray(json, path) : writeObject(json, path);
    default:
      throw new TypeError("this is not a JSON value");
  }
}

/** Quote, backslash and control characters, which are escaped (RFC 8785 §3.2.2.2), and surrogates, which may be alone. */
const special = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

function writeText(text: string, what: "text of" | "name", path: Path): string {
  if (!special.test(text)) return `"${text}"`;
  if (text.isWellFormed()) return JSON.stringify(text);
  const where = formatFieldPath(path);
  throw new CardTextError("lone-surrogate", `the ${what} ${where} is not valid Unicode`, where);
}

function writeArray(elements: readonly JsonValue[], path: Path): string {
  let text = "";
  for (const [index, element] of elements.entries()) {
    path.push(index);
    text += `${index === 0 ? "" : ","}${write(element, path)}`;
    path.pop();
  }
  return `[${text}]`;
}

function writeObject(object: JsonObject, path: Path): string {
  let text = "";
  for (const name of Object.keys(object).sort()) {
    path.push(name);
    text += `${text === "" ? "" : ","}${writeText(name, "name", path)}:${write(object[name], path)}`;
    path.pop();
  }
  return `{${text}}`;
}
