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

/** The order of code points, found in the UTF-16 of texts without lone surrogates. */
function compareCodePoints(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index += 1) {
    const [left, right] = [one.charCodeAt(index), other.charCodeAt(index)];
    if (left !== right) return rankOf(left) - rankOf(right);
  }
  return one.length - other.length;
}

/** UTF-16 has astral characters, which begin with a surrogate, before U+E000 to U+FFFF. Code points have them after. */
function rankOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
