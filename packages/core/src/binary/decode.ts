import {
  create,
  type DescField,
  type DescMessage,
  type Message,
  type MessageShape,
  mergeFromBinary,
  protoInt64,
  ScalarType,
} from "@bufbuild/protobuf";
import { scalarZeroValue } from "@bufbuild/protobuf/reflect";
import { WireType } from "@bufbuild/protobuf/wire";
import type { ListValue, Struct, Value } from "@bufbuild/protobuf/wkt";
import { createTable, isObject, longNameWeight, manyNames, setMember } from "../json/json-value.ts";
import { containerValues, keepLeastWeight, largeWeight } from "../message-weight.ts";
import { keepEncodedText, longText } from "./encoded-texts.ts";
import { type DecodeOptions, Input, malformed } from "./input.ts";
import { compileOnce, isJsonField, isOwnType, type OwnScalar, tags } from "./schema.ts";

/**
 * Decodes a message from protobuf's binary encoding. The result is that of protobuf-es's `fromBinary`, at a fraction of
 * its cost for messages with many values.
 *
 * A field that occurs again is merged as protobuf demands, so the bytes of two messages joined are those of both
 * merged. Maps, and the fields of a Struct that is no plain JSON, have no prototype. Otherwise each object with names of the caller's
 * choice would get a hidden class of its own, which takes a microsecond or more. So plain JSON gets its prototypes, which users may
 * call, when its members are there. A bytes field that is most of `bytes` is a view of it.
 *
 * It refuses two things that `fromBinary` accepts: a known field with another wire type, and a value that reaches
 * beyond the end of its message.
 *
 * @throws DecodeError
 */
export function decodeMessage<Desc extends DescMessage>(
  desc: Desc,
  bytes: Uint8Array,
  options: DecodeOptions = {},
): MessageShape<Desc> {
  const input = new Input(bytes, options);
  return contentOf(desc).read(input, bytes.length, undefined) as MessageShape<Desc>; // a reader of this type
}

/**
 * `decodeMessage` in slices: it yields the number of bytes that it has read, and the message is complete when it
 * returns. It never divides one text. It also never divides a value that is followed by another field of the same Value
 * or entry; no encoder writes such values.
 *
 * @param sliceBytes how many bytes to read in one slice
 * @throws DecodeError
 */
export function* decodeInSteps<Desc extends DescMessage>(
  desc: Desc,
  bytes: Uint8Array,
  options: DecodeOptions = {},
  sliceBytes: number = 64 * 1024,
): Generator<number, MessageShape<Desc>> {
  const input = new Input(bytes, options);
  let told = 0;
  const tell = (): void => {
    const read = input.values + containerValues * input.containers;
    options.onValues?.(read - told);
    told = read;
  };
  input.stop = sliceBytes;
  const message = contentOf(desc).read(input, bytes.length, undefined) as MessageShape<Desc>; // see above
  tell();
  yield input.reached;
  while (input.isPaused) {
    const read = input.resume(sliceBytes);
    tell();
    yield read;
  }
  return message;
}

/* ---- Scalars ---- */

/** Reads a value that ends at or before `end`. A message is merged into the existing one. */
type ReadValue = (input: Input, end: number, existing: unknown) => unknown;

interface Scalar {
  readonly wireType: WireType;
  readonly read: ReadValue;
}

const int32: Scalar = { wireType: WireType.Varint, read: (input, end) => input.varint(end) | 0 };

const scalars: Record<OwnScalar, Scalar> = {
  [ScalarType.STRING]: { wireType: WireType.LengthDelimited, read: (input, end) => input.text(end) },
  [ScalarType.BYTES]: {
    wireType: WireType.LengthDelimited,
    read: (input, end) => {
      const after = input.delimited(end);
      const start = input.position;
      input.position = after;
      const bytes = input.bytes.subarray(start, after);
      return input.isMost(bytes.length) ? bytes : new Uint8Array(bytes);
    },
  },
  [ScalarType.BOOL]: { wireType: WireType.Varint, read: (input, end) => readBoolean(input, end) },
  [ScalarType.INT32]: int32,
  [ScalarType.INT64]: {
    wireType: WireType.Varint,
    read: (input, end) => protoInt64.dec(input.varint(end) | 0, input.high),
  },
};

function readBoolean(input: Input, end: number): boolean {
  return input.varint(end) !== 0 || input.high !== 0;
}

/* ---- Messages ---- */

/** Reads the content of a message, without the length before it. */
interface Content {
  /** Merges it into the existing message. */
  read(input: Input, end: number, existing: unknown): unknown;
}

