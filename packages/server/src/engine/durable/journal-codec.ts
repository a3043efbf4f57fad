import type { EndReason } from "@a2a-connect/core";
import { decodeMessage, encodeMessage, isLarge, setMember } from "@a2a-connect/core/internal";
import { file_lf_a2a_v1_a2a } from "@a2a-connect/proto";
import { createRegistry, isMessage, type Message, type Registry } from "@bufbuild/protobuf";
import {
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
} from "@bufbuild/protobuf/wkt";
import { DevalueError, defaultStringifyOperations as read, stringify, unflatten } from "devalue";
import { weighMessage } from "../memory-weight.ts";
import type { CountBytes } from "../read-task.ts";
import { JournalError } from "./journal-error.ts";
import { weighRecord } from "./record-weight.ts";

type StringifyOperations = NonNullable<NonNullable<Parameters<typeof stringify>[2]>["operations"]>;

/** The result of an operation that an executor waited for. Results are returned in the order of the log. */
export type OperationResult = { readonly op: string } & (
  | { readonly kind: "value"; readonly value: unknown }
  | ({ readonly kind: "error" } & ErrorParts)
  /** It was cut off when the executor was told to stop. */
  | { readonly kind: "aborted" }
  /** The wait is over. */
  | { readonly kind: "over" }
  /** The yielded event was not allowed. */
  | { readonly kind: "mistake"; readonly message: string; readonly reason: EndReason }
);

/** When a record was written, in milliseconds since 1970, for people who look at a task. Older logs do not say it. */
export interface RecordTimes {
  readonly at?: number;
  /** How long the attempt at a step took, in milliseconds. */
  readonly tookMs?: number;
  /** When the code was started again from the log: in the first record after that. */
  readonly resumedAt?: number;
}

/** A journal record of one operation of a durable executor. Later records of an operation replace earlier ones. */
export type JournalRecord =
  | OperationResult
  | ({ readonly op: string } & (
      | { readonly kind: "remembered"; readonly value: unknown }
      /** A sleep began that ends then (milliseconds since 1970). */
      | { readonly kind: "sleep"; readonly until: number }
      /** This many attempts have failed, and the next one is not before `retryAt` (milliseconds since 1970). */
      | { readonly kind: "retry"; readonly attempts: number; readonly retryAt: number }
    ));

/** Whether the record is a result. */
export function isResult<Entry extends JournalRecord>(
  record: Entry | undefined,
): record is Extract<Entry, OperationResult> {
  switch (record?.kind) {
    case "value":
    case "error":
    case "aborted":
    case "over":
    case "mistake":
      return true;
    case "remembered":
    case "sleep":
    case "retry":
    case undefined:
      return false;
  }
}

/** Encodes a journal's records: plain values that `structuredClone` takes, and protobuf messages of known types. */
export interface JournalCodec {
  /**
   * @param maxBytes of the encoded record. Default: any number
   * @throws JournalError with the path of a value that cannot be stored, or when it would take more bytes
   */
  encode(record: JournalRecord & RecordTimes, maxBytes?: number): Uint8Array;
  /**
   * @param count gets what the record takes in memory, about, in bytes
   * @throws JournalError when it holds a message of a type that is no longer known
   */
  decode(payload: Uint8Array, count?: CountBytes): JournalRecord;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const wellKnown = [
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
];

const languageErrors = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError];

/** @param registry the message types that steps may return besides those of A2A and the well-known ones */
export function createJournalCodec(registry: Registry = createRegistry()): JournalCodec {
  const types = createRegistry(registry, file_lf_a2a_v1_a2a, ...wellKnown);
  const reducers = (maxBytes: number) => ({
    Message: (value: unknown) => isMessage(value) && reduceMessage(types, value, maxBytes),
    Error: (value: unknown) => value instanceof Error && reduceError(value),
  });
  const format = (record: JournalRecord, maxBytes: number) =>
    stringify(record, reducers(maxBytes), { operations: stopBeyond(maxBytes) });
  const revivers = (count: CountBytes) => ({
    Message: ([typeName, bytes]: [string, Uint8Array]) => {
      const message = reviveMessage(types, typeName, bytes);
      count(weighMessage(message));
      return message;
    },
    Error: ([name, message, cause, code]: [string, string, unknown, unknown]) =>
      reviveError({ name, message, code }, cause),
  });
  return {
    encode(record, maxBytes = Number.POSITIVE_INFINITY) {
      try {
        const encoded = encoder.encode(formatRemembered(record) ?? format(record, maxBytes));
        assertSize(encoded.length, maxBytes);
        return encoded;
      } catch (error) {
        throw new JournalError(`the result of ${record.op} cannot be stored: ${explain(error)}`);
      }
    },
    decode: (payload, count = () => {}) => parseRecord(payload, revivers(count), count),
  };
}

