import {
  create,
  type DescField,
  type DescMessage,
  type JsonObject,
  type MessageShape,
  ScalarType,
} from "@bufbuild/protobuf";
import { type FieldViolation, invalidParams } from "../errors.ts";
import { type FieldWalk, isFull, report, reportAt, startWalk } from "../field-walk.ts";
import { enumReader, readDuration, readTimestamp, scalarReader } from "./json-scalar.ts";
import {
  checkJson,
  checkKey,
  enterContainer,
  isObject,
  readJsonValue,
  setMember,
  withPrototypes,
} from "./json-value.ts";

/** Options of {@link parseMessage}. */
export interface ParseMessageOptions {
  /**
   * How deep JSON objects and arrays may be nested, the message itself included. Default 100; each level needs some
   * stack.
   */
  readonly maxDepth?: number;
  /**
   * Whether to read what a newer sender may write: unknown names of enums count as unset, unknown numbers are kept, no
   * limit applies to unknown fields, and members called `__proto__` are left out. Default false.
   */
  readonly isLenient?: boolean;
}

/**
 * Reads a message from parsed JSON by the rules of requirements H: it accepts both spellings of a field, enum names and
 * numbers, and null as unset; it ignores unknown fields; it refuses everything else that does not fit, and names every
 * wrong field. It does not test for REQUIRED fields: see `findMissingFields`.
 *
 * One walk checks and builds. Structs of the message are the JSON's own objects, not copies.
 *
 * @throws ConnectError InvalidArgument with the field violations
 */
export function parseMessage<Desc extends DescMessage>(
  desc: Desc,
  json: unknown,
  options: ParseMessageOptions = {},
): MessageShape<Desc> {
  const { walk, message } = readJson(desc, json, options);
  if (walk.violations.length > 0) {
    throw invalidParams(walk.violations);
  }
  return message as MessageShape<Desc>; // what the reader of this type makes
}

/**
 * Why {@link parseMessage} would refuse this JSON, for callers that do not need the message; empty when it would accept
 * it.
 */
export function findWrongFields(
  desc: DescMessage,
  json: unknown,
  options: ParseMessageOptions = {},
): readonly FieldViolation[] {
  return readJson(desc, json, options).walk.violations;
}

function readJson(
  desc: DescMessage,
  json: unknown,
  { maxDepth, isLenient }: ParseMessageOptions,
): { readonly walk: FieldWalk; readonly message: unknown } {
  const walk = startWalk("", maxDepth, isLenient);
  return { walk, message: messageReader(desc)(walk, json, 1) };
}

/**
 * Reads the JSON of one value at the walk's path and returns it in the message's form. `depth` is the level of the
 * value if it is an object or array. When the value is wrong, the walk has a violation, and the returned value has no
 * meaning.
 */
type ValueReader = (walk: FieldWalk, json: unknown, depth: number) => unknown;

interface FieldEntry {
  readonly field: DescField;
  readonly read: ValueReader;
  /** Null is a value of google.protobuf.Value. Everywhere else it means "not set" (H-10, H-11). */
  readonly nullIsValue: boolean;
}

/** A message while it is built, by the local names of its members. */
type Fields = Record<string, unknown>;

const messageReaders = new WeakMap<DescMessage, ValueReader>();

/** The reader of a message type, compiled on first use. */
function messageReader(desc: DescMessage): ValueReader {
  const compiled = messageReaders.get(desc) ?? wellKnownReader(desc);
  if (compiled !== undefined) {
    return compiled;
  }
  const entries = new Map<string, FieldEntry>();
  const blank = blankOf(desc);
  const read: ValueReader = (walk, json, depth) => readMessage(blank, entries, walk, json, depth);
  messageReaders.set(desc, read); // before the fields, so that recursive types end
  for (const field of desc.fields) {
    const entry = { field, read: fieldReader(field), nullIsValue: isValueField(field) };
    entries.set(field.name, entry).set(field.jsonName, entry);
  }
  return read;
}

/** A message of a type without any field set, to be copied. */
interface Blank {
  readonly message: Readonly<Fields>;
  /** Members that each message has an object of its own for, and how that is made. */
  readonly own: readonly (readonly [name: string, make: () => unknown])[];
}

/** A copy of a blank message costs a tenth of `create`, and is the same. */
function blankOf(desc: DescMessage): Blank {
  const ownFields = desc.fields.flatMap(({ fieldKind, localName }) =>
    fieldKind === "list"
      ? [[localName, (): unknown => []] as const]
      : fieldKind === "map"
        ? [[localName, (): unknown => ({})] as const]
        : [],
  );
  const oneofs = desc.oneofs.map(({ localName }) => [localName, () => ({ case: undefined })] as const);
  return { message: create(desc) as Fields, own: [...ownFields, ...oneofs] };
}

