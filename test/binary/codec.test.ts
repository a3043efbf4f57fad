import {
  DecodeError,
  decodeMessage,
  encodeInSteps,
  encodeMessage,
  isLarge,
} from "@a2a-connect/core/internal";
import {
  file_lf_a2a_v1_a2a,
  MessageSchema,
  type Part,
  PartSchema,
  SecurityRequirementSchema,
} from "@a2a-connect/proto";
import { StatusSchema } from "@a2a-connect/proto/google/rpc/status";
import { ExtensionNumberResponseSchema } from "@a2a-connect/proto/grpc/reflection/v1";
import { create, type DescMessage, fromBinary, fromJson, type Message, toBinary } from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import {
  ListValueSchema,
  StructSchema,
  TimestampSchema,
  UninterpretedOption_NamePartSchema,
  ValueSchema,
} from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isLong } from "../faults/report.ts";
import { applyDamage, damage } from "../fuzz/damage.ts";
import { arbitraryMessage } from "../openapi/arbitrary-message.ts";
import { EverythingSchema } from "./everything.ts";
import { finish, hex, readBoth, refusedByUsAlone } from "./read-both.ts";

/** A third of these runs for every check; the seed is fixed, so that a failure is one for everybody. */
const runs = (numRuns: number): fc.Parameters<unknown> => ({
  seed: 20_261,
  numRuns: isLong ? numRuns : Math.ceil(numRuns / 3),
});

const types: readonly DescMessage[] = [
  ...file_lf_a2a_v1_a2a.messages,
  ValueSchema,
  StructSchema,
  ListValueSchema,
  TimestampSchema,
  EverythingSchema,
];

/** Everything contains itself in many fields: two levels of it are enough. */
const anyMessage = (desc: DescMessage): fc.Arbitrary<Message> =>
  arbitraryMessage(desc, desc === EverythingSchema ? 5 : 0) as unknown as fc.Arbitrary<Message>; // they are

/** A message of a type in the encoding of protobuf-es. */
const encoded = (desc: DescMessage) => anyMessage(desc).map((message) => toBinary(desc, message));

/** Fields that no type here has. */
const unknownField = fc.record({
  no: fc.integer({ min: 1_000_000, max: 2 ** 29 - 1 }),
  field: fc.constantFrom(
    { wireType: WireType.Varint, data: [0xac, 0x02] },
    { wireType: WireType.Bit64, data: [1, 2, 3, 4, 5, 6, 7, 8] },
    { wireType: WireType.Bit32, data: [1, 2, 3, 4] },
    { wireType: WireType.LengthDelimited, data: [2, 0xff, 0xff] },
  ),
});

const unknownBytes = fc.array(unknownField, { maxLength: 2 }).map((fields) => {
  const writer = new BinaryWriter();
  for (const { no, field } of fields) {
    writer.tag(no, field.wireType).raw(new Uint8Array(field.data));
  }
  return writer
    .tag(999_999, WireType.StartGroup)
    .tag(3, WireType.StartGroup)
    .tag(3, WireType.EndGroup)
    .tag(999_999, WireType.EndGroup)
    .finish();
});

/** The fields of a message, each with its tag. */
function records(bytes: Uint8Array): Uint8Array[] {
  const reader = new BinaryReader(bytes);
  const found: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const [number, wireType] = reader.tag();
    reader.skip(wireType, number);
    found.push(bytes.subarray(start, reader.pos));
  }
  return found;
}

function shuffled(parts: readonly Uint8Array[], order: number): Uint8Array {
  const places = parts.map((part, index) => ({ part, place: ((index + 1) * (order + 7_919)) % 10_007 }));
  return Buffer.concat(places.sort((one, other) => one.place - other.place).map(({ part }) => part));
}

