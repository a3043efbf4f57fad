import {
  create,
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  type Message,
  type MessageShape,
  protoInt64,
  ScalarType,
} from "@bufbuild/protobuf";
import { scalarZeroValue } from "@bufbuild/protobuf/reflect";
import { WireType } from "@bufbuild/protobuf/wire";
import { isWrapperDesc, type ListValue, type Struct, type Value } from "@bufbuild/protobuf/wkt";

export interface DecodeOptions {
  /**
   * Messages that may stand inside each other, the outermost and those of Values, Structs and lists included. Default
   * no limit.
   */
  readonly maxDepth?: number;
  /**
   * Values that the message may have, counted while it is read. A field counts one each time it occurs, known or not, an
   * element of a packed field or a ListValue one, an entry of a map or a Struct two. Default no limit.
   */
  readonly maxValues?: number;
  /** What becomes of fields that the message's type does not have. Default `keep`: they are written again. */
  readonly unknownFields?: "drop" | "keep";
}

/** Why bytes were not read as a message. */
export class DecodeError extends Error {
  readonly reason: "malformed" | "too-deep" | "too-many-values";

  constructor(reason: DecodeError["reason"], message: string) {
    super(message);
    this.name = "DecodeError";
    this.reason = reason;
  }
}

/**
 * The message that these bytes are in protobuf's binary encoding: what protobuf-es's `fromBinary` gives, at a fraction of
 * its cost where there are many values.
 *
 * A field that occurs again is merged as protobuf demands, so the bytes of two messages joined are those of both merged.
 * Maps and JSON objects have no prototype: objects whose names are the caller's own would each get a hidden class
 * otherwise, at a microsecond and more. Bytes fields are views of `bytes`.
 *
 * It refuses more than `fromBinary`: a known field of another wire type, and what reaches beyond the message that it is in.
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

/** Reads the bytes into a message that is there already, as if they followed its own. Without limits. @throws DecodeError */
export function mergeMessage(desc: DescMessage, message: Message, bytes: Uint8Array): void {
  contentOf(desc).read(new Input(bytes, {}), bytes.length, message);
}

/** More than any message has: a 32-bit number, which costs less to count with than Infinity. */
const unlimited = 0x3fff_ffff;

/** What is read, how far reading has come, and what may still follow. */
class Input {
  readonly bytes: Uint8Array;
  readonly keepsUnknown: boolean;
  readonly #maxValues: number;
  readonly #maxDepth: number;
  #valuesLeft: number;
  #depthLeft: number;
  #view: DataView | undefined;
  position = 0;
  /** The upper half of the number that was read last. */
  high = 0;

  constructor(bytes: Uint8Array, { maxDepth, maxValues, unknownFields }: DecodeOptions) {
    this.bytes = bytes;
    this.keepsUnknown = unknownFields !== "drop";
    this.#maxValues = this.#valuesLeft = Math.min(maxValues ?? unlimited, unlimited);
    this.#maxDepth = this.#depthLeft = Math.min(maxDepth ?? unlimited, unlimited);
  }

  count(values: number): void {
    this.#valuesLeft -= values;
    if (this.#valuesLeft < 0) {
      throw new DecodeError("too-many-values", `there are more than ${this.#maxValues} values`);
    }
  }

  /** A message begins, or a group of unknown fields. */
  enter(): void {
    this.#depthLeft--;
    if (this.#depthLeft < 0) {
      throw new DecodeError("too-deep", `messages are nested deeper than ${this.#maxDepth} levels`);
    }
  }

  leave(): void {
    this.#depthLeft++;
  }

  get view(): DataView {
    this.#view ??= new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength);
    return this.#view;
  }

  /** Where `size` bytes from here end, which is not beyond `end`. */
  after(size: number, end: number): number {
    const after = this.position + size;
    if (after > end) {
      throw malformed("a field reaches beyond the message that it is in");
    }
    return after;
  }

  /** The end of what has its length before it. */
  delimited(end: number): number {
    return this.after(this.varint(end), end);
  }

