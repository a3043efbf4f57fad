import {
  type DescField,
  type DescMessage,
  type Message,
  type MessageShape,
  protoInt64,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { scalarZeroValue } from "@bufbuild/protobuf/reflect";
import { WireType } from "@bufbuild/protobuf/wire";
import { FeatureSet_FieldPresence, type ListValue, type Struct, type Value } from "@bufbuild/protobuf/wkt";
import { createTable } from "../json-value.ts";
import { divideText, utf8Length } from "../long-text.ts";
import { isLarge } from "../message-weight.ts";
import { encodedText, longText } from "./encoded-texts.ts";
import { isJsonField, isOwnType, type OwnScalar, tags } from "./schema.ts";

/**
 * Encodes a message in protobuf's binary encoding: the bytes of protobuf-es's `toBinary`, at a fraction of its cost for
 * messages with many values, and in one buffer of exactly their length.
 *
 * @throws Error naming the field whose value its type cannot hold
 */
export function encodeMessage<Desc extends DescMessage>(
  desc: Desc,
  message: MessageShape<Desc>,
): Uint8Array<ArrayBuffer> {
  return encodeAtOnce(desc, message, undefined);
}

/**
 * The one binary encoding of a message of A2A: messages with the same meaning have the same bytes, whichever wire they
 * came over.
 *
 * Protobuf does not fix the order of map entries, and encoders write them in the order of insertion. Here keys are
 * sorted at every depth, in Structs and data parts, too. Negative zero becomes zero, because JSON encoders drop its
 * sign. An empty singular message is left out, because it means the same as a missing one. Fields that this version
 * does not know are left out, too. None of this is done in messages that protobuf-es encodes.
 *
 * @param omit fields to leave out at any depth
 */
export function encodeDeterministically<Desc extends DescMessage>(
  desc: Desc,
  message: MessageShape<Desc>,
  omit: ReadonlySet<DescField> = new Set(),
): Uint8Array<ArrayBuffer> {
  return encodeAtOnce(desc, message, omit);
}

function encodeAtOnce(
  desc: DescMessage,
  message: Message,
  omit: ReadonlySet<DescField> | undefined,
): Uint8Array<ArrayBuffer> {
  const out = spare ?? new Output();
  spare = undefined; // a getter of the message may encode another one
  out.omit = omit;
  try {
    contentOf(desc).write(message, out);
    return out.finish();
  } finally {
    out.clear();
    spare = out;
  }
}

/**
 * Encodes a large message in steps, into pieces which are the bytes of `encodeMessage` together. Every step yields the
 * bytes that it has made. It divides messages, lists of messages and long texts; all values of one Struct or Value are
 * one step. Long bytes are one piece, which is not copied, so the message must not change while these are read.
 *
 * @throws Error naming the field whose value its type cannot hold
 */
export function* encodeInSteps(
  desc: DescMessage,
  message: Message,
): Generator<number, readonly Uint8Array[]> {
  const out = new Output(); // not the spare one: other messages are encoded between the steps
  const content = contentOf(desc);
  if (content instanceof OwnContent) {
    yield* content.writeInSteps(message, out);
  } else {
    content.write(message, out);
  }
  yield out.takeStep();
  const pieces: Uint8Array[] = [];
  for (const part of out.parts()) {
    if (part instanceof Uint8Array) {
      pieces.push(part);
      continue;
    }
    // Not an array for each slice: memory that is asked for again and again makes V8 collect garbage again and again.
    const bytes = new Uint8Array(part.length);
    let at = 0;
    for (const slice of divideText(part.text, blockBytes)) {
      const { written } = encoder.encodeInto(slice, bytes.subarray(at));
      at += written;
      yield written;
    }
    pieces.push(bytes);
  }
  return pieces;
}

/** Size of a block of output in bytes. A longer value is not copied into a block. */
const blockBytes = 64 * 1024;

/** Length up to which a loop in JavaScript is faster than a call of the platform's encoder, in characters. */
const shortText = 64;

const encoder = new TextEncoder();

/** A text that is encoded straight to its place, when there is one. */
class LongText {
  readonly text: string;
  /** In bytes. */
  readonly length: number;

  constructor(text: string) {
    this.text = text;
    this.length = utf8Length(text);
  }
}

type Part = Uint8Array | LongText;

/** Bytes that are all written next: Node need not fill them with zeros before, which takes as long again. */
function createBytes(length: number): Uint8Array<ArrayBuffer> {
  return allocUnsafeSlow === undefined
    ? new Uint8Array(length)
    : new Uint8Array(allocUnsafeSlow(length).buffer);
}

const { allocUnsafeSlow } =
  (globalThis as { readonly Buffer?: { allocUnsafeSlow?(length: number): { readonly buffer: ArrayBuffer } } })
    .Buffer ?? {}; // where there is one

/**
 * The output, written from its end to its beginning. So the length of a message is known before it is written in front
 * of it, and the encoder visits each message once.
 */
class Output {
  /** The fields that a deterministic encoding leaves out; undefined for an ordinary one. */
  omit: ReadonlySet<DescField> | undefined;
  #block = new Uint8Array(blockBytes);
  #view = new DataView(this.#block.buffer);
  /** Where the written part of the block begins. */
  #position = blockBytes;
  /** What follows on the block; the last one first. */
  readonly #after: Part[] = [];
  #afterBytes = 0;
  /** Bytes that no step has made: long values, and what earlier steps have made. */
  #notInStep = 0;

  /** Bytes written so far. */
  get length(): number {
    return this.#afterBytes + blockBytes - this.#position;
  }

  finish(): Uint8Array<ArrayBuffer> {
    if (this.#after.length === 0) {
      return this.#block.slice(this.#position);
    }
    const bytes = createBytes(this.length);
    let at = blockBytes - this.#position;
    bytes.set(this.#block.subarray(this.#position));
    for (const part of this.#after.reverse()) {
      if (part instanceof LongText) {
        at += encoder.encodeInto(part.text, bytes.subarray(at, at + part.length)).written;
      } else {
        bytes.set(part, at);
        at += part.length;
      }
    }
    if (at !== bytes.length) {
      throw new Error("a text is not as long as it was counted"); // the rest may be anything
    }
    return bytes;
  }

  /** What has been written, from its beginning. */
  parts(): readonly Part[] {
    return [this.#block.slice(this.#position), ...this.#after.reverse()].filter(({ length }) => length > 0);
  }

  /** Whether what was written since the last step is a step. */
  get hasStep(): boolean {
    return this.length - this.#notInStep >= blockBytes;
  }

  /** Ends a step. @returns the bytes that it has made */
  takeStep(): number {
    const made = this.length - this.#notInStep;
    this.#notInStep = this.length;
    return made;
  }

  /** Takes the last byte back if it is all that was written since the output had this length. */
  dropEmpty(length: number): boolean {
    const isEmpty = this.length === length + 1;
    this.#position += isEmpty ? 1 : 0;
    return isEmpty;
  }

  /** The block is used again. */
  clear(): void {
    this.#position = blockBytes;
    this.#after.length = 0;
    this.#afterBytes = 0;
    this.#notInStep = 0;
  }

  /** Makes room for this many bytes. */
  #reserve(size: number): void {
    if (this.#position < size) {
      this.#begin();
    }
  }

  /** Begins another block, before what has been written. */
  #begin(): void {
    this.#after.push(this.#block.subarray(this.#position));
    this.#afterBytes = this.length;
    this.#block = new Uint8Array(blockBytes);
    this.#view = new DataView(this.#block.buffer);
    this.#position = blockBytes;
  }

  /** Puts a value before what has been written, without copying it. */
  #put(value: Part): void {
    this.#after.push(this.#block.slice(this.#position), value);
    this.#afterBytes = this.length + value.length;
    this.#notInStep += value.length;
    this.#position = blockBytes;
  }

  /** An unsigned number of up to 32 bits. */
  varint(value: number): void {
    this.#reserve(5);
    if (value < 0x80) {
      this.#block[--this.#position] = value;
      return;
    }
    const size = value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5;
    this.#position -= size;
    let at = this.#position;
    let rest = value;
    while (rest > 0x7f) {
      this.#block[at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#block[at] = rest;
  }

  varint64(low: number, high: number): void {
    if (high === 0) {
      this.varint(low >>> 0);
      return;
    }
    this.#reserve(10);
    this.#position -= Math.ceil((64 - Math.clz32(high)) / 7);
    let at = this.#position;
    let [lo, hi] = [low >>> 0, high >>> 0];
    while (hi > 0 || lo > 0x7f) {
      this.#block[at++] = (lo & 0x7f) | 0x80;
      lo = ((lo >>> 7) | (hi << 25)) >>> 0;
      hi >>>= 7;
    }
    this.#block[at] = lo;
  }

  double(value: number): void {
    this.#reserve(8);
    this.#position -= 8;
    this.#view.setFloat64(this.#position, this.omit === undefined ? value : value + 0, true); // -0 + 0 is 0
  }

  raw(value: Uint8Array): void {
    if (value.length > blockBytes) {
      this.#put(value);
      return;
    }
    this.#reserve(value.length);
    this.#position -= value.length;
    this.#block.set(value, this.#position);
  }

  /** With its length before it. */
  text(value: string): void {
    const end = this.length;
    if (value.length <= shortText) {
      this.#shortText(value);
    } else if (value.length > blockBytes) {
      this.#put(new LongText(value));
    } else if (!this.#ascii(value)) {
      this.raw(encoder.encode(value));
    }
    this.varint(this.length - end);
  }

  /** @returns false, and writes nothing, when the text has other characters */
  #ascii(value: string): boolean {
    const { length } = value;
    this.#reserve(length);
    const room = this.#block.subarray(this.#position - length, this.#position);
    const isAscii = encoder.encodeInto(value, room).read === length;
    this.#position -= isAscii ? length : 0;
    return isAscii;
  }

  /** Half of a surrogate pair becomes U+FFFD, as in `TextEncoder`. */
  #shortText(value: string): void {
    this.#reserve(3 * shortText);
    const block = this.#block;
    let at = this.#position;
    for (let index = value.length - 1; index >= 0; index--) {
      let code = value.charCodeAt(index);
      if (code < 0x80) {
        block[--at] = code;
        continue;
      }
      if ((code & 0xf800) === 0xd800) {
        const high = value.charCodeAt(index - 1);
        const isPair = code >= 0xdc00 && (high & 0xfc00) === 0xd800;
        code = isPair ? 0x10000 + ((high & 0x3ff) << 10) + (code & 0x3ff) : 0xfffd;
        index -= isPair ? 1 : 0;
      }
      block[--at] = 0x80 | (code & 0x3f);
      if (code < 0x800) {
        block[--at] = 0xc0 | (code >> 6);
        continue;
      }
      block[--at] = 0x80 | ((code >> 6) & 0x3f);
      if (code < 0x10000) {
        block[--at] = 0xe0 | (code >> 12);
        continue;
      }
      block[--at] = 0x80 | ((code >> 12) & 0x3f);
      block[--at] = 0xf0 | (code >> 18);
    }
    this.#position = at;
  }
}

