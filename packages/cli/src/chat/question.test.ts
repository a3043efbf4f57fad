import { json, partText, text } from "@a2a-connect/core";
import { MessageSchema, TaskState, TaskStatusSchema } from "@a2a-connect/proto";
import { create, toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { describeSchema, questionOf, toAnswer } from "./question.ts";

const drinks = { choices: ["tea", "coffee", "7"], schema: undefined };
const form = { choices: undefined, schema: { type: "object" } };

describe("an answer", () => {
  for (const [what, words, hints, sent] of [
    ["a choice by its number", "2", drinks, "coffee"],
    ["a choice by its words", "tea", drinks, "tea"],
    ["a choice that looks like a number", "7", drinks, "7"],
    ["a number without a choice as it is", "9", drinks, "9"],
    ["zero as it is", "0", drinks, "0"],
    ["a number as it is where there are no choices", "2", { choices: undefined, schema: undefined }, "2"],
    ["words where data is wanted", "two people", form, "two people"],
  ] as const) {
    it(`takes ${what}`, () => {
      const [part] = toAnswer(words, hints);
      expect(part?.content).toEqual({ case: "text", value: sent });
    });
  }

  it("takes JSON as data where data is wanted", () => {
    const [part] = toAnswer('{"people": 2}', form);
    expect(part?.content.case === "data" && toJson(ValueSchema, part.content.value)).toEqual({ people: 2 });
  });
});

describe("a question", () => {
  it("is read with its choices", () => {
    const message = create(MessageSchema, { parts: [text("Which?"), json({ choices: ["a", "b"] })] });
    const status = create(TaskStatusSchema, { state: TaskState.INPUT_REQUIRED, message });
    expect(questionOf(status)).toMatchObject({ kind: "input", text: partText(message), choices: ["a", "b"] });
  });

  it("is read where there is none", () => {
    expect(questionOf(undefined)).toMatchObject({ text: "", choices: undefined, schema: undefined });
  });
});

describe("a schema in words", () => {
  for (const [schema, words] of [
    [
      { type: "object", properties: { people: { type: "integer" }, time: {} }, required: ["people"] },
      "{ people: integer, time?: any }",
    ],
    [{ enum: ["a", 1] }, 'one of "a", 1'],
    [{ type: "number" }, "number"],
    [{}, "JSON"],
    [{ properties: [1], required: "people" }, "JSON"],
    [{ properties: { a: 1 }, required: 7 }, "{ a?: any }"],
  ] as const) {
    it(words, () =>
      expect(describeSchema(structuredClone(schema) as Parameters<typeof describeSchema>[0])).toBe(words),
    ); // a literal
  }
});