  tag(end: number): number {
    const start = this.position;
    const tag = this.varint(end);
    const size = this.position - start;
    if (tag < 8 || size > 5 || this.high !== 0) {
      throw malformed("a field has no valid number");
    }
    return tag;
  }

  /** The lower 32 bits, unsigned, of a number of up to 64; the upper ones are in `high`. */
  varint(end: number): number {
    const { bytes } = this;
    let at = this.position;
    const byte = at < end ? (bytes[at++] ?? 0) : 0x80;
    if (byte < 0x80) {
      this.position = at;
      this.high = 0;
      return byte;
    }
    return this.#longVarint(end);
  }

  #longVarint(end: number): number {
    const { bytes } = this;
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70 && this.position < end; shift += 7) {
      const byte = bytes[this.position++] ?? 0;
      const bits = byte & 0x7f;
      if (shift < 28) {
        low |= bits << shift;
      } else if (shift === 28) {
        low |= bits << 28;
        high = bits >> 4;
      } else {
        high |= bits << (shift - 32);
      }
      if (byte < 0x80) {
        this.high = high;
        return low >>> 0;
      }
    }
    throw malformed("a number has no end");
  }

  double(end: number): number {
    const at = this.position;
    this.position = this.after(8, end);
    return this.view.getFloat64(at, true);
  }

  text(end: number, isStrict: boolean): string {
    const after = this.delimited(end);
    const text = after - this.position <= shortText ? shortUtf8(this.bytes, this.position, after) : undefined;
    const start = this.position;
    this.position = after;
    return text ?? decodeUtf8(this.bytes.subarray(start, after), isStrict);
  }

  /** Passes over a field that is not known; what is in a group counts, too. */
  skip(tag: number, end: number): void {
    switch (tag & 7) {
      case WireType.Varint:
        this.varint(end);
        break;
      case WireType.Bit64:
        this.position = this.after(8, end);
        break;
      case WireType.Bit32:
        this.position = this.after(4, end);
        break;
      case WireType.LengthDelimited:
        this.position = this.delimited(end);
        break;
      case WireType.StartGroup:
        this.skipGroup(tag, end);
        break;
      default:
        throw malformed("a group ends that did not begin, or a field has no valid type");
    }
  }

  /** @returns where the tag stands that ends the group */
  skipGroup(startTag: number, end: number): number {
    this.enter();
    for (;;) {
      const start = this.position;
      const tag = this.tag(end);
      if (tag === startTag + 1) {
        this.leave();
        return start;
      }
      this.count(1);
      this.skip(tag, end);
    }
  }
}

function malformed(message: string): DecodeError {
  return new DecodeError("malformed", message);
}

/* ---- Texts ---- */

/** Bytes up to which a loop in JavaScript is faster than a call of the decoder. */
const shortText = 48;
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenientDecoder = new TextDecoder("utf-8", { ignoreBOM: true });

function decodeUtf8(bytes: Uint8Array, isStrict: boolean): string {
  if (!isStrict) {
    return lenientDecoder.decode(bytes);
  }
  try {
    return strictDecoder.decode(bytes);
  } catch {
    throw malformed("a text is not valid UTF-8");
  }
}

/** @returns undefined for what is no valid UTF-8, and for what the decoder has to look at */
function shortUtf8(bytes: Uint8Array, start: number, end: number): string | undefined {
  const codes: number[] = [];
  for (let at = start; at < end; ) {
    const first = bytes[at++] ?? 0;
    if (first < 0x80) {
      codes.push(first);
      continue;
    }
    const length = first < 0xc2 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : 0;
    if (length === 0 || at + length > end) {
      return undefined;
    }
    let code = first & (0x3f >> length);
    for (let rest = length; rest > 0; rest--) {
      const next = bytes[at++] ?? 0;
      if ((next & 0xc0) !== 0x80) {
        return undefined;
      }
      code = (code << 6) | (next & 0x3f);
    }
    if (length === 2 && (code < 0x800 || (code & 0xf800) === 0xd800)) {
      return undefined;
    }
    if (length === 3) {
      if (code < 0x10000 || code > 0x10ffff) {
        return undefined;
      }
      codes.push(0xd800 + ((code - 0x10000) >> 10), 0xdc00 + (code & 0x3ff));
    } else {
      codes.push(code);
    }
  }
  return String.fromCharCode.apply(String, codes);
}

