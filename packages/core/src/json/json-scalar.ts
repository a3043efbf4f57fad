import { type DescEnum, ScalarType } from "@bufbuild/protobuf";
import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";
import { parseBase64 } from "../base64.ts";
import { type FieldWalk, report } from "../field-walk.ts";
import { checkUnicode } from "./json-value.ts";

/**
 * Reads a JSON value at the walk's path by ProtoJSON (requirements H-3, H-4, H-5, H-12). It returns the field's value,
 * or undefined for a wrong value, which it reports. Reports never repeat the value: it is the caller's text.
 */
export type ScalarReader = (walk: FieldWalk, value: unknown) => unknown;

/** The reader of one scalar type. */
export function scalarReader(type: ScalarType): ScalarReader {
  switch (type) {
    case ScalarType.STRING:
      return readString;
    case ScalarType.BOOL:
      return orReport((value) => (typeof value === "boolean" ? value : undefined), "must be true or false");
    case ScalarType.BYTES:
      return orReport(readBase64, "must be a base64 string");
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return orReport(readFloat, "must be a number");
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return integerReader(-(2n ** 31n), 2n ** 31n - 1n, Number, "a 32-bit integer");
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return integerReader(0n, 2n ** 32n - 1n, Number, "an unsigned 32-bit integer");
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return integerReader(-(2n ** 63n), 2n ** 63n - 1n, BigInt, "a 64-bit integer");
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return integerReader(0n, 2n ** 64n - 1n, BigInt, "an unsigned 64-bit integer");
  }
}

/**
 * Reads a name or a number of the enum. It refuses unknown ones (H-3). A lenient walk keeps unknown numbers, and leaves
 * unknown names out, as protobuf-es does.
 */
export function enumReader(desc: DescEnum): ScalarReader {
  const numbers = new Map<unknown, number>(
    desc.values.flatMap(({ name, jsonName, number }) => [
      [name, number],
      [jsonName, number],
      [number, number],
    ]),
  );
  const read = orReport((value) => numbers.get(value), `must be a value of ${desc.name}`);
  return (walk, value) => {
    if (walk.isLenient && !numbers.has(value)) {
      if (typeof value === "string") {
        return undefined;
      }
      if (value === (Number(value) | 0)) {
        return value;
      }
    }
    return read(walk, value);
  };
}

/** RFC 3339 with 0 to 9 fraction digits and any offset, years 0001 to 9999. */
export const readTimestamp: ScalarReader = orReport(
  parseTimestamp,
  "must be a timestamp such as 2026-01-31T12:00:00.000Z",
);

function parseTimestamp(value: unknown): Timestamp | undefined {
  const match =
    typeof value === "string"
      ? /^(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/.exec(value)
      : null;
  if (match === null) {
    return undefined;
  }
  const [, year, month, day, time, fraction = "", offset] = match;
  const ms = Date.parse(`${year}-${month}-${day}T${time}${offset}`);
  // Date.parse turns 30 February into 1 March, and accepts years outside protobuf's range.
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  const inRange = ms >= earliestMs && ms <= latestMs;
  return inRange && (Number(year) < 100 || Number(day) <= days)
    ? {
        $typeName: "google.protobuf.Timestamp",
        seconds: BigInt(ms / 1_000),
        nanos: Number(fraction.padEnd(9, "0")),
      }
    : undefined;
}

/** RFC 3339 in UTC, with 0, 3, 6 or 9 fraction digits. @throws Error for a time that JSON cannot hold */
export function formatTimestamp({ seconds, nanos }: Timestamp): string {
  const ms = Number(seconds) * 1_000;
  if (!(ms >= earliestMs && ms <= latestMs && nanos >= 0 && nanos < 1_000_000_000)) {
    throw new Error("google.protobuf.Timestamp must be between the years 0001 and 9999");
  }
  return new Date(ms).toISOString().replace(".000Z", `${formatNanos(nanos)}Z`);
}

/** A fraction with its point, in groups of three digits; `""` for 0. */
function formatNanos(nanos: number): string {
  return nanos === 0
    ? ""
    : `.${String(nanos)
        .padStart(9, "0")
        .replace(/(?:000){1,2}$/, "")}`;
}

/** Seconds with 0 to 9 fraction digits: `1.5s`. */
export const readDuration: ScalarReader = orReport((value): Duration | undefined => {
  const match = typeof value === "string" ? /^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(value) : null;
  if (match === null) {
    return undefined;
  }
  const [, minus, whole = "", fraction = ""] = match;
  const [seconds, nanos] = [BigInt(whole), Number(fraction.padEnd(9, "0"))];
  return seconds > longestDuration
    ? undefined
    : {
        $typeName: "google.protobuf.Duration",
        seconds: minus === "" ? seconds : -seconds,
        nanos: minus === "" || nanos === 0 ? nanos : -nanos,
      };
}, "must be a duration such as 1.5s");

/** 10,000 years in seconds: the range of google.protobuf.Duration. */
const longestDuration = 315_576_000_000n;

/** Seconds with 0, 3, 6 or 9 fraction digits. */
export function formatDuration({ seconds, nanos }: Duration): string {
  const minus = seconds < 0n || nanos < 0 ? "-" : "";
  return `${minus}${seconds < 0n ? -seconds : seconds}${formatNanos(Math.abs(nanos))}s`;
}

/** The time of a date. */
export function toTimestamp(date: Date): Timestamp {
  const ms = date.getTime();
  const seconds = Math.floor(ms / 1_000);
  return {
    $typeName: "google.protobuf.Timestamp",
    seconds: BigInt(seconds),
    nanos: (ms - seconds * 1_000) * 1_000_000,
  };
}

/** Range of google.protobuf.Timestamp: 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z. */
const earliestMs = Date.parse("0001-01-01T00:00:00Z");
const latestMs = Date.parse("9999-12-31T23:59:59Z");

/** A reader that reports this problem when `read` returns undefined. */
function orReport(read: (value: unknown) => unknown, problem: string): ScalarReader {
  return (walk, value) => {
    const result = read(value);
    if (result === undefined) {
      report(walk, problem);
    }
    return result;
  };
}

function readString(walk: FieldWalk, value: unknown): unknown {
  if (typeof value !== "string") {
    report(walk, "must be a string");
    return undefined;
  }
  checkUnicode(walk, value);
  return value;
}

function readBase64(value: unknown): Uint8Array<ArrayBuffer> | undefined {
  return typeof value === "string" ? parseBase64(value) : undefined;
}

function readFloat(value: unknown): number | undefined {
  if (typeof value === "number") {
    return Number.isFinite(value) ? value : undefined;
  }
  return typeof value === "string" &&
    value.length <= longestNumber &&
    /^(?:NaN|-?Infinity|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)$/.test(value)
    ? Number(value)
    : undefined;
}

/**
 * Longest number that is read, in characters. No double needs more to differ from its neighbours: 17 digits, or 1,075
 * without an exponent.
 */
const longestNumber = 1_100;

/** Integers are numbers or decimal strings in JSON (H-12). */
function integerReader(
  min: bigint,
  max: bigint,
  convert: (value: bigint) => number | bigint,
  what: string,
): ScalarReader {
  return orReport((value) => {
    const integer = toInteger(value);
    return integer !== undefined && integer >= min && integer <= max ? convert(integer) : undefined;
  }, `must be ${what}`);
}

function toInteger(value: unknown): bigint | undefined {
  if (typeof value === "number") {
    return Number.isInteger(value) ? BigInt(value) : undefined;
  }
  return typeof value === "string" && /^-?\d{1,20}$/.test(value) ? BigInt(value) : undefined;
}
