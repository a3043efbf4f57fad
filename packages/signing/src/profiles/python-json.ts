import type { JsonValue } from "@bufbuild/protobuf";

/**
 * JSON as `json.dumps(value, separators=(",", ":"), sort_keys=True)` of Python writes it, when every number is a float, as those
 * of a Struct are: names in the order of their code points, everything but printable ASCII escaped, `1.0`, `1e-07`.
 */
export function writePythonJson(json: JsonValue): string {
  if (typeof json === "number") {
    return writeFloat(json);
  }
  if (typeof json === "string") {
    return writeText(json);
  }
  if (typeof json !== "object" || json === null) {
    return String(json);
  }
  if (Array.isArray(json)) {
    return `[${json.map(writePythonJson).join(",")}]`;
  }
  const members = Object.entries(json).sort(([one], [other]) => compareCodePoints(one, other));
  return `{${members.map(([name, value]) => `${writeText(name)}:${writePythonJson(value)}`).join(",")}}`;
}

function writeText(text: string): string {
  return JSON.stringify(text).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** `repr` of a float: the same digits as ECMAScript's, with an exponent below 1e-4 and from 1e16 on. */
function writeFloat(value: number): string {
  if (Object.is(value, -0)) {
    return "-0.0";
  }
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) {
    const [digits, exponent = ""] = value.toExponential().split("e");
    return `${digits}e${exponent.replace(/^([+-])(\d)$/, "$10$2")}`;
  }
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

/** UTF-16 has astral characters before U+E000 to U+FFFF, code points have them after. */
function compareCodePoints(one: string, other: string): number {
  const [left, right] = [Array.from(one), Array.from(other)];
  for (const [index, character] of left.entries()) {
    const difference = (character.codePointAt(0) ?? 0) - (right[index]?.codePointAt(0) ?? -1);
    if (difference !== 0) {
      return difference;
    }
  }
  return left.length - right.length;
}