for (const desc of types) {
  describe(desc.typeName, () => {
    it("is written as protobuf-es writes it, in a buffer of its length", () => {
      fc.assert(
        fc.property(anyMessage(desc), fc.array(unknownField, { maxLength: 2 }), (message, unknown) => {
          message.$unknown = unknown.map(({ no, field }) => ({
            no,
            wireType: field.wireType,
            data: new Uint8Array(field.data),
          }));
          const bytes = encodeMessage(desc, message);
          expect(hex(bytes)).toBe(hex(toBinary(desc, message)));
          expect(bytes.buffer.byteLength).toBe(bytes.length);
        }),
        runs(60),
      );
    });

    it("weighs at least a quarter of its bytes before it is encoded", () => {
      fc.assert(
        fc.property(anyMessage(desc), (message) => {
          const { length } = toBinary(desc, message);
          expect(isLarge(message, length / 4 - 1)).toBe(true);
        }),
        runs(60),
      );
    });

    it("is read as protobuf-es reads it, unknown fields included, and merged from parts in any order", () => {
      fc.assert(
        fc.property(encoded(desc), encoded(desc), unknownBytes, fc.nat(), (one, other, unknown, order) => {
          const bytes = shuffled([...records(one), ...records(other), unknown], order);
          const { ours, theirs } = readBoth(desc, bytes);
          expect(ours).toBe(theirs);
        }),
        runs(60),
      );
    });

    it("is read from damaged bytes as protobuf-es reads it, or refused", () => {
      fc.assert(
        fc.property(encoded(desc), fc.array(damage, { minLength: 1, maxLength: 3 }), (good, damages) => {
          const { ours, theirs } = readBoth(desc, damages.reduce(applyDamage, good));
          if (ours !== theirs) {
            expect(ours).toMatch(theirs === "refused" ? /^refused: / : refusedByUsAlone);
          }
        }),
        runs(150),
      );
    });
  });
}

describe("texts", () => {
  const unit = fc.constantFrom(..."a\u007fé\u07ff€\ud7ff\ue000\uffff🙂", "\ud800", "\udc00");
  const length = fc.constantFrom(
    ...[1, 12, 15, 16, 21, 24, 32, 47, 48, 49, 63, 64, 65, 200, 16_383, 16_384, 40_000],
  );

  it("of any length and characters are written and read as protobuf-es does", () => {
    fc.assert(
      fc.property(fc.array(unit, { minLength: 1, maxLength: 5 }), length, (units, long) => {
        const text = units.join("").repeat(long).slice(0, long);
        const part = create(PartSchema, {
          content: { case: "text", value: text },
          metadata: { [text]: text },
        });
        const bytes = toBinary(PartSchema, part);
        expect(hex(encodeMessage(PartSchema, part)) === hex(bytes)).toBe(true);
        expect(decodeMessage(PartSchema, bytes)).toEqual(fromBinary(PartSchema, bytes));
      }),
      runs(300),
    );
  });

  it("are read from any bytes as protobuf-es does", () => {
    const byte = fc.constantFrom(
      ...[
        0x41, 0x7f, 0x80, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xed, 0x9f, 0xa0, 0xef, 0xf0, 0x8f, 0x90, 0xf4,
        0xf5, 0xff,
      ],
    );
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 6 }), (bytes) => {
        const part = new BinaryWriter()
          .tag(1, WireType.LengthDelimited)
          .bytes(new Uint8Array(bytes))
          .finish();
        const { ours, theirs } = readBoth(PartSchema, part);
        expect(ours).toBe(theirs === "refused" ? "refused: a text is not valid UTF-8" : theirs);
      }),
      runs(2_000),
    );
  });
});

describe("what is longer than the blocks that are written together", () => {
  const block = 64 * 1024;
  const size = fc.oneof(
    fc.constantFrom(0, 1, block - 4, block - 1, block, block + 1, 3 * block),
    fc.integer({ min: block - 300, max: block + 300 }),
  );
  const content = fc.oneof(
    size.map((length) => ({ case: "raw" as const, value: new Uint8Array(length).fill(7) })),
    size.map((length) => ({ case: "text" as const, value: "a".repeat(length) })),
    size.map((length) => ({ case: "text" as const, value: "é".repeat(length) })),
    // Pairs on both sides of a border, and halves of them.
    fc
      .tuple(size, fc.constantFrom("🙂", "a🙂", "漢\ud83d🙂", "🙂\ude42"))
      .map(([length, unit]) => ({ case: "text" as const, value: unit.repeat(length).slice(0, length) })),
    size.map((length) => ({
      case: "data" as const,
      value: fromJson(ValueSchema, { a: ["é".repeat(length)] }),
    })),
    fc.nat({ max: 8_000 }).map((length) => ({
      case: "data" as const,
      value: fromJson(
        ValueSchema,
        Array.from({ length }, (_, index) => ({ [`n${index}`]: index })),
      ),
    })),
  );

  it("is written as protobuf-es writes it, in a buffer of its length", () => {
    fc.assert(
      fc.property(fc.array(content, { minLength: 1, maxLength: 4 }), (contents) => {
        const message = create(MessageSchema, {
          parts: contents.map((each) => create(PartSchema, { content: each })),
        });
        const bytes = encodeMessage(MessageSchema, message);
        expect(Buffer.compare(bytes, toBinary(MessageSchema, message))).toBe(0);
        expect(bytes.buffer.byteLength).toBe(bytes.length);
      }),
      runs(25),
    );
  });
});