/** A message by the names of its fields. */
type Fields = Record<string, unknown> & Pick<Message, "$unknown">;

type Field = { readonly name: string; readonly read: ReadValue } & (
  | { readonly kind: "scalar" }
  | { readonly kind: "message" }
  | { readonly kind: "oneof"; readonly oneof: string }
  | { readonly kind: "list" }
  | { readonly kind: "packed" }
  | { readonly kind: "map"; readonly entry: EntryValue }
);

const contentOf = compileOnce<Content>(
  (desc) => jsonContents.get(desc.typeName) ?? (isOwnType(desc) ? new OwnContent(desc) : foreign(desc)),
);

function foreign(desc: DescMessage): Content {
  return {
    read(input, end, existing) {
      const message = (existing ?? create(desc)) as Message; // the message is of this type
      const options = { recursionLimit: input.depthLeft, readUnknownFields: input.keepsUnknown };
      try {
        mergeFromBinary(desc, message, input.bytes.subarray(input.position, end), options);
      } catch (error) {
        throw malformed(`${desc.typeName} cannot be read: ${error instanceof Error ? error.message : error}`);
      }
      input.position = end;
      return message;
    },
  };
}

class OwnContent implements Content {
  readonly #desc: DescMessage;
  /** By tag: the field's number and one of its possible wire types. */
  #fields: ReadonlyMap<number, Field> | undefined;

  constructor(desc: DescMessage) {
    this.#desc = desc;
  }