let spare: Output | undefined = new Output();

/* ---- Scalars ---- */

/** How to write the values of one type, without the tag of their field. */
interface Form {
  readonly wireType: WireType;
  write(value: unknown, out: Output): void;
}

const int32: Form = {
  wireType: WireType.Varint,
  write: (value, out) => {
    const number = typeof value === "string" ? Number(value) : value;
    if (typeof number !== "number" || number !== (number | 0)) {
      throw new Error(`invalid int32: ${String(value)}`);
    }
    out.varint64(number, number >> 31);
  },
};

const scalarForms: Record<OwnScalar, Form> = {
  [ScalarType.STRING]: {
    wireType: WireType.LengthDelimited,
    write: (value, out) => out.text(toText(value)),
  },
  [ScalarType.BYTES]: {
    wireType: WireType.LengthDelimited,
    write: (value, out) => {
      if (!(value instanceof Uint8Array)) {
        throw new Error(`invalid bytes: ${typeof value}`);
      }
      out.raw(value);
      out.varint(value.length);
    },
  },
  [ScalarType.BOOL]: {
    wireType: WireType.Varint,
    write: (value, out) => out.varint(value ? 1 : 0),
  },
  [ScalarType.INT32]: int32,
  [ScalarType.INT64]: {
    wireType: WireType.Varint,
    write: (value, out) => {
      const { lo, hi } = protoInt64.enc(value as bigint); // it refuses other values
      out.varint64(lo, hi);
    },
  },
};