/* ---- Scalars ---- */

/** Reads a value that ends at or before `end`. A message is merged into the one that is there. */
type ReadValue = (input: Input, end: number, existing: unknown) => unknown;

interface Scalar {
  readonly wireType: WireType;
  readonly read: ReadValue;
}

const int32: Scalar = { wireType: WireType.Varint, read: (input, end) => input.varint(end) | 0 };

const scalars: Record<ScalarType, Scalar> = {
  [ScalarType.STRING]: { wireType: WireType.LengthDelimited, read: (input, end) => input.text(end, true) },
  [ScalarType.BYTES]: {
    wireType: WireType.LengthDelimited,
    read: (input, end) => {
      const after = input.delimited(end);
      const start = input.position;
      input.position = after;
      return input.bytes.subarray(start, after);
    },
  },
  [ScalarType.BOOL]: { wireType: WireType.Varint, read: (input, end) => readBoolean(input, end) },
  [ScalarType.INT32]: int32,
  [ScalarType.UINT32]: { wireType: WireType.Varint, read: (input, end) => input.varint(end) },
  [ScalarType.SINT32]: {
    wireType: WireType.Varint,
    read: (input, end) => {
      const value = input.varint(end);
      return (value >>> 1) ^ -(value & 1);
    },
  },
  [ScalarType.INT64]: {
    wireType: WireType.Varint,
    read: (input, end) => protoInt64.dec(input.varint(end) | 0, input.high),
  },
  [ScalarType.UINT64]: {
    wireType: WireType.Varint,
    read: (input, end) => protoInt64.uDec(input.varint(end) | 0, input.high),
  },
  [ScalarType.SINT64]: {
    wireType: WireType.Varint,
    read: (input, end) => {
      const low = input.varint(end);
      const sign = -(low & 1);
      return protoInt64.dec(((low >>> 1) | (input.high << 31)) ^ sign, (input.high >>> 1) ^ sign);
    },
  },
  [ScalarType.FIXED32]: fixed32((view, at) => view.getUint32(at, true)),
  [ScalarType.SFIXED32]: fixed32((view, at) => view.getInt32(at, true)),
  [ScalarType.FLOAT]: fixed32((view, at) => view.getFloat32(at, true)),
  [ScalarType.FIXED64]: fixed64((low, high) => protoInt64.uDec(low, high)),
  [ScalarType.SFIXED64]: fixed64((low, high) => protoInt64.dec(low, high)),
  [ScalarType.DOUBLE]: { wireType: WireType.Bit64, read: (input, end) => input.double(end) },
};

/** Texts of proto2 need not be UTF-8. */
const lenientText: Scalar = {
  wireType: WireType.LengthDelimited,
  read: (input, end) => input.text(end, false),
};

function fixed32(get: (view: DataView, at: number) => number): Scalar {
  return {
    wireType: WireType.Bit32,
    read: (input, end) => {
      const at = input.position;
      input.position = input.after(4, end);
      return get(input.view, at);
    },
  };
}

function fixed64(join: (low: number, high: number) => unknown): Scalar {
  return {
    wireType: WireType.Bit64,
    read: (input, end) => {
      const at = input.position;
      input.position = input.after(8, end);
      return join(input.view.getInt32(at, true), input.view.getInt32(at + 4, true));
    },
  };
}

function readBoolean(input: Input, end: number): boolean {
  return input.varint(end) !== 0 || input.high !== 0;
}

/* ---- Messages ---- */

/** What stands in a message, without the length before it. */
interface Content {
  /** Merges it into the message that is there. */
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
  | { readonly kind: "map"; readonly entry: Entry }
);

const contents = new WeakMap<DescMessage, Content>();

function contentOf(desc: DescMessage): Content {
  let content = contents.get(desc);
  if (content === undefined) {
    content = jsonContents.get(desc.typeName) ?? new MessageContent(desc);
    contents.set(desc, content);
  }
  return content;
}