  read(input: Input, end: number, existing: unknown): unknown {
    input.enter();
    this.#fields ??= fieldsOf(this.#desc); // compiled later, because types contain each other
    const message = (existing ?? create(this.#desc)) as Fields; // the message is of this type
    const bytes = end - input.position;
    if (bytes > largeWeight) keepLeastWeight(message as Message, bytes); // to find it later takes 20 ms, of 60,000 names
    this.#readFields(message, this.#fields, input, end);
    input.leave();
    return message;
  }

  #readFields(message: Fields, fields: ReadonlyMap<number, Field>, input: Input, end: number): void {
    const until = Math.min(end, input.stop);
    while (input.position < until) {
      const tag = input.tag(end);
      input.count(1);
      const field = fields.get(tag);
      if (field === undefined) {
        this.#readOther(message, tag, input, end);
      } else {
        readField(message, field, input, end);
      }
    }
    if (input.position < end) {
      input.pause(end, () => this.#readFields(message, fields, input, end));
    }
  }

  #readOther(message: Fields, tag: number, input: Input, end: number): void {
    const known = this.#desc.fields.find(({ number }) => number === tag >>> 3);
    if (known !== undefined) {
      throw malformed(`${known.parent.typeName}.${known.name} has the wrong wire type`);
    }
    readUnknown(message, tag, input, end);
  }
}

function readUnknown(message: Pick<Message, "$unknown">, tag: number, input: Input, end: number): void {
  const start = input.position;
  input.skip(tag, end);
  if (input.keepsUnknown) {
    message.$unknown ??= [];
    message.$unknown.push({
      no: tag >>> 3,
      wireType: tag & 7,
      data: input.bytes.subarray(start, input.position),
    });
  }
}

function readField(message: Fields, field: Field, input: Input, end: number): void {
  const { name, read } = field;
  switch (field.kind) {
    case "scalar":
      message[name] = read(input, end, undefined);
      break;
    case "message":
      message[name] = read(input, end, message[name]);
      break;
    case "oneof": {
      const { case: chosen, value } = message[field.oneof] as { case?: string; value?: unknown }; // that is how protobuf-es represents them
      const made = { case: name, value: read(input, end, chosen === name ? value : undefined) };
      message[field.oneof] = made;
      const isLong = typeof made.value === "string" && made.value.length > longText;
      if (isLong && input.isMost(input.textBytes.length)) {
        keepEncodedText(made, input.textBytes);
      }
      break;
    }
    case "list":
      (message[name] as unknown[]).push(read(input, end, undefined)); // a repeated field
      break;
    case "packed": {
      const items = message[name] as unknown[]; // a repeated field
      const after = input.delimited(end);
      while (input.position < after) {
        input.count(1);
        items.push(read(input, after, undefined));
      }
      break;
    }
    case "map": {
      let map = message[name] as Record<string, unknown>; // that is how protobuf-es represents them
      if (Object.getPrototypeOf(map) !== null) {
        map = message[name] = createTable(); // replaces the empty map of the new message
      }
      readEntry(map, field.entry, input, end);
    }
  }
}

function fieldsOf(desc: DescMessage): ReadonlyMap<number, Field> {
  const fields = new Map<number, Field>();
  for (const field of desc.fields) {
    const name = field.localName;
    const { wireType, read } = valueReader(field);
    const set = (type: WireType, made: Field) => fields.set(((field.number << 3) | type) >>> 0, made);
    if (field.oneof !== undefined) {
      set(wireType, { kind: "oneof", name, read, oneof: field.oneof.localName });
    } else if (field.fieldKind === "list") {
      set(wireType, { kind: "list", name, read });
      if (wireType === WireType.Varint) {
        set(WireType.LengthDelimited, { kind: "packed", name, read });
      }
    } else if (field.fieldKind === "map") {
      set(WireType.LengthDelimited, {
        kind: "map",
        name,
        read,
        entry: { wireType, read, empty: () => emptyValue(field) },
      });
    } else {
      set(wireType, { kind: field.fieldKind === "message" ? "message" : "scalar", name, read });
    }
  }
  return fields;
}

/** How to read one value of a field: an element of a list, a value of a map, or the value of a singular field. */
function valueReader(field: DescField): Scalar {
  if (field.message === undefined) {
    return field.enum === undefined ? scalars[field.scalar as OwnScalar] : int32; // as `isOwnType` says
  }
  const content = isJsonField(field) ? jsonObjectContent : contentOf(field.message);
  return {
    wireType: WireType.LengthDelimited,
    read: (input, end, existing) => content.read(input, input.delimited(end), existing),
  };
}

/**
 * Reads an entry of a map or a Struct, which has been counted once. Its key is field 1, its value field 2; a missing
 * one is the empty value of its type.
 *
 * @param read reads the value, with its length before it if it has one
 */
function readEntry(
  map: Record<string, unknown>,
  { wireType, read, empty }: EntryValue,
  input: Input,
  parentEnd: number,
): void {
  input.count(1); // for the value
  const end = input.delimited(parentEnd);
  const valueTag = (2 << 3) | wireType;
  let name = "";
  let value: unknown;
  for (let fields = 0; input.position < end; fields++) {
    if (fields > 1) {
      input.count(1);
    }
    const tag = input.tag(end);
    if (tag === tags.entryKey) {
      name = input.text(end);
      input.count(longNameWeight(name.length));
    } else if (tag === valueTag) {
      if (value !== undefined) {
        input.finish();
      }
      value = read(input, end, value);
    } else {
      readOther("a map's entry", 2, undefined, tag, input, end);
    }
  }
  setMember(map, name, value === undefined ? empty(input) : value);
}

/** How to read the value of an entry, and its default. */
interface EntryValue extends Scalar {
  empty(input: Input): unknown;
}

function emptyValue(field: Extract<DescField, { fieldKind: "map" }>): unknown {
  switch (field.mapKind) {
    case "scalar":
      return scalarZeroValue(field.scalar, false);
    case "enum":
      return field.enum.values[0]?.number;
    case "message":
      return field.message.typeName === "google.protobuf.Struct" ? createTable() : create(field.message);
  }
}

/* ---- Struct, Value and ListValue, also as plain JSON, the form of fields of type Struct: written by hand ---- */

const lastValueField = 6;

const jsonContents: ReadonlyMap<string, Content> = new Map<string, Content>([
  ["google.protobuf.Value", { read: (input, end, existing) => readValue(input, end, existing, false) }],
  ["google.protobuf.Struct", { read: (input, end, existing) => readStruct(input, end, existing, false) }],
  ["google.protobuf.ListValue", { read: (input, end, existing) => readList(input, end, existing, false) }],
]);

const jsonObjectContent: Content = {
  read: (input, end, existing) => readStruct(input, end, existing, true),
};

const valueEntry: EntryValue = {
  wireType: WireType.LengthDelimited,
  read: (input, end, existing) => readValue(input, input.delimited(end), existing, false),
  empty: (input) => readValue(input, input.position, undefined, false),
};

const jsonEntry: EntryValue = {
  wireType: WireType.LengthDelimited,
  read: (input, end, existing) => readValue(input, input.delimited(end), existing, true),
  empty: (input) => readValue(input, input.position, undefined, true),
};

/** @returns a Value, or its JSON */
function readValue(input: Input, end: number, existing: unknown, isPlain: boolean): unknown {
  input.enter();
  let message = isPlain ? undefined : (existing as Value | undefined); // of this type
  let kind = isPlain ? undefined : message?.kind.case;
  let content = isPlain ? (existing ?? null) : message?.kind.value;
  for (let fields = 0; input.position < end; fields++) {
    const tag = input.tag(end);
    if (fields > 0) {
      input.count(1); // its own value is counted with the Value
      input.finish();
    }
    switch (tag) {
      case tags.numberValue:
        content = input.double(end);
        kind = "numberValue";
        break;
      case tags.stringValue:
        content = input.text(end);
        kind = "stringValue";
        break;
      case tags.boolValue:
        content = readBoolean(input, end);
        kind = "boolValue";
        break;
      case tags.nullValue: {
        const number = input.varint(end) | 0;
        content = isPlain ? null : number;
        kind = "nullValue";
        break;
      }
      case tags.structValue: {
        const isMerged = isPlain ? isObject(content) : kind === "structValue";
        content = readStruct(input, input.delimited(end), isMerged ? content : undefined, isPlain);
        kind = "structValue";
        break;
      }
      case tags.listValue: {
        const isMerged = isPlain ? Array.isArray(content) : kind === "listValue";
        content = readList(input, input.delimited(end), isMerged ? content : undefined, isPlain);
        kind = "listValue";
        break;
      }
      default:
        if (!isPlain) {
          message ??= { $typeName: "google.protobuf.Value", kind: { case: undefined } };
        }
        readOther("google.protobuf.Value", lastValueField, message, tag, input, end);
    }
  }
  input.leave();
  if (isPlain) {
    return content;
  }
  const made = (kind === undefined ? { case: kind } : { case: kind, value: content }) as Value["kind"]; // of one field
  if (message === undefined) {
    return { $typeName: "google.protobuf.Value", kind: made };
  }
  message.kind = made;
  return message;
}

/** @returns a Struct, or its JSON object */
function readStruct(input: Input, end: number, existing: unknown, isPlain: boolean): unknown {
  const made =
    existing ?? (isPlain ? createTable() : { $typeName: "google.protobuf.Struct", fields: createTable() });
  const struct = isPlain ? undefined : (made as Struct); // of this type
  if (isPlain && existing !== undefined) {
    Object.setPrototypeOf(made, null); // a member `__proto__` of what is merged is one like others
  }
  const names = existing === undefined ? 0 : manyNames; // what comes in parts may have any number of them already
  enterContainer(input, end, struct?.fields ?? (made as Record<string, unknown>), struct, names); // plain JSON
  return made;
}

/** @returns a ListValue, or its array */
function readList(input: Input, end: number, existing: unknown, isPlain: boolean): unknown {
  const made = existing ?? (isPlain ? [] : { $typeName: "google.protobuf.ListValue", values: [] });
  const list = isPlain ? undefined : (made as ListValue); // of this type
  enterContainer(input, end, list?.values ?? (made as unknown[]), list, 0); // plain JSON
  return made;
}

function enterContainer(
  input: Input,
  end: number,
  into: Container,
  message: Struct | ListValue | undefined,
  names: number,
): void {
  input.enter();
  input.containers += 1;
  readContainer(input, end, into, message, names);
  input.leave();
}

type Container = Record<string, unknown> | unknown[];

/**
 * @param message that of the container, for one that is not plain JSON
 * @param names how many an object has already, about
 */
function readContainer(
  input: Input,
  end: number,
  into: Container,
  message: Struct | ListValue | undefined,
  names: number,
): void {
  let count = names;
  const isPlain = message === undefined;
  const until = Math.min(end, input.stop);
  while (input.position < until) {
    const tag = input.tag(end);
    input.count(1);
    if (tag !== tags.item) {
      readOther(message?.$typeName ?? "a JSON object or list", 1, message, tag, input, end);
    } else if (Array.isArray(into)) {
      into.push(readValue(input, input.delimited(end), undefined, isPlain));
    } else {
      count += 1;
      if (count > manyNames) input.count(input.manyNamesValues);
      readEntry(into, isPlain ? jsonEntry : valueEntry, input, end);
    }
  }
  if (input.position < end) {
    input.pause(end, () => readContainer(input, end, into, message, count));
  } else if (isPlain && !Array.isArray(into)) {
    Object.setPrototypeOf(into, Object.prototype);
  }
}

/** A field that a Value, Struct or list does not have. Plain JSON does not keep it. */
function readOther(
  typeName: string,
  lastField: number,
  message: Pick<Message, "$unknown"> | undefined,
  tag: number,
  input: Input,
  end: number,
): void {
  if (tag >>> 3 <= lastField) {
    throw malformed(`field ${tag >>> 3} of ${typeName} has the wrong wire type`);
  }
  if (message === undefined) {
    input.skip(tag, end);
  } else {
    readUnknown(message, tag, input, end);
  }
}
