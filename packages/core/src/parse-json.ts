import {
  type DescField,
  type DescMessage,
  fromJson,
  type JsonValue,
  type MessageShape,
} from "@bufbuild/protobuf";
import { type FieldViolation, invalidParams } from "./errors.ts";
import {
  defaultMaxDepth,
  type FieldWalk,
  protobufRecursionLimit,
  report,
  reportAt,
  startWalk,
} from "./field-walk.ts";
import { checkJson, checkKey, enterContainer } from "./json-depth.ts";
import { checkTimestamp, enumCheck, type JsonCheck, scalarCheck } from "./json-scalar.ts";

/** How {@link parseMessage} reads. */
export interface ParseMessageOptions {
  /** Nested JSON objects and arrays, the message itself included. Default 100; each needs some stack. */
  readonly maxDepth?: number;
}

/**
 * Read a message from parsed JSON by the rules of requirements H: both spellings of a field, enum names and numbers,
 * null as unset, unknown fields ignored; everything else that does not fit is refused, with every wrong field named.
 * Whether REQUIRED fields are there is another question: see `findMissingFields`.
 *
 * @throws ConnectError InvalidArgument with the field violations
 */
export function parseMessage<Desc extends DescMessage>(
  desc: Desc,
  json: unknown,
  options: ParseMessageOptions = {},
): MessageShape<Desc> {
  const walk = walkJson(desc, json, options);
  if (walk.violations.length > 0) {
    throw invalidParams(walk.violations);
  }
  const clean = walk.unsetMembers.size === 0 ? json : withoutMembers(json, walk.unsetMembers);
  try {
    // The cast is safe: the walk has seen that it is a JSON object.
    return fromJson(desc, clean as JsonValue, {
      ignoreUnknownFields: true,
      recursionLimit: protobufRecursionLimit(options.maxDepth),
    });
  } catch {
    // Only well-known types that the walk does not know can still fail; no A2A message has one.
    throw invalidParams({ field: "", description: `is not a valid ${desc.name}` });
  }
}

/** Why {@link parseMessage} would refuse this JSON, for those who do not need the message; empty when it would not. */
export function findWrongFields(
  desc: DescMessage,
  json: unknown,
  options: ParseMessageOptions = {},
): readonly FieldViolation[] {
  return walkJson(desc, json, options).violations;
}

function walkJson(
  desc: DescMessage,
  json: unknown,
  { maxDepth = defaultMaxDepth }: ParseMessageOptions,
): JsonWalk {
  const walk: JsonWalk = { ...startWalk("", maxDepth), unsetMembers: new Map() };
  messageCheck(desc)(walk, json, 1);
  return walk;
}

interface JsonWalk extends FieldWalk {
  /** Keys of oneof members that are null and so unset (H-11), by their object: protobuf-es would count them as set. */
  readonly unsetMembers: Map<object, Set<string>>;
}

/** Checks the JSON of one value at the walk's path; `depth` is the level of the value if it is an object or array. */
type ValueCheck = (walk: JsonWalk, json: unknown, depth: number) => void;

interface FieldEntry {
  readonly field: DescField;
  readonly check: ValueCheck;
  /** Null is a value of google.protobuf.Value, and "not set" everywhere else (H-10, H-11). */
  readonly nullIsValue: boolean;
}

const messageChecks = new WeakMap<DescMessage, ValueCheck>();

/** The check for a message type, compiled on first use. */
function messageCheck(desc: DescMessage): ValueCheck {
  const compiled = messageChecks.get(desc) ?? wellKnownCheck(desc);
  if (compiled !== undefined) {
    return compiled;
  }
  const entries = new Map<string, FieldEntry>();
  const check: ValueCheck = (walk, json, depth) => checkMessage(entries, walk, json, depth);
  messageChecks.set(desc, check); // before the fields, so that recursive types end
  for (const field of desc.fields) {
    const entry = { field, check: fieldCheck(field), nullIsValue: isValueField(field) };
    entries.set(field.name, entry).set(field.jsonName, entry);
  }
  return check;
}

function checkMessage(
  entries: ReadonlyMap<string, FieldEntry>,
  walk: JsonWalk,
  json: unknown,
  depth: number,
): void {
  if (!isObject(json)) {
    report(walk, "must be an object");
    return;
  }
  if (!enterContainer(walk, depth)) {
    return;
  }
  let members: Map<string, string> | undefined;
  for (const key of Object.keys(json)) {
    const entry = entries.get(key);
    const value = json[key];
    if (entry === undefined) {
      checkUnknown(walk, key, value, depth);
      continue;
    }
    const { field, check, nullIsValue } = entry;
    if (key !== field.jsonName && Object.hasOwn(json, field.jsonName)) {
      reportAt(walk, field.jsonName, `is given twice, also as ${field.name}`);
      continue;
    }
    if (value === null && !nullIsValue) {
      if (field.oneof !== undefined && field.fieldKind === "message") {
        noteUnset(walk, json, key);
      }
      continue;
    }
    if (field.oneof !== undefined) {
      members ??= new Map();
      const other = members.get(field.oneof.name);
      if (other !== undefined) {
        report(walk, `${other} and ${field.jsonName} exclude each other`);
      }
      members.set(field.oneof.name, field.jsonName);
    }
    walk.path.push(field.jsonName);
    check(walk, value, depth + 1);
    walk.path.pop();
  }
}

