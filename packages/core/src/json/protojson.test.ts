import { A2AService, SendMessageRequestSchema } from "@a2a-connect/proto";
import {
  create,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  ScalarType,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatMessage } from "./format-json.ts";
import { parseMessage } from "./parse-json.ts";

/*
 * Our own reader and writer of ProtoJSON against those of protobuf-es, for all requests and answers: what is valid means
 * the same to both.
 */

const types = new Set(A2AService.methods.flatMap(({ input, output }) => [input, output]));

const name = fc.oneof(fc.string(), fc.constantFrom("a", "10", "2", "constructor", "toString"));
const jsonKey = name.filter((key) => key !== "__proto__");

const json: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (number === 0 ? 0 : number)),
    fc.string({ unit: "grapheme" }),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(jsonKey, tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;

/** Valid ProtoJSON of a message: each field in one of its forms, or not there. */
function messageJson(desc: DescMessage, depth: number): fc.Arbitrary<JsonValue> {
  switch (desc.typeName) {
    case "google.protobuf.Value":
      return json;
    case "google.protobuf.Struct":
      return fc.dictionary(jsonKey, json, { maxKeys: 3, noNullPrototype: true });
    case "google.protobuf.Timestamp":
      return fc.constantFrom(
        "2026-01-31T12:00:00Z",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59.999999999Z",
        "1969-12-31T23:59:59.5+02:00",
        "2024-02-29T00:00:00.123456-08:30",
      );
    default:
  }
  const chosen = new Map(desc.oneofs.map((oneof) => [oneof, fc.nat({ max: oneof.fields.length })]));
  return fc.tuple(...chosen.values()).chain((choices) => {
    const taken = new Set([...chosen.keys()].map((oneof, index) => oneof.fields[choices[index] ?? 0]));
    const fields = desc.fields.filter(
      (field) =>
        (field.oneof === undefined || taken.has(field)) && (depth > 0 || field.message === undefined),
    );
    return fc.record(
      Object.fromEntries(fields.map((field) => [field.jsonName, fieldJson(field, depth - 1)])),
      { requiredKeys: [], noNullPrototype: true },
    ) as fc.Arbitrary<JsonObject>; // of values that are JSON
  });
}

function fieldJson(field: DescField, depth: number): fc.Arbitrary<JsonValue> {
  switch (field.fieldKind) {
    case "list":
      return fc.array(elementJson(field, depth), { maxLength: 3 });
    case "map":
      return fc.dictionary(jsonKey, elementJson(field, depth), { maxKeys: 3, noNullPrototype: true });
    default:
      return fc.oneof({ weight: 9, arbitrary: elementJson(field, depth) }, fc.constant(null));
  }
}

function elementJson(field: DescField, depth: number): fc.Arbitrary<JsonValue> {
  if (field.message !== undefined) {
    return messageJson(field.message, depth);
  }
  if (field.enum !== undefined) {
    return fc.constantFrom(...field.enum.values.flatMap(({ name, number }) => [name, number]));
  }
  switch (field.scalar) {
    case ScalarType.STRING:
      return fc.string({ unit: "grapheme" });
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.BYTES:
      return fc.oneof(
        fc.base64String(),
        fc.base64String().map((text) => text.replaceAll("=", "").replaceAll("+", "-").replaceAll("/", "_")),
      );
    case ScalarType.INT64:
      return fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String), fc.integer());
    case ScalarType.INT32:
      return fc.oneof(fc.integer(), fc.integer().map(String));
    default:
      throw new Error(`no JSON is known for ${field.toString()}`);
  }
}

for (const desc of types) {
  describe(desc.name, () => {
    const valid = messageJson(desc, 5);

    it("is read as by protobuf-es", () => {
      fc.assert(
        fc.property(valid, (given) => {
          const expected = fromJson(desc, given);
          const read = parseMessage(desc, given);
          expect(read).toEqual(expected);
          expect(toBinary(desc, read)).toEqual(toBinary(desc, expected));
        }),
      );
    });

    it("is written as by protobuf-es, and with the REQUIRED fields that it leaves out", () => {
      fc.assert(
        fc.property(valid, (given) => {
          const message = fromJson(desc, given);
          const written = formatMessage(desc, message);
          expect(written).toMatchObject(toJson(desc, message) as JsonObject);
          expect(toBinary(desc, fromJson(desc, written))).toEqual(toBinary(desc, message));
        }),
      );
    });
  });
}

it("texts of prototypes are names like others", () => {
  const metadata = JSON.parse('{"constructor":{"prototype":1},"toString":[],"hasOwnProperty":null}');
  const message = create(SendMessageRequestSchema, { metadata });
  expect(formatMessage(SendMessageRequestSchema, message)).toEqual({ metadata });
  expect(parseMessage(SendMessageRequestSchema, { metadata }).metadata).toEqual(metadata);
});
