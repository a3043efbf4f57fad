import {
  type DescField,
  type DescMessage,
  type DescOneof,
  type Message,
  type MessageShape,
  protoInt64,
  ScalarType,
} from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import {
  FeatureSet_FieldPresence,
  isWrapperDesc,
  type ListValue,
  type Struct,
  type Value,
} from "@bufbuild/protobuf/wkt";

/**
 * A message in protobuf's binary encoding: the bytes of protobuf-es's `toBinary`, at a fraction of its cost where there
 * are many values, and in one buffer of exactly their length.
 *
 * @throws Error naming the field whose value its type cannot hold, or the required field that is not set
 */
export function encodeMessage<Desc extends DescMessage>(
  desc: Desc,
  message: MessageShape<Desc>,
): Uint8Array<ArrayBuffer> {
  const content = contentOf(desc);
  const sizes: number[] = [];
  const out = new Output(new Uint8Array(content.size(message, sizes)), sizes);
  content.write(message, out);
  return out.bytes;
}

/**
 * How many bytes `encodeMessage` would give.
 *
 * @throws Error as `encodeMessage` does
 */
export function messageLength<Desc extends DescMessage>(desc: Desc, message: MessageShape<Desc>): number {
  return contentOf(desc).size(message, []);
}

/**
 * What is written, and what was noted before: which fields each message has, and the size of each text and each nested
 * message, in the order in which they are written.
 */
class Output {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly #sizes: readonly number[];
  #next = 0;
  #view: DataView | undefined;
  position = 0;

  constructor(bytes: Uint8Array<ArrayBuffer>, sizes: readonly number[]) {
    this.bytes = bytes;
    this.#sizes = sizes;
  }

  nextSize(): number {
    return this.#sizes[this.#next++] ?? 0;
  }

  get view(): DataView {
    this.#view ??= new DataView(this.bytes.buffer);
    return this.#view;
  }

  /** An unsigned number of up to 32 bits. */
  varint(value: number): void {
    let rest = value;
    while (rest > 0x7f) {
      this.bytes[this.position++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.bytes[this.position++] = rest;
  }

  varint64(low: number, high: number): void {
    let [lo, hi] = [low >>> 0, high >>> 0];
    while (hi > 0 || lo > 0x7f) {
      this.bytes[this.position++] = (lo & 0x7f) | 0x80;
      lo = ((lo >>> 7) | (hi << 25)) >>> 0;
      hi >>>= 7;
    }
    this.bytes[this.position++] = lo;
  }

  double(value: number): void {
    this.view.setFloat64(this.position, value, true);
    this.position += 8;
  }

  text(value: string): void {
    const size = this.nextSize();
    this.varint(size);
    const { bytes } = this;
    let at = this.position;
    this.position += size;
    if (size > shortText) {
      encoder.encodeInto(value, bytes.subarray(at, this.position));
    } else if (size === value.length) {
      for (let index = 0; index < size; index++) {
        bytes[at++] = value.charCodeAt(index);
      }
    } else {
      writeUtf8(value, bytes, at);
    }
  }

  raw(value: Uint8Array): void {
    this.bytes.set(value, this.position);
    this.position += value.length;
  }
}

/** How the values of one type are written, without the tag of the field that they stand in. */
interface Form {
  readonly wireType: WireType;
  /** Bytes of a value, its length included; notes the sizes that `write` will need. */
  size(value: unknown, sizes: number[]): number;
  write(value: unknown, out: Output): void;
}

/* ---- Texts ---- */

const encoder = new TextEncoder();

/** Bytes up to which a loop in JavaScript is faster than a call of the encoder. */
const shortText = 64;

/** Characters that are encoded at a time to learn how many bytes a long text takes. */
const countedAtATime = 16 * 1024;
const counted = new Uint8Array(3 * countedAtATime);

function textSize(value: string, sizes: number[]): number {
  const size = value.length <= shortText ? utf8Length(value) : longUtf8Length(value);
  sizes.push(size);
  return varintSize(size) + size;
}

function utf8Length(text: string): number {
  let size = text.length;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) {
      size += code > 0x7ff ? 2 : 1;
      if (isHighSurrogate(code) && isLowSurrogate(text.charCodeAt(index + 1))) {
        index++; // four bytes for two characters
      }
    }
  }
  return size;
}