function readMessage(
  blank: Blank,
  entries: ReadonlyMap<string, FieldEntry>,
  walk: FieldWalk,
  json: unknown,
  depth: number,
): unknown {
  if (!isObject(json)) {
    report(walk, "must be an object");
    return undefined;
  }
  if (!enterContainer(walk, depth)) {
    return undefined;
  }
  const message = { ...blank.message };
  let members: DescField[] | undefined;
  for (const key of Object.keys(json)) {
    const entry = entries.get(key);
    const value = json[key];
    if (entry === undefined) {
      checkUnknown(walk, key, value, depth);
      continue;
    }
    const { field, read, nullIsValue } = entry;
    if (key !== field.jsonName && Object.hasOwn(json, field.jsonName)) {
      reportAt(walk, field.jsonName, `is given twice, also as ${field.name}`);
      continue;
    }
    if (value === null && !nullIsValue) {
      continue;
    }
    if (field.oneof !== undefined) {
      const other = members?.findLast(({ oneof }) => oneof === field.oneof);
      if (other !== undefined) {
        report(walk, `${other.jsonName} and ${field.jsonName} exclude each other`);
      }
      members ??= [];
      members.push(field);
    }
    walk.path.push(field.jsonName);
    const element = read(walk, value, depth + 1);
    walk.path.pop();
    if (element === undefined) {
      continue; // wrong, or a name that is not known
    }
    if (field.oneof === undefined) {
      message[field.localName] = element;
    } else {
      message[field.oneof.localName] = { case: field.localName, value: element };
    }
    if (isFull(walk)) {
      break;
    }
  }
  for (const [name, make] of blank.own) {
    if (message[name] === blank.message[name]) {
      message[name] = make();
    }
  }
  return message;
}

/** Unknown fields are ignored (H-6), but the same limits apply to them. */
function checkUnknown(walk: FieldWalk, key: string, value: unknown, depth: number): void {
  if (!walk.isLenient && checkKey(walk, key)) {
    walk.path.push(key);
    checkJson(walk, value, depth + 1);
    walk.path.pop();
  }
}

function fieldReader(field: DescField): ValueReader {
  switch (field.fieldKind) {
    case "scalar":
      return scalarReader(field.scalar);
    case "enum":
      return enumReader(field.enum);
    case "message":
      return messageReader(field.message);
    case "list":
      return listReader(elementReader(field), isValueField(field));
    case "map":
      if (field.mapKey !== ScalarType.STRING) {
        throw new Error(`${field.toString()}: only strings are known as keys of maps`);
      }
      return mapReader(elementReader(field), isValueField(field));
  }
}

function elementReader(field: DescField & { fieldKind: "list" | "map" }): ValueReader {
  if (field.message !== undefined) {
    return messageReader(field.message);
  }
  return field.enum === undefined ? scalarReader(field.scalar) : enumReader(field.enum);
}

function listReader(read: ValueReader, nullIsValue: boolean): ValueReader {
  return (walk, json, depth) => {
    const list: unknown[] = [];
    if (!Array.isArray(json)) {
      report(walk, "must be an array");
    } else if (enterContainer(walk, depth)) {
      for (let index = 0; index < json.length && !isFull(walk); index++) {
        walk.path.push(index);
        const element = readElement(read, nullIsValue, walk, json[index], depth + 1);
        walk.path.pop();
        if (element !== undefined) {
          list.push(element);
        }
      }
    }
    return list;
  };
}

function mapReader(read: ValueReader, nullIsValue: boolean): ValueReader {
  return (walk, json, depth) => {
    const map: Fields = {};
    if (!isObject(json)) {
      report(walk, "must be an object");
    } else if (enterContainer(walk, depth)) {
      for (const key of Object.keys(json)) {
        if (checkKey(walk, key)) {
          walk.path.push(key);
          const element = readElement(read, nullIsValue, walk, json[key], depth + 1);
          walk.path.pop();
          if (element !== undefined) {
            setMember<unknown>(map, key, element);
          }
        }
        if (isFull(walk)) {
          break;
        }
      }
    }
    return map;
  };
}

function readElement(
  read: ValueReader,
  nullIsValue: boolean,
  walk: FieldWalk,
  json: unknown,
  depth: number,
): unknown {
  if (json === null && !nullIsValue) {
    report(walk, "must not be null");
    return undefined;
  }
  return read(walk, json, depth);
}

/**
 * Well-known types with a JSON form of their own.
 *
 * @throws Error for well-known types that no message of ours has
 */
function wellKnownReader(desc: DescMessage): ValueReader | undefined {
  switch (desc.typeName) {
    case "google.protobuf.Struct":
      // A field of this type is the JSON object itself.
      return (walk, json, depth) => {
        if (!isObject(json)) {
          report(walk, "must be an object");
          return json;
        }
        checkJson(walk, json, depth);
        // A refused value is not visited again: it may be nested too deeply.
        return walk.violations.length === 0 ? withPrototypes(json as JsonObject) : json; // checked just now
      };
    case "google.protobuf.Value":
      return readJsonValue;
    case "google.protobuf.Timestamp":
      return readTimestamp;
    case "google.protobuf.Duration":
      return readDuration;
    case "google.protobuf.Empty":
      return undefined;
    default:
      if (desc.file.proto.package === "google.protobuf") {
        throw new Error(`${desc.typeName} is not a type that our messages have`);
      }
      return undefined;
  }
}

function isValueField(field: DescField): boolean {
  return (
    field.message?.typeName === "google.protobuf.Value" ||
    field.enum?.typeName === "google.protobuf.NullValue"
  );
}