class MessageContent implements Content {
  readonly #desc: DescMessage;
  /** By tag: the number of the field and a wire type that it may have. */
  #fields: ReadonlyMap<number, Field> | undefined;

  constructor(desc: DescMessage) {
    this.#desc = desc;
  }

  read(input: Input, end: number, existing: unknown): unknown {
    input.enter();
    this.#fields ??= fieldsOf(this.#desc); // not before, because types contain each other
    const message = (existing ?? create(this.#desc)) as Fields; // of this type
    while (input.position < end) {
      const tag = input.tag(end);
      input.count(1);
      const field = this.#fields.get(tag);
      if (field === undefined) {
        this.#readOther(message, tag, input, end);
      } else {
        readField(message, field, input, end);
      }
    }
    input.leave();
    return message;
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
      message[field.oneof] = { case: name, value: read(input, end, chosen === name ? value : undefined) };
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
        map = message[name] = dictionary(); // in place of the empty one that the message was made with
      }
      field.entry.read(map, input, end);
    }
  }
}

/** @param T what the names stand for */
function dictionary<T>(): Record<string, T> {
  return Object.create(null);
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
      if (wireType !== WireType.LengthDelimited && wireType !== WireType.StartGroup) {
        set(WireType.LengthDelimited, { kind: "packed", name, read });
      }
    } else if (field.fieldKind === "map") {
      set(WireType.LengthDelimited, { kind: "map", name, read, entry: new Entry(field, { wireType, read }) });
    } else {
      set(wireType, { kind: field.fieldKind === "message" ? "message" : "scalar", name, read });
    }
  }
  return fields;
}

/** How one value of a field is read: an element of a list, a value of a map, or what a singular field holds. */
function valueReader(field: DescField): Scalar {
  if (field.message === undefined) {
    return field.enum === undefined ? scalarReader(field) : int32;
  }
  const isGroup = field.fieldKind !== "map" && field.delimitedEncoding;
  const content = messageReader(field, field.message);
  if (isGroup) {
    const startTag = ((field.number << 3) | WireType.StartGroup) >>> 0;
    return {
      wireType: WireType.StartGroup,
      read: (input, end, existing) => {
        const start = input.position;
        const groupEnd = input.skipGroup(startTag, end);
        const after = input.position;
        input.position = start;
        const message = content.read(input, groupEnd, existing);
        input.position = after;
        return message;
      },
    };
  }
  return {
    wireType: WireType.LengthDelimited,
    read: (input, end, existing) => content.read(input, input.delimited(end), existing),
  };
}

function scalarReader(field: DescField): Scalar {
  const type = field.scalar ?? ScalarType.BYTES; // it has one, being neither a message nor an enum
  if (type === ScalarType.STRING && !field.utf8Validation) {
    return lenientText;
  }
  const scalar = scalars[type];
  const isText = field.fieldKind !== "map" && "longAsString" in field && field.longAsString;
  return isText ? { ...scalar, read: (input, end) => String(scalar.read(input, end, undefined)) } : scalar;
}

function messageReader(field: DescField, desc: DescMessage): Content {
  if (desc.typeName === "google.protobuf.Struct" && field.parent.typeName !== "google.protobuf.Value") {
    return { read: (input, end, existing) => readJsonObject(input, end, existing as JsonObject | undefined) };
  }
  const content = contentOf(desc);
  if (field.fieldKind !== "message" || field.oneof !== undefined || !isWrapperDesc(desc)) {
    return content;
  }
  return {
    read(input, end, existing) {
      const wrapped = existing === undefined ? undefined : create(desc, { value: existing });
      return (content.read(input, end, wrapped) as { value: unknown }).value; // every wrapper has one
    },
  };
}

/** An entry of a map: its key is field 1, its value field 2; where one is missing, it is the empty one of its type. */
class Entry {
  readonly #keyTag: number;
  readonly #valueTag: number;
  readonly #readKey: ReadValue;
  readonly #readValue: ReadValue;
  readonly #field: Extract<DescField, { fieldKind: "map" }>;

