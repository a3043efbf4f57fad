import type { DescMessage } from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import fc from "fast-check";

/** One change of an encoded message; the lengths around it stay right. `place` picks a field of it, `pick` what it becomes. */
export interface ProtobufEdit {
  readonly kind: "drop" | "repeat" | "content" | "number" | "wire type" | "swap" | "nest" | "unknown";
  readonly place: number;
  readonly pick: number;
}

export const protobufEdit: fc.Arbitrary<ProtobufEdit> = fc.record({
  kind: fc.constantFrom("drop", "repeat", "content", "number", "wire type", "swap", "nest", "unknown"),
  place: fc.nat({ max: 9_999 }),
  pick: fc.nat({ max: 9_999 }),
});

/** A field of an encoded message: with fields of its own where its type is a message. */
interface Field {
  number: number;
  wireType: number;
  content: Uint8Array | Field[];
}

/** The encoding of a message after these changes. */
export function editProtobuf(
  desc: DescMessage,
  bytes: Uint8Array,
  edits: readonly ProtobufEdit[],
): Uint8Array {
  const fields = readFields(desc, bytes);
  for (const edit of edits) applyEdit(fields, edit);
  return writeFields(fields);
}

function readFields(desc: DescMessage, bytes: Uint8Array): Field[] {
  const reader = new BinaryReader(bytes);
  const fields: Field[] = [];
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const isDelimited = wireType === WireType.LengthDelimited;
    const content = isDelimited ? reader.bytes() : reader.skip(wireType, number);
    const inner = isDelimited ? messageOf(desc, number) : undefined;
    fields.push({ number, wireType, content: inner === undefined ? content : readFields(inner, content) });
  }
  return fields;
}

/** The type of a field whose content is a message; entries of maps stay bytes. */
function messageOf(desc: DescMessage, number: number): DescMessage | undefined {
  const field = desc.fields.find((each) => each.number === number);
  return field?.fieldKind === "map" ? undefined : field?.message;
}

function writeFields(fields: readonly Field[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const { number, wireType, content } of fields) {
    writer.uint32(((number << 3) | wireType) >>> 0);
    const bytes = Array.isArray(content) ? writeFields(content) : content;
    if (wireType === WireType.LengthDelimited) writer.bytes(bytes);
    else writer.raw(bytes);
    if (wireType === WireType.StartGroup) writer.uint32(((number << 3) | WireType.EndGroup) >>> 0);
  }
  return writer.finish();
}

/** Every field, with the list that it is in. */
function placesIn(list: Field[]): { readonly list: Field[]; readonly field: Field }[] {
  return list.flatMap((field) => [
    { list, field },
    ...(Array.isArray(field.content) ? placesIn(field.content) : []),
  ]);
}

function applyEdit(fields: Field[], { kind, place, pick }: ProtobufEdit): void {
  const places = placesIn(fields);
  const chosen = places[place % places.length];
  const other = places[pick % places.length];
  if (chosen === undefined || other === undefined) {
    fields.push(unknownField(pick)); // an empty message
    return;
  }
  const { list, field } = chosen;
  switch (kind) {
    case "drop":
      list.splice(list.indexOf(field), 1);
      return;
    case "repeat":
      list.push(structuredClone(field));
      return;
    case "content":
      field.content = contents[pick % contents.length] ?? new Uint8Array();
      return;
    case "number":
      field.number = numbers[pick % numbers.length] ?? 0;
      return;
    case "wire type":
      field.wireType = pick % 8;
      return;
    case "swap": {
      const [one, two] = [structuredClone(field.content), structuredClone(other.field.content)];
      field.content = two;
      other.field.content = one;
      return;
    }
    case "nest": {
      const depth = depths[pick % depths.length] ?? 1;
      for (let level = 0; level < depth; level++) {
        field.content = writeFields([structuredClone(field)]);
      }
      return;
    }
    case "unknown":
      list.splice(pick % (list.length + 1), 0, unknownField(pick));
      return;
  }
}

function unknownField(pick: number): Field {
  return {
    number: numbers[pick % numbers.length] ?? 0,
    wireType: pick % 6,
    content: contents[pick % contents.length] ?? new Uint8Array(),
  };
}

const depths = [1, 2, 50, 98, 101, 400];

/** Of fields that there are, of none, of those that are reserved, and beyond what is allowed. */
const numbers: readonly number[] = [
  ...Array.from({ length: 16 }, (_, index) => index),
  99,
  19_000,
  2 ** 29 - 1,
];

const contents: readonly Uint8Array[] = [
  [],
  [0],
  [1],
  [0x7f],
  [0x80],
  [0x80, 0x00],
  [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00],
  Array.from({ length: 9 }, () => 0xff).concat(0x01),
  Array.from({ length: 9 }, () => 0xff).concat(0x7f),
  Array.from({ length: 11 }, () => 0xff),
  [0xff, 0xff, 0xff, 0xff, 0x07],
  [0xff, 0xff, 0xff, 0xff, 0x0f],
  [0, 0, 0, 0],
  [1, 2, 3, 4, 5, 6, 7, 8],
  [0, 0, 0, 0, 0, 0, 0xf8, 0x7f],
  [0, 0, 0, 0, 0, 0, 0xf0, 0xff],
  [0xc0, 0x80],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xef, 0xbb, 0xbf],
  [0x0a, 0x05],
  [0x0a, 0x00, 0x0a, 0x00],
  [0x0a, 0x0b, ...Buffer.from("\n\u0009__proto__")],
  [0x09, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f],
  [0x12, 0x09, 0x11, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f],
  [...Buffer.from("ordinary text")],
  Array.from({ length: 3_000 }, () => 0x0a),
].map((bytes) => Uint8Array.from(bytes));