function toText(value: unknown): string {
  return typeof value === "string" ? value : String(value);
}

/* ---- Messages ---- */

/** Writes the content of a message, without the length before it. */
interface Content {
  write(value: unknown, out: Output): void;
}

/** A message by the names of its fields. */
type Fields = Readonly<Record<string, unknown>> & Pick<Message, "$typeName" | "$unknown">;

interface TaggedForm {
  /** Number and wire type, as they are encoded. */
  readonly tag: number;
  readonly form: Form;
}

interface Member extends TaggedForm {
  readonly field: DescField;
  readonly kind: "implicit" | "explicit" | "oneof" | "list" | "packed" | "map";
  readonly name: string;
  /** The member of the message that holds it: the field itself, or its oneof. */
  readonly holder: string;
  /** The default value of a field without presence, except for empty bytes. */
  readonly zero: unknown;
  /** How to write the messages of this field in steps; undefined for maps, and for all other values. */
  readonly content: OwnContent | undefined;
}

const contents = new WeakMap<DescMessage, Content>();

function contentOf(desc: DescMessage): Content {
  let content = contents.get(desc);
  if (content === undefined) {
    content = jsonContents.get(desc.typeName) ?? (isOwnType(desc) ? new OwnContent(desc) : foreign(desc));
    contents.set(desc, content);
  }
  return content;
}