function longUtf8Length(text: string): number {
  if (text.length <= countedAtATime) {
    return encoder.encodeInto(text, counted).written;
  }
  let size = 0;
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + countedAtATime, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) {
      end--;
    }
    size += encoder.encodeInto(text.slice(start, end), counted).written;
    start = end;
  }
  return size;
}

/** Half of a surrogate pair becomes U+FFFD, as `TextEncoder` makes it. */
function writeUtf8(text: string, bytes: Uint8Array, start: number): void {
  let at = start;
  for (let index = 0; index < text.length; index++) {
    let code = text.charCodeAt(index);
    if (code < 0x80) {
      bytes[at++] = code;
      continue;
    }
    if (code < 0x800) {
      bytes[at++] = 0xc0 | (code >> 6);
    } else {
      const low = text.charCodeAt(index + 1);
      if (isHighSurrogate(code) && isLowSurrogate(low)) {
        index++;
        code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
        bytes[at++] = 0xf0 | (code >> 18);
        bytes[at++] = 0x80 | ((code >> 12) & 0x3f);
      } else {
        code = (code & 0xf800) === 0xd800 ? 0xfffd : code;
        bytes[at++] = 0xe0 | (code >> 12);
      }
      bytes[at++] = 0x80 | ((code >> 6) & 0x3f);
    }
    bytes[at++] = 0x80 | (code & 0x3f);
  }
}

function isHighSurrogate(code: number): boolean {
  return (code & 0xfc00) === 0xd800;
}

function isLowSurrogate(code: number): boolean {
  return (code & 0xfc00) === 0xdc00;
}

/* ---- Scalars ---- */

function varintSize(value: number): number {
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5;
}

function varint64Size(low: number, high: number): number {
  if (high === 0) {
    return varintSize(low >>> 0);
  }
  const bits = 64 - Math.clz32(high);
  return Math.ceil(bits / 7);
}

const int32: Form = {
  wireType: WireType.Varint,
  size: (value) => (toInt32(value) < 0 ? 10 : varintSize(toInt32(value))),
  write: (value, out) => {
    const number = toInt32(value);
    out.varint64(number, number >> 31);
  },
};

const text: Form = {
  wireType: WireType.LengthDelimited,
  size: (value, sizes) => textSize(toText(value), sizes),
  write: (value, out) => out.text(toText(value)),
};

const scalarForms: Record<ScalarType, Form> = {
  [ScalarType.STRING]: text,
  [ScalarType.BYTES]: {
    wireType: WireType.LengthDelimited,
    size: (value) => varintSize(toBytes(value).length) + toBytes(value).length,
    write: (value, out) => {
      const bytes = toBytes(value);
      out.varint(bytes.length);
      out.raw(bytes);
    },
  },
  [ScalarType.BOOL]: {
    wireType: WireType.Varint,
    size: () => 1,
    write: (value, out) => out.varint(value ? 1 : 0),
  },
  [ScalarType.INT32]: int32,
  [ScalarType.UINT32]: {
    wireType: WireType.Varint,
    size: (value) => varintSize(toUint32(value)),
    write: (value, out) => out.varint(toUint32(value)),
  },
  [ScalarType.SINT32]: {
    wireType: WireType.Varint,
    size: (value) => varintSize(zigzag(toInt32(value))),
    write: (value, out) => out.varint(zigzag(toInt32(value))),
  },
  [ScalarType.INT64]: varint64Form((value) => protoInt64.enc(value)),
  [ScalarType.UINT64]: varint64Form((value) => protoInt64.uEnc(value)),
  [ScalarType.SINT64]: varint64Form((value) => {
    const { lo, hi } = protoInt64.enc(value);
    const sign = hi >> 31;
    return { lo: (lo << 1) ^ sign, hi: ((hi << 1) | (lo >>> 31)) ^ sign };
  }),
  [ScalarType.FIXED32]: fixed32Form((view, at, value) => view.setUint32(at, toUint32(value), true)),
  [ScalarType.SFIXED32]: fixed32Form((view, at, value) => view.setInt32(at, toInt32(value), true)),
  [ScalarType.FLOAT]: fixed32Form((view, at, value) => view.setFloat32(at, toFloat(value), true)),
  [ScalarType.FIXED64]: fixed64Form((value) => protoInt64.uEnc(value)),
  [ScalarType.SFIXED64]: fixed64Form((value) => protoInt64.enc(value)),
  [ScalarType.DOUBLE]: {
    wireType: WireType.Bit64,
    size: () => 8,
    write: (value, out) => out.double(Number(value)),
  },
};

