import { type DescEnum, ScalarType } from "@bufbuild/protobuf";

/**
 * Checks of single JSON values against ProtoJSON (requirements H-3, H-4, H-5, H-12). Each answers with what the value
 * must be, or undefined when it is fine. Answers never repeat the value: it is the caller's text.
 */
export type JsonCheck = (value: unknown) => string | undefined;

/** The check of one scalar type. */
export function scalarCheck(type: ScalarType): JsonCheck {
  switch (type) {
    case ScalarType.STRING:
      return checkString;
    case ScalarType.BOOL:
      return (value) => (typeof value === "boolean" ? undefined : "must be true or false");
    case ScalarType.BYTES:
      return checkBase64;
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return checkFloat;
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return integerCheck(-(2n ** 31n), 2n ** 31n - 1n, "a 32-bit integer");
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return integerCheck(0n, 2n ** 32n - 1n, "an unsigned 32-bit integer");
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return integerCheck(-(2n ** 63n), 2n ** 63n - 1n, "a 64-bit integer");
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return integerCheck(0n, 2n ** 64n - 1n, "an unsigned 64-bit integer");
  }
}

/** A name or a number of the enum; unknown ones are refused, although protobuf-es would drop or keep them (H-3). */
export function enumCheck(desc: DescEnum): JsonCheck {
  const names = new Set(desc.values.flatMap(({ name, jsonName }) => [name, jsonName]));
  return (value) => {
    const known = typeof value === "number" ? desc.value[value] !== undefined : names.has(value as string); // Set.has takes anything
    return known ? undefined : `must be a value of ${desc.name}`;
  };
}

/** RFC 3339 with 0 to 9 fraction digits and any offset, years 0001 to 9999. */
export function checkTimestamp(value: unknown): string | undefined {
  const problem = "must be a timestamp such as 2026-01-31T12:00:00.000Z";
  const match =
    typeof value === "string"
      ? /^(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d:\d\d)(?:\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.exec(value)
      : null;
  if (match === null) {
    return problem;
  }
  const [, year, month, day, time, offset] = match;
  const ms = Date.parse(`${year}-${month}-${day}T${time}${offset}`);
  // Date.parse turns 30 February into 1 March, and years outside protobuf's range are dates to it.
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  const inRange = ms >= earliestMs && ms <= latestMs;
  return inRange && (Number(year) < 100 || Number(day) <= days) ? undefined : problem;
}

/** Range of google.protobuf.Timestamp: 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z. */
const earliestMs = Date.parse("0001-01-01T00:00:00Z");
const latestMs = Date.parse("9999-12-31T23:59:59Z");

function checkString(value: unknown): string | undefined {
  if (typeof value !== "string") {
    return "must be a string";
  }
  return value.isWellFormed() ? undefined : "must be valid Unicode";
}

/** Standard or URL-safe alphabet, padded or not (H-5). */
function checkBase64(value: unknown): string | undefined {
  const problem = "must be a base64 string";
  if (typeof value !== "string") {
    return problem;
  }
  // Searching for the first other character takes no backtracking, whose stack a body of some megabytes would fill.
  const end = value.search(/[^A-Za-z0-9+/_-]/);
  const digits = end === -1 ? value.length : end;
  const padding = value.slice(digits, digits + 3);
  const complete =
    padding === "" ? digits % 4 !== 1 : digits % 4 === 4 - padding.length && /^={1,2}$/.test(padding);
  return complete ? undefined : problem;
}

function checkFloat(value: unknown): string | undefined {
  const fine =
    typeof value === "string"
      ? /^(?:NaN|-?Infinity|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)$/.test(value)
      : typeof value === "number" && Number.isFinite(value);
  return fine ? undefined : "must be a number";
}

/** Integers come as numbers or as decimal strings (H-12). */
function integerCheck(min: bigint, max: bigint, what: string): JsonCheck {
  const problem = `must be ${what}`;
  return (value) => {
    const integer = toInteger(value);
    return integer !== undefined && integer >= min && integer <= max ? undefined : problem;
  };
}

function toInteger(value: unknown): bigint | undefined {
  if (typeof value === "number") {
    return Number.isInteger(value) ? BigInt(value) : undefined;
  }
  return typeof value === "string" && /^-?\d{1,20}$/.test(value) ? BigInt(value) : undefined;
}