/** Unknown fields are ignored (H-6), but they obey the same limits. */
function checkUnknown(walk: JsonWalk, key: string, value: unknown, depth: number): void {
  if (checkKey(walk, key)) {
    walk.path.push(key);
    checkJson(walk, value, depth + 1);
    walk.path.pop();
  }
}

function fieldCheck(field: DescField): ValueCheck {
  switch (field.fieldKind) {
    case "scalar":
      return leaf(scalarCheck(field.scalar));
    case "enum":
      return leaf(enumCheck(field.enum));
    case "message":
      return messageCheck(field.message);
    case "list":
      return listCheck(elementCheck(field), isValueField(field));
    case "map":
      return mapCheck(elementCheck(field), isValueField(field));
  }
}

function elementCheck(field: DescField & { fieldKind: "list" | "map" }): ValueCheck {
  if (field.message !== undefined) {
    return messageCheck(field.message);
  }
  return leaf(field.enum === undefined ? scalarCheck(field.scalar) : enumCheck(field.enum));
}

function leaf(check: JsonCheck): ValueCheck {
  return (walk, json) => {
    const problem = check(json);
    if (problem !== undefined) {
      report(walk, problem);
    }
  };
}

function listCheck(check: ValueCheck, nullIsValue: boolean): ValueCheck {
  return (walk, json, depth) => {
    if (!Array.isArray(json)) {
      report(walk, "must be an array");
      return;
    }
    if (!enterContainer(walk, depth)) {
      return;
    }
    for (let index = 0; index < json.length; index++) {
      walk.path.push(index);
      checkElement(check, nullIsValue, walk, json[index], depth + 1);
      walk.path.pop();
    }
  };
}

function mapCheck(check: ValueCheck, nullIsValue: boolean): ValueCheck {
  return (walk, json, depth) => {
    if (!isObject(json)) {
      report(walk, "must be an object");
      return;
    }
    if (!enterContainer(walk, depth)) {
      return;
    }
    for (const key of Object.keys(json)) {
      if (checkKey(walk, key)) {
        walk.path.push(key);
        checkElement(check, nullIsValue, walk, json[key], depth + 1);
        walk.path.pop();
      }
    }
  };
}

function checkElement(
  check: ValueCheck,
  nullIsValue: boolean,
  walk: JsonWalk,
  json: unknown,
  depth: number,
): void {
  if (json === null && !nullIsValue) {
    report(walk, "must not be null");
    return;
  }
  check(walk, json, depth);
}

/** Well-known types with a JSON form of their own. Those that no A2A message has are left to protobuf-es. */
function wellKnownCheck(desc: DescMessage): ValueCheck | undefined {
  switch (desc.typeName) {
    case "google.protobuf.Struct":
      return (walk, json, depth) =>
        isObject(json) ? checkJson(walk, json, depth) : report(walk, "must be an object");
    case "google.protobuf.ListValue":
      return (walk, json, depth) =>
        Array.isArray(json) ? checkJson(walk, json, depth) : report(walk, "must be an array");
    case "google.protobuf.Value":
      return checkJson;
    case "google.protobuf.Timestamp":
      return leaf(checkTimestamp);
    case "google.protobuf.Empty":
      return undefined;
    default:
      return desc.file.proto.package === "google.protobuf" ? checkJson : undefined;
  }
}

function isValueField(field: DescField): boolean {
  return (
    field.message?.typeName === "google.protobuf.Value" ||
    field.enum?.typeName === "google.protobuf.NullValue"
  );
}

function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

function noteUnset(walk: JsonWalk, parent: object, key: string): void {
  const keys = walk.unsetMembers.get(parent) ?? new Set();
  walk.unsetMembers.set(parent, keys.add(key));
}

/** A copy of the JSON without these members; the caller's own value stays as it is. */
function withoutMembers(json: unknown, members: ReadonlyMap<object, ReadonlySet<string>>): unknown {
  if (Array.isArray(json)) {
    return json.map((element) => withoutMembers(element, members));
  }
  if (!isObject(json)) {
    return json;
  }
  return Object.fromEntries(
    Object.entries(json)
      .filter(([key]) => members.get(json)?.has(key) !== true)
      .map(([key, value]) => [key, withoutMembers(value, members)]),
  );
}