function foreign(desc: DescMessage): Content {
  return {
    write: (value, out) => out.raw(toBinary(desc, value as Message)), // it refuses other values
  };
}

class OwnContent implements Content {
  readonly #desc: DescMessage;
  readonly #typeName: string;
  /** In the order of writing: from the highest field number to the lowest. */
  #members: readonly Member[] | undefined;

  constructor(desc: DescMessage) {
    this.#desc = desc;
    this.#typeName = desc.typeName;
  }

  write(value: unknown, out: Output): void {
    const message = this.#begin(value, out);
    const members = this.#membersFor(out);
    let index = 0;
    try {
      for (const member of members) {
        writeMember(member, message[member.holder], out);
        index++;
      }
    } catch (error) {
      throw this.#explain(members[index], error);
    }
  }

  *writeInSteps(value: unknown, out: Output): Generator<number, void> {
    const message = this.#begin(value, out);
    for (const member of this.#membersFor(out)) {
      try {
        yield* writeMemberInSteps(member, message[member.holder], out);
      } catch (error) {
        throw this.#explain(member, error);
      }
    }
  }

  /** Unknown fields are the last in the encoding. */
  #begin(value: unknown, out: Output): Fields {
    const message = value as Fields; // the condition tests that
    checkType(message, this.#typeName);
    writeUnknown(message.$unknown, out);
    return message;
  }

  #membersFor({ omit }: Output): readonly Member[] {
    this.#members ??= membersOf(this.#desc); // compiled later, because types contain each other
    return omit === undefined ? this.#members : this.#members.filter(({ field }) => !omit.has(field));
  }

  #explain(member: Member | undefined, error: unknown): unknown {
    return error instanceof EncodeError
      ? error
      : new EncodeError(`${this.#typeName}.${member?.holder}`, error);
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

/** The fields of a message that its type does not have. */
function writeUnknown(fields: Message["$unknown"], out: Output): void {
  if (out.omit !== undefined) {
    return;
  }
  for (let index = (fields?.length ?? 0) - 1; index >= 0; index--) {
    const field = fields?.[index];
    if (field !== undefined) {
      out.raw(field.data);
      out.varint(((field.no << 3) | field.wireType) >>> 0);
    }
  }
}