  constructor(field: Extract<DescField, { fieldKind: "map" }>, value: Scalar) {
    const key =
      field.mapKey === ScalarType.STRING && !field.utf8Validation ? lenientText : scalars[field.mapKey];
    this.#keyTag = (1 << 3) | key.wireType;
    this.#valueTag = (2 << 3) | value.wireType;
    this.#readKey = key.read;
    this.#readValue = value.read;
    this.#field = field;
  }

  read(map: Record<string, unknown>, input: Input, parentEnd: number): void {
    input.count(1); // and one for the value, as for every field
    const end = input.delimited(parentEnd);
    let [key, value]: unknown[] = [];
    for (let fields = 0; input.position < end; fields++) {
      if (fields > 1) {
        input.count(1);
      }
      const tag = input.tag(end);
      if (tag === this.#keyTag) {
        key = this.#readKey(input, end, undefined);
      } else if (tag === this.#valueTag) {
        value = this.#readValue(input, end, value);
      } else {
        skipInEntry(tag, input, end);
      }
    }
    map[String(key ?? scalarZeroValue(this.#field.mapKey, false))] = value ?? emptyValue(this.#field);
  }
}

function skipInEntry(tag: number, input: Input, end: number): void {
  if (tag >>> 3 <= 2) {
    throw malformed("the key or the value of a map's entry has the wrong wire type");
  }
  input.skip(tag, end);
}

function emptyValue(field: Extract<DescField, { fieldKind: "map" }>): unknown {
  switch (field.mapKind) {
    case "scalar":
      return scalarZeroValue(field.scalar, false);
    case "enum":
      return field.enum.values[0]?.number;
    case "message":
      return field.message.typeName === "google.protobuf.Struct" ? dictionary() : create(field.message);
  }
}

/* ---- Struct, Value and ListValue: most of a large message, and so by hand ---- */

/** A Value that nothing has been read of. */
const none: Value["kind"] = { case: undefined };

/** Tags of Value's fields, and of those of Struct, its entries and ListValue. */
const tags = {
  nullValue: 0x08,
  numberValue: 0x11,
  stringValue: 0x1a,
  boolValue: 0x20,
  structValue: 0x2a,
  listValue: 0x32,
  item: 0x0a,
  entryKey: 0x0a,
  entryValue: 0x12,
} as const;

const lastValueField = 6;

const jsonContents: ReadonlyMap<string, Content> = new Map<string, Content>([
  ["google.protobuf.Value", { read: readValue }],
  ["google.protobuf.Struct", { read: readStruct }],
  ["google.protobuf.ListValue", { read: readList }],
]);

function readValue(input: Input, end: number, existing: unknown): Value {
  input.enter();
  let value = existing as Value | undefined; // of this type
  let kind: Value["kind"] = value?.kind ?? none;
  for (let fields = 0; input.position < end; fields++) {
    const tag = input.tag(end);
    if (fields > 0) {
      input.count(1); // the one that it has is counted with the Value
    }
    switch (tag) {
      case tags.numberValue:
        kind = { case: "numberValue", value: input.double(end) };
        break;
      case tags.stringValue:
        kind = { case: "stringValue", value: input.text(end, true) };
        break;
      case tags.boolValue:
        kind = { case: "boolValue", value: readBoolean(input, end) };
        break;
      case tags.nullValue:
        kind = { case: "nullValue", value: input.varint(end) | 0 };
        break;
      case tags.structValue: {
        const struct = kind.case === "structValue" ? kind.value : undefined;
        kind = { case: "structValue", value: readStruct(input, input.delimited(end), struct) };
        break;
      }
      case tags.listValue: {
        const list = kind.case === "listValue" ? kind.value : undefined;
        kind = { case: "listValue", value: readList(input, input.delimited(end), list) };
        break;
      }
      default:
        refuseKnown("google.protobuf.Value", tag, lastValueField);
        value ??= { $typeName: "google.protobuf.Value", kind };
        readUnknown(value, tag, input, end);
    }
  }
  input.leave();
  if (value === undefined) {
    return { $typeName: "google.protobuf.Value", kind: kind === none ? { case: undefined } : kind };
  }
  value.kind = kind;
  return value;
}

function readStruct(input: Input, end: number, existing: unknown): Struct {
  input.enter();
  const struct = (existing ?? { $typeName: "google.protobuf.Struct", fields: dictionary() }) as Struct; // of this type
  while (input.position < end) {
    const tag = input.tag(end);
    input.count(1);
    if (tag === tags.item) {
      readEntry(struct.fields, readValue, input, end);
    } else {
      refuseKnown("google.protobuf.Struct", tag, 1);
      readUnknown(struct, tag, input, end);
    }
  }
  input.leave();
  return struct;
}

/** An entry of a Struct, its values being Values or what they stand for; it has been counted once. */
function readEntry<T>(
  fields: Record<string, T>,
  read: (input: Input, end: number, existing: T | undefined) => T,
  input: Input,
  parentEnd: number,
): void {
  input.count(1);
  const end = input.delimited(parentEnd);
  let name = "";
  let value: T | undefined;
  for (let count = 0; input.position < end; count++) {
    if (count > 1) {
      input.count(1);
    }
    const tag = input.tag(end);
    if (tag === tags.entryKey) {
      name = input.text(end, true);
    } else if (tag === tags.entryValue) {
      value = read(input, input.delimited(end), value);
    } else {
      skipInEntry(tag, input, end);
    }
  }
  fields[name] = value === undefined ? read(input, input.position, undefined) : value;
}

function readList(input: Input, end: number, existing: unknown): ListValue {
  input.enter();
  const list = (existing ?? { $typeName: "google.protobuf.ListValue", values: [] }) as ListValue; // of this type
  while (input.position < end) {
    const tag = input.tag(end);
    input.count(1);
    if (tag === tags.item) {
      list.values.push(readValue(input, input.delimited(end), undefined));
    } else {
      refuseKnown("google.protobuf.ListValue", tag, 1);
      readUnknown(list, tag, input, end);
    }
  }
  input.leave();
  return list;
}

function refuseKnown(typeName: string, tag: number, lastField: number): void {
  if (tag >>> 3 <= lastField) {
    throw malformed(`field ${tag >>> 3} of ${typeName} has the wrong wire type`);
  }
}

/* ---- The same as plain JSON, as fields of type Struct hold it ---- */

function readJsonObject(input: Input, end: number, existing: JsonObject | undefined): JsonObject {
  input.enter();
  const object = existing ?? dictionary<JsonValue>();
  while (input.position < end) {
    const tag = input.tag(end);
    input.count(1);
    if (tag === tags.item) {
      readEntry(object, readJson, input, end);
    } else {
      refuseKnown("google.protobuf.Struct", tag, 1);
      input.skip(tag, end);
    }
  }
  input.leave();
  return object;
}

function readJson(input: Input, end: number, existing: JsonValue | undefined): JsonValue {
  input.enter();
  let json: JsonValue = existing ?? null;
  for (let count = 0; input.position < end; count++) {
    const tag = input.tag(end);
    if (count > 0) {
      input.count(1); // the one that it has is counted with the Value
    }
    switch (tag) {
      case tags.numberValue:
        json = input.double(end);
        break;
      case tags.stringValue:
        json = input.text(end, true);
        break;
      case tags.boolValue:
        json = readBoolean(input, end);
        break;
      case tags.nullValue:
        input.varint(end);
        json = null;
        break;
      case tags.structValue:
        json = readJsonObject(input, input.delimited(end), isJsonObject(json) ? json : undefined);
        break;
      case tags.listValue:
        json = readJsonList(input, input.delimited(end), Array.isArray(json) ? json : []);
        break;
      default:
        refuseKnown("google.protobuf.Value", tag, lastValueField);
        input.skip(tag, end);
    }
  }
  input.leave();
  return json;
}

function isJsonObject(json: JsonValue): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

function readJsonList(input: Input, end: number, list: JsonValue[]): JsonValue[] {
  input.enter();
  while (input.position < end) {
    const tag = input.tag(end);
    input.count(1);
    if (tag === tags.item) {
      list.push(readJson(input, input.delimited(end), undefined));
    } else {
      refuseKnown("google.protobuf.ListValue", tag, 1);
      input.skip(tag, end);
    }
  }
  input.leave();
  return list;
}