describe("the bytes that a message was decoded from", () => {
  const part = (content: Part["content"]) => create(PartSchema, { content });
  const raw = (length: number) => part({ case: "raw", value: new Uint8Array(length).fill(7) });
  const text = (length: number) => part({ case: "text", value: "é".repeat(length) });
  const decoded = (parts: Part[]) => {
    const bytes = toBinary(MessageSchema, create(MessageSchema, { parts }));
    return { bytes, message: decodeMessage(MessageSchema, bytes) };
  };

  it("stay in memory for a bytes field that is most of them, and for no shorter one", () => {
    const { bytes, message } = decoded([raw(10_000), raw(100_000)]);
    const kept = message.parts.map(
      ({ content }) => content.value instanceof Uint8Array && content.value.buffer,
    );
    expect(kept.map((buffer) => buffer === bytes.buffer)).toEqual([false, true]);
  });

  it("keep no larger buffer in memory that they are only a part of", () => {
    const alone = toBinary(MessageSchema, create(MessageSchema, { parts: [raw(120), text(100_000)] }));
    const pool = new Uint8Array(alone.length * 4);
    pool.set(alone, 64);
    const { parts } = decodeMessage(MessageSchema, pool.subarray(64, 64 + alone.length));
    expect(parts.map(({ content }) => content.case)).toEqual(["raw", "text"]);
    expect(parts[0]?.content.value).toEqual(new Uint8Array(120).fill(7));
    const pieces = finish(encodeInSteps(MessageSchema, create(MessageSchema, { parts })));
    expect(pieces.some(({ buffer }) => buffer === pool.buffer)).toBe(false);

    const short = toBinary(PartSchema, raw(120));
    pool.set(short);
    const { content } = decodeMessage(PartSchema, pool.subarray(0, short.length));
    expect(content).toEqual(raw(120).content);
    expect((content.value as Uint8Array).buffer.byteLength).toBe(120); // of the case `raw`
  });

  it("are not encoded again for a long text that is most of them", () => {
    const { bytes, message } = decoded([text(10), text(100_000)]);
    const pieces = finish(encodeInSteps(MessageSchema, message));
    expect(Buffer.concat(pieces)).toEqual(Buffer.from(bytes));
    expect(pieces.some(({ buffer }) => buffer === bytes.buffer)).toBe(true);
    const shorter = decoded([text(40_000), text(100_000), raw(300_000)]);
    const others = finish(
      encodeInSteps(MessageSchema, create(MessageSchema, { parts: shorter.message.parts.slice(0, 2) })),
    );
    expect(others.some(({ buffer }) => buffer === shorter.bytes.buffer)).toBe(false);
  });

  it("are not those of a text that was changed since", () => {
    const { message } = decoded([text(100_000)]);
    const [first] = message.parts;
    if (first?.content.case === "text") first.content.value = `e${first.content.value.slice(1)}`;
    expect(hex(encodeMessage(MessageSchema, message))).toBe(hex(toBinary(MessageSchema, message)));
  });
});

it("a message that could not be written leaves nothing for the next one", () => {
  const bad = create(MessageSchema, { messageId: "bad", extensions: ["written before the parts"] });
  bad.parts.push(Object.assign(create(PartSchema), { content: { case: "raw", value: "text" } }) as never); // as plain JavaScript may
  const good = create(MessageSchema, { messageId: "good" });
  expect(() => encodeMessage(MessageSchema, bad)).toThrow("cannot encode lf.a2a.v1.Part.content");
  expect(hex(encodeMessage(MessageSchema, good))).toBe(hex(toBinary(MessageSchema, good)));
});