/** @param value the value of the field or its oneof, as protobuf-es represents it */
function writeMember(member: Member, value: unknown, out: Output): void {
  const { form, tag } = member;
  switch (member.kind) {
    case "implicit":
      if (value === member.zero || (value instanceof Uint8Array && value.length === 0)) {
        return;
      }
      break;
    case "explicit":
      if (value === undefined) {
        return;
      }
      if (out.omit !== undefined && member.field.message !== undefined) {
        writeUnlessEmpty(member, value, out);
        return;
      }
      break;
    case "oneof": {
      const chosen = value as { readonly case: string | undefined; readonly value?: unknown };
      if (chosen.case !== member.name) {
        return;
      }
      const { value: content } = chosen;
      const encoded =
        typeof content === "string" && content.length > longText ? encodedText(chosen, content) : undefined;
      if (encoded === undefined) {
        form.write(content, out);
      } else {
        out.raw(encoded);
        out.varint(encoded.length);
      }
      out.varint(tag);
      return;
    }
    case "packed":
      if ((value as readonly unknown[]).length === 0) {
        return;
      }
      break;
    case "list": {
      const items = value as readonly unknown[];
      for (let index = items.length - 1; index >= 0; index--) {
        form.write(items[index], out);
        out.varint(tag);
      }
      return;
    }
    case "map":
      writeEntries(member, value as Readonly<Record<string, unknown>>, out);
      return;
  }
  form.write(value, out);
  out.varint(tag);
}

function writeUnlessEmpty({ form, tag }: TaggedForm, message: unknown, out: Output): void {
  const before = out.length;
  form.write(message, out);
  if (!out.dropEmpty(before)) {
    out.varint(tag);
  }
}

/** The same in steps, for large messages. */
function* writeMemberInSteps(member: Member, value: unknown, out: Output): Generator<number, void> {
  const { content, form, tag } = member;
  if (content === undefined) {
    writeMember(member, value, out);
  } else {
    const messages = messagesOf(member, value);
    for (let index = messages.length - 1; index >= 0; index--) {
      const message = messages[index] as Message; // there is one
      const end = out.length;
      if (isLarge(message, blockBytes)) {
        yield* content.writeInSteps(message, out);
        out.varint(out.length - end);
      } else {
        form.write(message, out);
      }
      out.varint(tag);
      if (out.hasStep) {
        yield out.takeStep();
      }
    }
  }
  if (out.hasStep) {
    yield out.takeStep();
  }
}

function messagesOf({ kind, name }: Member, value: unknown): readonly unknown[] {
  switch (kind) {
    case "list":
      return value as readonly unknown[]; // a repeated field
    case "oneof": {
      const chosen = value as { readonly case: string | undefined; readonly value?: unknown }; // its shape
      return chosen.case === name ? [chosen.value] : [];
    }
    default:
      return value === undefined ? [] : [value];
  }
}

/** An entry of a map: its key is field 1, its value field 2. */
function writeEntries({ tag, form }: TaggedForm, map: Readonly<Record<string, unknown>>, out: Output): void {
  const names = out.omit === undefined ? Object.keys(map) : sortedNames(map);
  for (let index = names.length - 1; index >= 0; index--) {
    const name = names[index] ?? ""; // there is one
    const end = out.length;
    form.write(map[name], out);
    out.varint((2 << 3) | form.wireType);
    out.text(name);
    out.varint(tags.entryKey);
    out.varint(out.length - end);
    out.varint(tag);
  }
}

/** The names in the order of a deterministic encoding: array indexes by number, as every object has them, then the others. */
function sortedNames(map: object): string[] {
  const sorted = createTable<undefined>();
  for (const name of Object.keys(map).sort()) {
    sorted[name] = undefined;
  }
  return Object.keys(sorted);
}

function membersOf(desc: DescMessage): Member[] {
  return desc.fields.toSorted((one, other) => other.number - one.number).map(memberOf);
}

function memberOf(field: DescField): Member {
  const content = field.message === undefined ? undefined : fieldContent(field, field.message);
  const form = content === undefined ? scalarForm(field) : delimited(content);
  const kind = kindOf(field);
  const isDelimited = kind === "packed" || kind === "map";
  const wireType = isDelimited ? WireType.LengthDelimited : form.wireType;
  return {
    field,
    kind,
    name: field.localName,
    holder: (field.oneof ?? field).localName,
    zero: kind === "implicit" ? scalarZeroValue(field.scalar ?? ScalarType.INT32, false) : undefined,
    tag: ((field.number << 3) | wireType) >>> 0,
    form: kind === "packed" ? packed(form) : form,
    content: kind !== "map" && content instanceof OwnContent ? content : undefined,
  };
}

function kindOf(field: DescField): Member["kind"] {
  if (field.oneof !== undefined) {
    return "oneof";
  }
  switch (field.fieldKind) {
    case "list":
      return field.packed ? "packed" : "list";
    case "map":
      return "map";
    default:
      return field.presence === FeatureSet_FieldPresence.IMPLICIT ? "implicit" : "explicit";
  }
}

