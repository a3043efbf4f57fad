import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Validator } from "@cfworker/json-schema";
import { describe, expect, it } from "vitest";
import { assertSchema, findMismatch } from "./answer-schema.ts";

const tooMuch = "The answer takes too long to check: send less data.";

const expression: JsonObject = {
  anyOf: ["add", "sub", "mul", "div"].map((op) => ({
    type: "object",
    properties: { left: { $ref: "#" }, right: { $ref: "#" }, op: { const: op } },
    required: ["left", "op"],
  })),
};

function nest(depth: number): JsonValue {
  return depth === 0 ? { op: "none" } : { left: nest(depth - 1), op: "none" };
}

describe("a check of an answer has a limited number of steps", () => {
  const letters = (count: number) => "a".repeat(count);
  it.each<[string, JsonObject, JsonValue]>([
    ["numbers that must differ", { uniqueItems: true }, Array.from({ length: 60_000 }, (_, at) => at)],
    ["objects that must differ", { uniqueItems: true }, Array.from({ length: 16_000 }, (_, a) => ({ a }))],
    ["alternatives that refer to the schema", expression, nest(40)],
    [
      "long names that a pattern is for",
      { patternProperties: { "\\s+$": true } },
      { [" ".repeat(60_000)]: 1 },
    ],
    ["arrays in arrays", { items: { $ref: "#" } }, JSON.parse("[".repeat(32_000) + "]".repeat(32_000))],
    [
      "a large enum for many values",
      { items: { enum: [...Array(5_000).fill("a"), "b"] } },
      Array(30_000).fill("b"),
    ],
  ])("%s", (_, schema, data) => {
    expect(findMismatch(schema, data)).toBe(tooMuch);
  });

  it.each<[string, JsonObject, string]>([
    ["a pattern", { pattern: "\\s+$" }, `${" ".repeat(60_000)}x`],
    ["a pattern beside other alternatives", { pattern: "\\s+$", allOf: [true] }, `${" ".repeat(60_000)}x`],
    ["a format", { format: "email" }, `${letters(60_000)}@example.org`],
  ])("%s is for texts of 1,000 characters at most", (_, schema, text) => {
    expect(findMismatch({ properties: { a: schema } }, { a: text })).toMatch(
      /^The answer does not fit at "#\/a": String is too long \(600\d\d > 1000\)\.$/,
    );
  });

  it("a URL takes no exponential number", () => {
    expect(findMismatch({ format: "url" }, `http://${letters(60)}!`)).toBe(undefined);
    expect(findMismatch({ format: "url" }, "no URL")).toMatch("does not fit");
  });
});

it("large data that is checked once fits", () => {
  const items: JsonObject = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  expect(findMismatch({ items: { type: "number" } }, Array(65_000).fill(1))).toBe(undefined);
  expect(findMismatch({ items }, Array(20_000).fill({ n: 1 }))).toBe(undefined);
  expect(
    findMismatch(
      { uniqueItems: true },
      Array.from({ length: 600 }, (_, at) => `tag ${at}`),
    ),
  ).toBe(undefined);
});

describe("a check says of a schema what the validator says", () => {
  const schemas: readonly JsonObject[] = [
    { pattern: "^a+$", minLength: 2 },
    { format: "date", allOf: [{ minLength: 3 }] },
    { if: { type: "string" }, pattern: "b", else: { type: "number" } },
    { not: { pattern: "b" } },
    { uniqueItems: true, items: { type: ["number", "array", "object"] } },
    { properties: { pattern: { type: "string" }, format: { enum: ["pdf"] } }, required: ["format"] },
    { patternProperties: { "^x": { type: "number" } }, additionalProperties: false },
    { propertyNames: { pattern: "^[a-z]+$" } },
    { const: { pattern: "x" } },
    { $defs: { text: { type: "string", pattern: "^b" } }, items: { $ref: "#/$defs/text" } },
    { anyOf: [{ type: "null" }, { contains: { const: 1 }, maxContains: 1 }], unevaluatedItems: true },
    { allOf: [{ properties: { xa: true } }], unevaluatedProperties: false },
  ];
  const values: readonly JsonValue[] = [
    ...["", "a", "aa", "ab", "b", "2026-11-29", 1, null, true],
    ...[[], [1], [1, 1], [1, 2], ["b"], ["a", "b"], [{ a: 1 }, { a: 1 }], [{ a: 1 }, { a: 2 }], [[1], [1]]],
    ...[
      {},
      { pattern: "x" },
      { format: "pdf" },
      { format: "a", pattern: "b" },
      { xa: 1 },
      { xa: "a" },
      { A: 1 },
    ],
  ];
  it.each(schemas)("%j", (schema) => {
    for (const value of values) {
      const expected = new Validator(structuredClone(schema), "2020-12").validate(value).valid;
      expect([value, findMismatch(schema, value) === undefined]).toEqual([value, expected]);
    }
  });
});

describe("a schema is refused", () => {
  it.each<[string, JsonObject]>([
    ["with a reference that leads nowhere", { $ref: "#/$defs/none" }],
    ["with an invalid pattern", { items: { pattern: "(" } }],
    ["with an invalid pattern of names", { patternProperties: { "(": true } }],
  ])("%s", (_, schema) => {
    expect(() => assertSchema(schema)).toThrow();
  });
});