type Halves = ReturnType<typeof protoInt64.enc>;
type Int64 = Parameters<typeof protoInt64.enc>[0];

function varint64Form(toHalves: (value: Int64) => Halves): Form {
  return {
    wireType: WireType.Varint,
    size: (value) => {
      const { lo, hi } = toHalves(value as Int64); // it refuses what is none
      return varint64Size(lo, hi);
    },
    write: (value, out) => {
      const { lo, hi } = toHalves(value as Int64); // it refuses what is none
      out.varint64(lo, hi);
    },
  };
}

function fixed64Form(toHalves: (value: Int64) => Halves): Form {
  return {
    wireType: WireType.Bit64,
    size: () => 8,
    write: (value, out) => {
      const { lo, hi } = toHalves(value as Int64); // it refuses what is none
      out.view.setInt32(out.position, lo, true);
      out.view.setInt32(out.position + 4, hi, true);
      out.position += 8;
    },
  };
}

function fixed32Form(set: (view: DataView, at: number, value: unknown) => void): Form {
  return {
    wireType: WireType.Bit32,
    size: () => 4,
    write: (value, out) => {
      set(out.view, out.position, value);
      out.position += 4;
    },
  };
}

function zigzag(value: number): number {
  return ((value << 1) ^ (value >> 31)) >>> 0;
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : String(value);
}

function toBytes(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) {
    return value;
  }
  throw new Error(`invalid bytes: ${typeof value}`);
}

function toInt32(value: unknown): number {
  const number = toNumber(value);
  if (number === (number | 0)) {
    return number;
  }
  throw new Error(`invalid int32: ${String(value)}`);
}

function toUint32(value: unknown): number {
  const number = toNumber(value);
  if (number === number >>> 0) {
    return number;
  }
  throw new Error(`invalid uint32: ${String(value)}`);
}

function toFloat(value: unknown): number {
  const number = toNumber(value);
  if (Number.isFinite(Math.fround(number)) || !Number.isFinite(number)) {
    return number;
  }
  throw new Error(`invalid float32: ${String(value)}`);
}

function toNumber(value: unknown): number {
  if (typeof value === "number") {
    return value;
  }
  if (typeof value === "string" && (value === "NaN" || !Number.isNaN(Number(value)))) {
    return Number(value);
  }
  throw new Error(`invalid number: ${typeof value}`);
}

/* ---- Messages ---- */

/** What stands in a message, without the length before it. */
interface Content {
  size(value: unknown, sizes: number[]): number;
  write(value: unknown, out: Output): void;
}

/** A message by the names of its fields. */
type Fields = Readonly<Record<string, unknown>> & Pick<Message, "$typeName" | "$unknown">;

/** A field, or the fields of a oneof that follow on each other, in the order of their numbers. */
type Member = { readonly name: string } & (
  | ({ readonly kind: "implicit"; readonly zero: unknown; isZero?(value: unknown): boolean } & TaggedForm)
  | ({ readonly kind: "explicit"; readonly isRequired: boolean } & TaggedForm)
  | { readonly kind: "oneof"; readonly cases: Map<unknown, TaggedForm> }
  | ({ readonly kind: "list" } & TaggedForm)
  | ({ readonly kind: "packed" } & TaggedForm)
  | ({ readonly kind: "map" } & TaggedForm)
);