function fieldContent(field: DescField, message: DescMessage): Content {
  return isJsonField(field) ? jsonObjectContent : contentOf(message);
}

function scalarForm(field: DescField): Form {
  return field.enum === undefined ? scalarForms[field.scalar as OwnScalar] : int32; // as `isOwnType` says
}

/** With its length before it. */
function delimited(content: Content): Form {
  return {
    wireType: WireType.LengthDelimited,
    write(value, out) {
      const end = out.length;
      content.write(value, out);
      out.varint(out.length - end);
    },
  };
}

function packed(form: Form): Form {
  return delimited({
    write(value, out) {
      for (const item of (value as readonly unknown[]).toReversed()) {
        form.write(item, out);
      }
    },
  });
}

/* ---- Struct, Value and ListValue, also as plain JSON, the form of fields of type Struct: written by hand ---- */

const jsonObjectContent: Content = {
  write(value, out) {
    if (kindOfJson(value) === "structValue") {
      writeStruct(value, out, true);
    }
  },
};

const jsonContents: ReadonlyMap<string, Content> = new Map<string, Content>([
  ["google.protobuf.Value", { write: (value, out) => writeValue(value, out, false) }],
  ["google.protobuf.Struct", { write: (value, out) => writeStruct(value, out, false) }],
  ["google.protobuf.ListValue", { write: (value, out) => writeList(value, out, false) }],
]);

const valueEntry = {
  tag: tags.item,
  form: delimited({ write: (value, out) => writeValue(value, out, false) }),
};
const jsonEntry = {
  tag: tags.item,
  form: delimited({ write: (value, out) => writeValue(value, out, true) }),
};

function kindOfJson(json: unknown): Value["kind"]["case"] {
  switch (typeof json) {
    case "number":
      return "numberValue";
    case "string":
      return "stringValue";
    case "boolean":
      return "boolValue";
    case "object":
      return json === null ? "nullValue" : Array.isArray(json) ? "listValue" : "structValue";
    default: // not JSON: a Value without a kind
      return undefined;
  }
}

function writeValue(value: unknown, out: Output, isPlain: boolean): void {
  let kind: Value["kind"]["case"];
  let content = value;
  if (isPlain) {
    kind = kindOfJson(value);
  } else {
    const message = value as Value; // the condition tests that
    checkType(message, "google.protobuf.Value");
    writeUnknown(message.$unknown, out);
    ({ case: kind, value: content } = message.kind);
  }
  switch (kind) {
    case "numberValue":
      out.double(Number(content));
      out.varint(tags.numberValue);
      break;
    case "stringValue":
      out.text(toText(content));
      out.varint(tags.stringValue);
      break;
    case "boolValue":
      out.varint(content ? 1 : 0);
      out.varint(tags.boolValue);
      break;
    case "nullValue":
      int32.write(isPlain ? 0 : content, out);
      out.varint(tags.nullValue);
      break;
    case "structValue":
    case "listValue": {
      const end = out.length;
      const write = kind === "structValue" ? writeStruct : writeList;
      write(content, out, isPlain);
      out.varint(out.length - end);
      out.varint(tags[kind]);
    }
  }
}

function writeStruct(value: unknown, out: Output, isPlain: boolean): void {
  let fields = value as Readonly<Record<string, unknown>>; // plain JSON, or a Value as tested here
  if (!isPlain) {
    const struct = value as Struct; // the condition tests that
    checkType(struct, "google.protobuf.Struct");
    writeUnknown(struct.$unknown, out);
    fields = struct.fields;
  }
  writeEntries(isPlain ? jsonEntry : valueEntry, fields, out);
}

function writeList(value: unknown, out: Output, isPlain: boolean): void {
  let items = value as readonly unknown[]; // plain JSON, or a Struct as tested here
  if (!isPlain) {
    const list = value as ListValue; // the condition tests that
    checkType(list, "google.protobuf.ListValue");
    writeUnknown(list.$unknown, out);
    items = list.values;
  }
  for (let index = items.length - 1; index >= 0; index--) {
    const end = out.length;
    writeValue(items[index], out, isPlain);
    out.varint(out.length - end);
    out.varint(tags.item);
  }
}
