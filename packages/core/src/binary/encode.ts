import { type Task, TaskSchema } from "@a2a-connect/proto";
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
import { toTable } from "../json/json-value.ts";
import { isLarge, keepWeight } from "../message-weight.ts";
import { encodedText, longText } from "./encoded-texts.ts";
import { blockBytes, Output } from "./output.ts";
import { compileOnce, isJsonField, isOwnType, type OwnScalar, tags } from "./schema.ts";

/**
 * Encodes a message in protobuf's binary encoding: the bytes of protobuf-es's `toBinary`, at a fraction of its cost for
 * messages with many values, and in one buffer of exactly their length. It keeps the encoding of a task in a list, so such a task
 * must not change any more.
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
  return yield* out.pieces();
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

const contentOf = compileOnce<Content>(
  (desc) => jsonContents.get(desc.typeName) ?? (isOwnType(desc) ? new OwnContent(desc) : foreign(desc)),
);

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
  const sorted = Object.keys(map).sort();
  return Object.keys(toTable(sorted.map((name) => [name, undefined])));
}

function membersOf(desc: DescMessage): Member[] {
  return desc.fields.toSorted((one, other) => other.number - one.number).map(memberOf);
}

function memberOf(field: DescField): Member {
  const content = field.message === undefined ? undefined : fieldContent(field, field.message);
  const kind = kindOf(field);
  const form = content === undefined ? scalarForm(field) : delimited(content);
  const isDelimited = kind === "packed" || kind === "map";
  const wireType = isDelimited ? WireType.LengthDelimited : form.wireType;
  return {
    field,
    kind,
    name: field.localName,
    holder: (field.oneof ?? field).localName,
    zero: kind === "implicit" ? scalarZeroValue(field.scalar ?? ScalarType.INT32, false) : undefined,
    tag: ((field.number << 3) | wireType) >>> 0,
    form:
      kind === "packed" ? packed(form) : field.message === TaskSchema && kind === "list" ? once(form) : form,
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

const listedTasks = new WeakMap<object, Uint8Array>();

/** A task in a list is encoded once for as long as it is reachable: it no longer changes. */
function once(form: Form): Form {
  return {
    wireType: form.wireType,
    write(task, out) {
      if (out.omit !== undefined) {
        form.write(task, out);
        return;
      }
      const message = task as Task; // by the field's type
      const known = listedTasks.get(message);
      const bytes = known ?? encodeMessage(TaskSchema, message);
      if (known === undefined) {
        listedTasks.set(message, bytes);
        keepWeight(message, bytes.length);
      }
      out.raw(bytes);
      out.varint(bytes.length);
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