interface TaggedForm {
  /** Number and wire type as they are written. */
  readonly tag: number;
  readonly tagSize: number;
  readonly form: Form;
}

interface OneofValue {
  readonly case: string | undefined;
  readonly value?: unknown;
}

/** Stands among the sizes after the last field that a message has; before the sizes of each stands its place in the type. */
const endOfMembers = -1;

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
  readonly #typeName: string;
  #members: readonly Member[] | undefined;

  constructor(desc: DescMessage) {
    this.#desc = desc;
    this.#typeName = desc.typeName;
  }

  size(value: unknown, sizes: number[]): number {
    const message = value as Fields; // as is checked here
    checkType(message, this.#typeName);
    this.#members ??= membersOf(this.#desc); // not before, because types contain each other
    let total = message.$unknown === undefined ? 0 : unknownSize(message.$unknown);
    let index = 0;
    try {
      for (const member of this.#members) {
        const content = message[member.name];
        if (isSet(member, content, message)) {
          sizes.push(index);
          total += memberSize(member, content, sizes);
        }
        index++;
      }
    } catch (error) {
      const name = this.#members[index]?.name;
      throw error instanceof EncodeError ? error : new EncodeError(`${this.#typeName}.${name}`, error);
    }
    sizes.push(endOfMembers);
    return total;
  }

  write(value: unknown, out: Output): void {
    const message = value as Fields; // `size` has checked it
    for (let index = out.nextSize(); index !== endOfMembers; index = out.nextSize()) {
      const member = this.#members?.[index];
      if (member !== undefined) {
        writeMember(member, message[member.name], out);
      }
    }
    if (message.$unknown !== undefined) {
      writeUnknown(message.$unknown, out);
    }
  }
}