describe("what decoding refuses", () => {
  const nothing = new Uint8Array();
  /** A field of this number, one after the other, each with this content. */
  const repeat = (number: number, content: Uint8Array, times: number) => {
    const writer = new BinaryWriter();
    for (let count = 0; count < times; count++) {
      writer.tag(number, WireType.LengthDelimited).bytes(content);
    }
    return writer.finish();
  };
  const field = (number: number, content: Uint8Array) => repeat(number, content, 1);
  const group = (number: number, content: Uint8Array) =>
    new BinaryWriter().tag(number, WireType.StartGroup).raw(content).tag(number, WireType.EndGroup).finish();

  /** Each comes to twenty values. */
  const rows: readonly (readonly [title: string, desc: DescMessage, bytes: Uint8Array])[] = [
    ["elements of a list", ListValueSchema, repeat(1, nothing, 20)],
    ["elements of a list in a Value", ValueSchema, field(6, repeat(1, nothing, 20))],
    ["entries of a Struct, two each", StructSchema, repeat(1, nothing, 10)],
    [
      "metadata, its entries and an unknown field",
      MessageSchema,
      field(6, concat(repeat(1, nothing, 9), field(9, nothing))),
    ],
    ["lists in metadata", MessageSchema, field(6, field(1, field(2, field(6, repeat(1, nothing, 17)))))],
    ["messages", MessageSchema, repeat(5, nothing, 20)],
    ["texts", MessageSchema, repeat(7, nothing, 20)],
    ["entries of a map, two each", SecurityRequirementSchema, repeat(1, nothing, 10)],
    ["one field again and again", ValueSchema, repeat(3, nothing, 21)],
    ["keys of one entry", StructSchema, field(1, repeat(1, nothing, 20))],
    ["unknown fields", MessageSchema, repeat(99, nothing, 20)],
    ["unknown fields of a Value", ValueSchema, repeat(99, nothing, 21)],
    ["unknown fields of an entry", StructSchema, field(1, repeat(99, nothing, 20))],
    ["an unknown group and its fields", MessageSchema, group(99, repeat(1, nothing, 19))],
    ["a packed field and its elements", ExtensionNumberResponseSchema, field(2, new Uint8Array(19))],
  ];
  for (const [title, desc, bytes] of rows) {
    for (const unknownFields of ["drop", "keep"] as const) {
      it(`are more values than there may be: ${title}, unknown fields: ${unknownFields}`, () => {
        expect(reasonOf(() => decodeMessage(desc, bytes, { maxValues: 20, unknownFields }))).toBeUndefined();
        expect(reasonOf(() => decodeMessage(desc, bytes, { maxValues: 19, unknownFields }))).toBe(
          "too-many-values",
        );
      });
    }
  }

  for (const [title, desc, bytes] of [
    ["a Struct", StructSchema, field(1, field(1, new Uint8Array(16_384)))],
    ["a map", SecurityRequirementSchema, field(1, field(1, new Uint8Array(16_384)))],
  ] as const) {
    it(`counts a name of more than 16,383 characters many times, in ${title}`, () => {
      expect(reasonOf(() => decodeMessage(desc, bytes, { maxValues: 2 + 262_144 }))).toBeUndefined();
      expect(reasonOf(() => decodeMessage(desc, bytes, { maxValues: 1 + 262_144 }))).toBe("too-many-values");
    });
  }

  const one = field(6, field(1, nothing));
  const others = field(6, repeat(1, nothing, 1_099));
  it.each([
    ["at once", field(6, repeat(1, nothing, 1_100)), 2_201, 100],
    [
      "in parts, each but the first as if there were a thousand before",
      Buffer.concat([one, others]),
      2_202,
      1_099,
    ],
  ])(
    "counts names of a Struct beyond its first thousand more where it is told so, %s",
    (_, bytes, values, many) => {
      const read = (maxValues: number) => () =>
        decodeMessage(MessageSchema, bytes, { maxValues, manyNamesValues: 6 });
      expect(reasonOf(read(values + 6 * many))).toBeUndefined();
      expect(reasonOf(read(values + 6 * many - 1))).toBe("too-many-values");
      expect(reasonOf(() => decodeMessage(MessageSchema, bytes, { maxValues: values }))).toBeUndefined();
    },
  );

  const inside: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
    "lists in Values": (bytes) => field(6, field(1, bytes)),
    "Structs in Values": (bytes) => field(5, field(1, field(2, bytes))),
    "unknown groups": (bytes) => group(99, bytes),
  };
  for (const [title, enclose] of Object.entries(inside)) {
    it(`is deeper than protobuf-es would read it: ${title}`, () => {
      const bytes = Array.from({ length: 5 }).reduce<Uint8Array>(enclose, nothing);
      for (let maxDepth = 1; maxDepth <= 12; maxDepth++) {
        const isTooDeep =
          reasonOf(() => fromBinary(ValueSchema, bytes, { recursionLimit: maxDepth })) !== undefined;
        const expected = isTooDeep ? "too-deep" : undefined;
        expect(reasonOf(() => decodeMessage(ValueSchema, bytes, { maxDepth }))).toBe(expected);
        const metadata = field(6, field(1, field(2, bytes)));
        const isDeep =
          reasonOf(() => fromBinary(MessageSchema, metadata, { recursionLimit: maxDepth })) !== undefined;
        expect(reasonOf(() => decodeMessage(MessageSchema, metadata, { maxDepth }))).toBe(
          isDeep ? "too-deep" : undefined,
        );
      }
    });
  }

  it("is a field that reaches beyond its message, though not beyond the bytes", () => {
    const bytes = concat(new Uint8Array([0x2a, 0x02, 0x0a, 0x05]), new TextEncoder().encode("hello"));
    expect(() => decodeMessage(MessageSchema, bytes)).toThrow(
      "a field reaches beyond the message that it is in",
    );
  });
});