/**
 * The text of a remembered number, or of nothing, as devalue has it but for numbers that are the same: code may remember one for each
 * item of a list, and to look for values that occur twice takes several times as long.
 */
function formatRemembered(record: JournalRecord & RecordTimes): string | undefined {
  const { op, kind, at, tookMs, resumedAt } = record;
  if (kind !== "remembered" || at === undefined || tookMs !== undefined || resumedAt !== undefined)
    return undefined;
  const { value } = record;
  if (value === undefined)
    return `[{"op":1,"kind":2,"value":-1,"at":3},${JSON.stringify(op)},"remembered",${at}]`;
  if (typeof value !== "number" || !Number.isFinite(value) || Object.is(value, -0)) return undefined;
  return `[{"op":1,"kind":2,"value":3,"at":4},${JSON.stringify(op)},"remembered",${value},${at}]`;
}

/**
 * A record from the log.
 *
 * @param revivers make messages and errors of their parts
 * @param count gets what the record takes in memory besides its messages, about, in bytes
 */
export function parseRecord(
  payload: Uint8Array,
  revivers: Parameters<typeof unflatten>[1],
  count: CountBytes = () => {},
): JournalRecord & RecordTimes {
  const values: unknown[] = JSON.parse(decoder.decode(payload));
  count(weighRecord(values));
  const record: unknown = unflatten(values, revivers, { operations: { set } });
  return record as JournalRecord & RecordTimes; // only `encode` writes them
}

/**
 * How devalue reads what it encodes: counts how many bytes each piece takes at least before it is made. In memory the name of a member
 * is there once, also when thousands of objects have it. And devalue keeps each text in a map, and V8 knows texts of more than 16,383
 * characters by their length alone: thousands of the same length would take minutes.
 */
function stopBeyond(maxBytes: number): StringifyOperations {
  let bytes = 0;
  const count = (more: number): void => {
    bytes += more;
    assertSize(bytes, maxBytes);
  };
  return {
    // asked for each place in which a value is, also for one that was encoded before
    typeOf(value) {
      count(1);
      return read.typeOf(value);
    },
    get(value, name) {
      if (typeof name === "string") count(name.length);
      return read.get(value, name);
    },
    toPrimitive(value) {
      count(sizeOf(value));
      return read.toPrimitive(value);
    },
    toStringValue(value) {
      const text = read.toStringValue(value);
      count(text.length);
      return text;
    },
    regExpInfo(value) {
      const parts = read.regExpInfo(value);
      count(parts.source.length);
      return parts;
    },
    toArrayBuffer(value) {
      count(sizeOf(value));
      return read.toArrayBuffer(value);
    },
  };
}

function assertSize(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw tooLarge(maxBytes);
}

function tooLarge(maxBytes: number): Error {
  return new Error(`it takes more than ${maxBytes} bytes`);
}

/** How many bytes a value takes at least besides one, without its parts. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value === "bigint") return value.toString(16).length;
  return value instanceof ArrayBuffer ? value.byteLength : 0;
}

/** A step may have given JSON of a caller, who has chosen the names. */
function set(target: Record<PropertyKey, unknown>, name: PropertyKey, value: unknown): void {
  if (typeof name === "string") setMember(target, name, value);
  else target[name] = value;
}

/** Up to so many values, names and bytes are encoded in about a millisecond. */
const quickValues = 1_000;
const quickBytes = 32 * 1024;

/** Whether a value may take longer to encode. It visits no more of the value than it needs. */
export function isLong(value: unknown): boolean {
  const found = new Set<object>([[value]]); // as each is encoded once, also one that refers to itself
  let references = 0;
  let bytes = 0;
  try {
    for (const each of found) {
      for (const part of partsOf(each)) {
        references += 1;
        bytes += sizeOf(part);
        if (references > quickValues || bytes > quickBytes) return true;
        if (typeof part === "object" && part !== null) found.add(part);
      }
    }
    return false;
  } catch {
    return true; // `encode` tells what is wrong with it
  }
}