class EncodeError extends Error {
  constructor(field: string, cause: unknown) {
    super(`cannot encode ${field}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

function checkType(message: Partial<Fields> | undefined, typeName: string): void {
  if (message?.$typeName !== typeName) {
    throw new Error(`expected ${typeName}, got ${message?.$typeName ?? typeof message}`);
  }
}

/** Whether there is anything to write of a field. @throws Error when it is required and there is not */
function isSet(member: Member, value: unknown, message: Fields): boolean {
  switch (member.kind) {
    case "implicit":
      return value !== member.zero && member.isZero?.(value) !== true;
    case "explicit":
      // Where defaults stand in a prototype, only a message's own property is set.
      if (value !== undefined && Object.hasOwn(message, member.name)) {
        return true;
      }
      if (member.isRequired) {
        throw new Error("a required field is not set");
      }
      return false;
    case "oneof": {
      const chosen = value as OneofValue; // that is how protobuf-es represents them
      return chosen.case !== undefined && member.cases.has(chosen.case);
    }
    case "list":
    case "packed":
      return (value as readonly unknown[]).length > 0; // that is how protobuf-es represents them
    case "map":
      return true;
  }
}

function memberSize(member: Member, value: unknown, sizes: number[]): number {
  switch (member.kind) {
    case "oneof": {
      const chosen = value as OneofValue; // it is set
      const tagged = member.cases.get(chosen.case);
      return tagged === undefined ? 0 : tagged.tagSize + tagged.form.size(chosen.value, sizes);
    }
    case "list": {
      const items = value as readonly unknown[]; // it is set
      let total = items.length * member.tagSize;
      for (let index = 0; index < items.length; index++) {
        total += member.form.size(items[index], sizes);
      }
      return total;
    }
    case "map": {
      const entries = Object.entries(value as object); // that is how protobuf-es represents them
      let total = entries.length * member.tagSize;
      for (const entry of entries) {
        total += member.form.size(entry, sizes);
      }
      return total;
    }
    default:
      return member.tagSize + member.form.size(value, sizes);
  }
}

function writeMember(member: Member, value: unknown, out: Output): void {
  switch (member.kind) {
    case "oneof": {
      const chosen = value as OneofValue; // it is set
      const tagged = member.cases.get(chosen.case);
      if (tagged !== undefined) {
        writeTagged(tagged, chosen.value, out);
      }
      break;
    }
    case "list": {
      const items = value as readonly unknown[]; // it is set
      for (let index = 0; index < items.length; index++) {
        writeTagged(member, items[index], out);
      }
      break;
    }
    case "map":
      for (const entry of Object.entries(value as object)) {
        writeTagged(member, entry, out);
      }
      break;
    default:
      writeTagged(member, value, out);
  }
}

function writeTagged({ tag, form }: TaggedForm, value: unknown, out: Output): void {
  out.varint(tag);
  form.write(value, out);
}

function membersOf(desc: DescMessage): Member[] {
  const members: Member[] = [];
  let last: DescOneof | undefined;
  for (const field of desc.fields.toSorted((one, other) => one.number - other.number)) {
    const previous = members.at(-1);
    if (field.oneof !== undefined && field.oneof === last && previous?.kind === "oneof") {
      previous.cases.set(field.localName, tagged(field, valueForm(field)));
    } else {
      members.push(memberOf(field));
    }
    last = field.oneof;
  }
  return members;
}

function memberOf(field: DescField): Member {
  const name = field.localName;
  if (field.oneof !== undefined) {
    const cases = new Map<unknown, TaggedForm>([[name, tagged(field, valueForm(field))]]);
    return { kind: "oneof", name: field.oneof.localName, cases };
  }
  switch (field.fieldKind) {
    case "list":
      return field.packed
        ? { kind: "packed", name, ...tagged(field, new Delimited(new PackedContent(valueForm(field)))) }
        : { kind: "list", name, ...tagged(field, valueForm(field)) };
    case "map": {
      const key = { ...tagged({ number: 1 }, scalarForms[field.mapKey]), read: keyReader(field.mapKey) };
      const value = tagged({ number: 2 }, valueForm(field));
      return { kind: "map", name, ...tagged(field, new Delimited(new EntryContent(key, value))) };
    }
    default:
      if (field.presence !== FeatureSet_FieldPresence.IMPLICIT) {
        const isRequired = field.presence === FeatureSet_FieldPresence.LEGACY_REQUIRED;
        return { kind: "explicit", name, isRequired, ...tagged(field, valueForm(field)) };
      }
      return { kind: "implicit", name, ...zeroOf(field), ...tagged(field, valueForm(field)) };
  }
}

function tagged({ number }: Pick<DescField, "number">, form: Form): TaggedForm {
  const tag = ((number << 3) | form.wireType) >>> 0;
  return { tag, tagSize: varintSize(tag), form };
}

/** What a field without presence holds when it is not set. */
function zeroOf(field: DescField): { zero: unknown; isZero?(value: unknown): boolean } {
  if (field.fieldKind === "enum") {
    return { zero: field.enum.values[0]?.number };
  }
  switch (field.scalar) {
    case ScalarType.STRING:
      return { zero: "" };
    case ScalarType.BOOL:
      return { zero: false };
    case ScalarType.BYTES:
      return { zero: Number.NaN, isZero: (value) => value instanceof Uint8Array && value.length === 0 };
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return { zero: Number.NaN, isZero: (value) => Object.is(value, 0) };
    default: // 0, 0n or "0"
      return { zero: 0, isZero: (value) => typeof value !== "object" && Number(value) === 0 };
  }
}

/** How one value of a field is written: an element of a list, a value of a map, or what a singular field holds. */
function valueForm(field: DescField): Form {
  if (field.message === undefined) {
    return field.enum === undefined ? scalarForms[field.scalar ?? ScalarType.BYTES] : int32;
  }
  const content = childContent(field, field.message);
  const isGroup = field.fieldKind !== "map" && field.delimitedEncoding;
  return isGroup ? new Group(field.number, content) : new Delimited(content);
}

function childContent(field: DescField, desc: DescMessage): Content {
  if (desc.typeName === "google.protobuf.Struct" && field.parent.typeName !== "google.protobuf.Value") {
    return jsonObjectContent;
  }
  const isUnwrapped = field.fieldKind === "message" && field.oneof === undefined && isWrapperDesc(desc);
  return isUnwrapped ? new WrapperContent(desc) : contentOf(desc);
}

/** With its length before it. */
class Delimited implements Form {
  readonly wireType: WireType = WireType.LengthDelimited;
  readonly #content: Content;

  constructor(content: Content) {
    this.#content = content;
  }

  size(value: unknown, sizes: number[]): number {
    const place = sizes.push(0) - 1;
    const size = this.#content.size(value, sizes);
    sizes[place] = size;
    return varintSize(size) + size;
  }

  write(value: unknown, out: Output): void {
    out.varint(out.nextSize());
    this.#content.write(value, out);
  }
}

/** Between a tag that opens and one that closes. */
class Group implements Form {
  readonly wireType: WireType = WireType.StartGroup;
  readonly #content: Content;
  readonly #end: number;

  constructor(number: number, content: Content) {
    this.#content = content;
    this.#end = ((number << 3) | WireType.EndGroup) >>> 0;
  }

  size(value: unknown, sizes: number[]): number {
    return this.#content.size(value, sizes) + varintSize(this.#end);
  }

  write(value: unknown, out: Output): void {
    this.#content.write(value, out);
    out.varint(this.#end);
  }
}

/** The wrapped value stands where the message would. */
class WrapperContent implements Content {
  readonly #typeName: string;
  readonly #content: Content;

  constructor(desc: DescMessage) {
    this.#typeName = desc.typeName;
    this.#content = contentOf(desc);
  }

  size(value: unknown, sizes: number[]): number {
    return this.#content.size({ $typeName: this.#typeName, value }, sizes);
  }

  write(value: unknown, out: Output): void {
    this.#content.write({ $typeName: this.#typeName, value }, out);
  }
}

class PackedContent implements Content {
  readonly #form: Form;

  constructor(form: Form) {
    this.#form = form;
  }

  size(value: unknown, sizes: number[]): number {
    let total = 0;
    for (const item of value as Iterable<unknown>) {
      // a repeated field
      total += this.#form.size(item, sizes);
    }
    return total;
  }

  write(value: unknown, out: Output): void {
    for (const item of value as Iterable<unknown>) {
      // a repeated field
      this.#form.write(item, out);
    }
  }
}

/** An entry of a map: its key is field 1, its value field 2. */
class EntryContent implements Content {
  readonly #key: MapKey;
  readonly #value: TaggedForm;

  constructor(key: MapKey, value: TaggedForm) {
    this.#key = key;
    this.#value = value;
  }

  size(entry: unknown, sizes: number[]): number {
    const [name, value] = entry as [string, unknown]; // one of `Object.entries`
    return 2 + this.#key.form.size(this.#key.read(name), sizes) + this.#value.form.size(value, sizes);
  }

  write(entry: unknown, out: Output): void {
    const [name, value] = entry as [string, unknown]; // one of `Object.entries`
    writeTagged(this.#key, this.#key.read(name), out);
    writeTagged(this.#value, value, out);
  }
}

interface MapKey extends TaggedForm {
  /** The key, from the name of the property that stands for it. */
  read(name: string): unknown;
}

function keyReader(type: ScalarType): MapKey["read"] {
  switch (type) {
    case ScalarType.BOOL:
      return (name) => name !== "false";
    default: // the forms of numbers take text
      return (name) => name;
  }
}

function unknownSize(fields: NonNullable<Message["$unknown"]>): number {
  return fields.reduce(
    (total, { no, wireType, data }) => total + varintSize(((no << 3) | wireType) >>> 0) + data.length,
    0,
  );
}

function writeUnknown(fields: NonNullable<Message["$unknown"]>, out: Output): void {
  for (const { no, wireType, data } of fields) {
    out.varint(((no << 3) | wireType) >>> 0);
    out.raw(data);
  }
}

/* ---- Struct, Value and ListValue: most of a large message, and so by hand ---- */

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

const valueContent: Content = {
  size: (value, sizes) => valueSize(value as Value, sizes), // as is checked there
  write: (value, out) => writeValue(value as Value, out), // `size` has checked it
};

const structContent: Content = {
  size: (value, sizes) => structSize(value as Struct, sizes), // as is checked there
  write: (value, out) => writeStruct(value as Struct, out), // `size` has checked it
};

const listContent: Content = {
  size: (value, sizes) => listSize(value as ListValue, sizes), // as is checked there
  write: (value, out) => writeList(value as ListValue, out), // `size` has checked it
};

const jsonContents: ReadonlyMap<string, Content> = new Map([
  ["google.protobuf.Value", valueContent],
  ["google.protobuf.Struct", structContent],
  ["google.protobuf.ListValue", listContent],
]);

function valueSize(value: Value, sizes: number[]): number {
  checkType(value, "google.protobuf.Value");
  const { kind, $unknown } = value;
  const unknown = $unknown === undefined ? 0 : unknownSize($unknown);
  switch (kind.case) {
    case "numberValue":
      return unknown + 9;
    case "stringValue":
      return unknown + 1 + textSize(toText(kind.value), sizes);
    case "boolValue":
      return unknown + 2;
    case "nullValue":
      return unknown + 1 + int32.size(kind.value, sizes);
    case "structValue": {
      const place = sizes.push(0) - 1;
      const size = structSize(kind.value, sizes);
      sizes[place] = size;
      return unknown + 1 + varintSize(size) + size;
    }
    case "listValue": {
      const place = sizes.push(0) - 1;
      const size = listSize(kind.value, sizes);
      sizes[place] = size;
      return unknown + 1 + varintSize(size) + size;
    }
    default:
      return unknown;
  }
}

function writeValue({ kind, $unknown }: Value, out: Output): void {
  switch (kind.case) {
    case "numberValue":
      out.varint(tags.numberValue);
      out.double(kind.value);
      break;
    case "stringValue":
      out.varint(tags.stringValue);
      out.text(toText(kind.value));
      break;
    case "boolValue":
      out.varint(tags.boolValue);
      out.varint(kind.value ? 1 : 0);
      break;
    case "nullValue":
      out.varint(tags.nullValue);
      int32.write(kind.value, out);
      break;
    case "structValue":
      out.varint(tags.structValue);
      out.varint(out.nextSize());
      writeStruct(kind.value, out);
      break;
    case "listValue":
      out.varint(tags.listValue);
      out.varint(out.nextSize());
      writeList(kind.value, out);
      break;
  }
  if ($unknown !== undefined) {
    writeUnknown($unknown, out);
  }
}

function structSize(struct: Struct, sizes: number[]): number {
  checkType(struct, "google.protobuf.Struct");
  const { fields, $unknown } = struct;
  let total = $unknown === undefined ? 0 : unknownSize($unknown);
  for (const name of Object.keys(fields)) {
    const entry = sizes.push(0) - 1;
    const nameSize = textSize(name, sizes);
    const place = sizes.push(0) - 1;
    const size = valueSize(fields[name] as Value, sizes); // the name is one of its own
    sizes[place] = size;
    total += 1 + noteEntry(sizes, entry, nameSize, size);
  }
  return total;
}

function writeStruct({ fields, $unknown }: Struct, out: Output): void {
  for (const name of Object.keys(fields)) {
    writeEntryStart(name, out);
    writeValue(fields[name] as Value, out); // the name is one of its own
  }
  if ($unknown !== undefined) {
    writeUnknown($unknown, out);
  }
}

/** Notes how long an entry is whose value takes `size` bytes. @returns the bytes it takes, its own length included */
function noteEntry(sizes: number[], place: number, nameSize: number, size: number): number {
  const total = 2 + nameSize + varintSize(size) + size;
  sizes[place] = total;
  return varintSize(total) + total;
}

/** Everything of an entry but its value. */
function writeEntryStart(name: string, out: Output): void {
  out.varint(tags.item);
  out.varint(out.nextSize());
  out.varint(tags.entryKey);
  out.text(name);
  out.varint(tags.entryValue);
  out.varint(out.nextSize());
}

function listSize(list: ListValue, sizes: number[]): number {
  checkType(list, "google.protobuf.ListValue");
  const { values, $unknown } = list;
  let total = values.length + ($unknown === undefined ? 0 : unknownSize($unknown));
  for (const value of values) {
    const place = sizes.push(0) - 1;
    const size = valueSize(value, sizes);
    sizes[place] = size;
    total += varintSize(size) + size;
  }
  return total;
}

function writeList({ values, $unknown }: ListValue, out: Output): void {
  for (const value of values) {
    out.varint(tags.item);
    out.varint(out.nextSize());
    writeValue(value, out);
  }
  if ($unknown !== undefined) {
    writeUnknown($unknown, out);
  }
}

/* ---- The same from plain JSON, as fields of type Struct hold it ---- */

const jsonObjectContent: Content = {
  size: (value, sizes) => jsonObjectSize(value, sizes),
  write: (value, out) => writeJsonObject(value, out),
};

function jsonSize(json: unknown, sizes: number[]): number {
  switch (typeof json) {
    case "number":
      return 9;
    case "string":
      return 1 + textSize(json, sizes);
    case "boolean":
      return 2;
    case "object": {
      if (json === null) {
        return 2;
      }
      const place = sizes.push(0) - 1;
      const size = Array.isArray(json) ? jsonListSize(json, sizes) : jsonObjectSize(json, sizes);
      sizes[place] = size;
      return 1 + varintSize(size) + size;
    }
    default: // no JSON: a Value of no kind
      return 0;
  }
}

function writeJson(json: unknown, out: Output): void {
  switch (typeof json) {
    case "number":
      out.varint(tags.numberValue);
      out.double(json);
      break;
    case "string":
      out.varint(tags.stringValue);
      out.text(json);
      break;
    case "boolean":
      out.varint(tags.boolValue);
      out.varint(json ? 1 : 0);
      break;
    case "object":
      if (json === null) {
        out.varint(tags.nullValue);
        out.varint(0);
      } else if (Array.isArray(json)) {
        out.varint(tags.listValue);
        out.varint(out.nextSize());
        writeJsonList(json, out);
      } else {
        out.varint(tags.structValue);
        out.varint(out.nextSize());
        writeJsonObject(json, out);
      }
  }
}

function jsonObjectSize(json: unknown, sizes: number[]): number {
  if (!isJsonObject(json)) {
    return 0;
  }
  let total = 0;
  for (const name of Object.keys(json)) {
    const entry = sizes.push(0) - 1;
    const nameSize = textSize(name, sizes);
    const place = sizes.push(0) - 1;
    const size = jsonSize(json[name], sizes);
    sizes[place] = size;
    total += 1 + noteEntry(sizes, entry, nameSize, size);
  }
  return total;
}

function writeJsonObject(json: unknown, out: Output): void {
  if (isJsonObject(json)) {
    for (const name of Object.keys(json)) {
      writeEntryStart(name, out);
      writeJson(json[name], out);
    }
  }
}

function isJsonObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

function jsonListSize(list: readonly unknown[], sizes: number[]): number {
  let total = list.length;
  for (const item of list) {
    const place = sizes.push(0) - 1;
    const size = jsonSize(item, sizes);
    sizes[place] = size;
    total += varintSize(size) + size;
  }
  return total;
}

function writeJsonList(list: readonly unknown[], out: Output): void {
  for (const item of list) {
    out.varint(tags.item);
    out.varint(out.nextSize());
    writeJson(item, out);
  }
}