it("an object whose names are the caller's own has the prototype of all objects, also with a member `__proto__`", () => {
  const bytes = toBinary(
    MessageSchema,
    create(MessageSchema, { metadata: JSON.parse('{"__proto__":{"a":[{"b":1}]}}') }),
  );
  const { metadata } = decodeMessage(MessageSchema, bytes);
  expect(JSON.stringify(metadata)).toBe('{"__proto__":{"a":[{"b":1}]}}');
  expect(Object.getPrototypeOf(metadata)).toBe(Object.prototype);
  expect(Object.hasOwn(metadata ?? {}, "__proto__")).toBe(true);
});

describe("what cannot be written", () => {
  it.each([
    [
      "a text for bytes",
      { content: { case: "raw", value: "text" } },
      /cannot encode lf.a2a.v1.Part.content: invalid bytes/,
    ],
    [
      "an object that is no Value",
      { content: { case: "data", value: { a: 1 } } },
      /cannot encode lf.a2a.v1.Part.content: expected google.protobuf.Value/,
    ],
  ])("is refused with the name of its field: %s", (_title, fields, expected) => {
    const part = Object.assign(create(PartSchema), fields);
    expect(() => encodeMessage(PartSchema, part as never)).toThrow(expected); // as plain JavaScript may write it
  });

  it.each([null, true, 1.5, 2 ** 31, "one"])("is no int32: %s", (code) => {
    const status = Object.assign(create(StatusSchema), { code }); // as plain JavaScript may write it
    expect(() => encodeMessage(StatusSchema, status as never)).toThrow(
      "cannot encode google.rpc.Status.code: invalid int32",
    );
  });

  it("is a message of another type", () => {
    expect(() => encodeMessage(PartSchema, create(MessageSchema) as never)).toThrow(
      "expected lf.a2a.v1.Part, got lf.a2a.v1.Message",
    );
  });

  it("lacks a field that proto2 requires, as protobuf-es says it", () => {
    const name = create(UninterpretedOption_NamePartSchema, { namePart: "a" });
    expect(() => encodeMessage(UninterpretedOption_NamePartSchema, name)).toThrow(
      "google.protobuf.UninterpretedOption.NamePart.is_extension",
    );
  });
});

function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}

/** Why it was refused; "other" when another decoder did. */
function reasonOf(read: () => unknown): DecodeError["reason"] | "other" | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return error instanceof DecodeError ? error.reason : "other";
  }
}