/** What is encoded of a value, one after the other: there may be millions. */
function* partsOf(value: object): Generator<unknown> {
  if (Array.isArray(value) || value instanceof Set) yield* value;
  else if (value instanceof Map || value instanceof URLSearchParams) for (const pair of value) yield* pair;
  else if (ArrayBuffer.isView(value)) yield value.buffer;
  else if (value instanceof Error) yield* reduceError(value);
  else if (textTypes.some((type) => value instanceof type)) yield String(value);
  else {
    for (const name in value) {
      yield name;
      yield value[name as keyof typeof value];
    }
  }
}

const textTypes = [RegExp, URL, String, BigInt];

/** An error from the journal: of a class of the language if it was one, else an Error of the same name. */
export function reviveError({ name, message, code }: ErrorParts, cause?: unknown): Error {
  const make = languageErrors.find((candidate) => candidate.name === name) ?? Error;
  const error = new make(message, cause === undefined ? undefined : { cause });
  if (error.name !== name) {
    Object.defineProperty(error, "name", { value: name, configurable: true, writable: true });
  }
  return code === undefined ? error : Object.assign(error, { code });
}

function reduceError(error: Error): readonly unknown[] {
  const { name, message, code } = errorParts(error);
  return [name, message, error.cause, code];
}

/** The stored parts of an error: enough for code that tells errors apart. */
export interface ErrorParts {
  readonly name: string;
  readonly message: string;
  /** Its own `code`, if that is a text or a number, as in errors of Node and of Connect. */
  readonly code?: unknown;
}

/** @returns the parts to store */
export function errorParts(error: Error): ErrorParts {
  const { name, message } = error;
  const code = "code" in error ? error.code : undefined;
  const isPlain = typeof code === "string" || typeof code === "number";
  return { name: String(name), message: String(message), ...(isPlain ? { code } : {}) };
}

/** About what a message with few texts may weigh for each byte of its encoding. */
const weightForByte = 64;

/** An integer that a message has as a text may be as much longer than its encoding. */
const maxTextForByte = 2;

/** The lengths of the long texts, names and bytes of a message, in each place. */
function countTexts(value: unknown, count: (length: number) => void): void {
  if (typeof value === "string" || value instanceof Uint8Array) count(value.length);
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return;
  if (Array.isArray(value)) {
    for (const each of value) countTexts(each, count);
    return;
  }
  for (const name in value) {
    const member: unknown = value[name as keyof typeof value]; // own members only: messages and JSON inherit none
    if (name.length > maxOwnName) count(name.length);
    if (typeof member !== "string" || member.length > maxOwnName) countTexts(member, count);
  }
}

/** The names of a message's fields and of its type are no longer, and are not in its encoding. */
const maxOwnName = 64;

/** A message is not encoded that is too large in any case: one text may stand in thousands of its parts. */
function reduceMessage(types: Registry, message: Message, maxBytes: number): [string, Uint8Array] {
  if (isLarge(message, weightForByte * maxBytes)) throw tooLarge(maxBytes);
  let texts = 0;
  countTexts(message, (length) => {
    texts += length;
    if (texts > maxTextForByte * maxBytes) throw tooLarge(maxBytes);
  });
  const desc = types.getMessage(message.$typeName);
  if (desc === undefined) {
    throw new JournalError(`the message type ${message.$typeName} is not in the agent's "journalTypes"`);
  }
  return [message.$typeName, encodeMessage(desc, message)];
}

function reviveMessage(types: Registry, typeName: string, bytes: Uint8Array): Message {
  const desc = types.getMessage(typeName);
  if (desc === undefined) {
    throw new JournalError(`the message type ${typeName} is no longer in the agent's "journalTypes"`);
  }
  return decodeMessage(desc, bytes);
}

/** devalue's path begins with our own `value`, which the author does not know. */
function explain(error: unknown): string {
  if (error instanceof DevalueError) {
    const path = error.path.replace(/^\.value/, "");
    return `${error.message}${path === "" ? "" : ` at ${path}`}`;
  }
  return error instanceof Error ? error.message : "it is not a value";
}
