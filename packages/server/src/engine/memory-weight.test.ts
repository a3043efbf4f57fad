import { json, text } from "@a2a-connect/core";
import {
  MessageSchema,
  type Part,
  TaskArtifactUpdateEventSchema,
  TaskSchema,
  TaskStatusUpdateEventSchema,
} from "@a2a-connect/proto";
import { create, type JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { weighMessage, weighStep } from "./memory-weight.ts";

const zeros = Array.from({ length: 1_000 }, () => 0);

describe("the weight of a message", () => {
  const weigh = (part: Part): number => weighMessage(create(MessageSchema, { parts: [part] }));
  const weighWith = (metadata: JsonObject): number => weighMessage(create(MessageSchema, { metadata }));

  it("is that of its text and bytes, and of the objects that its values are", () => {
    const empty = weigh(text(""));
    expect(weigh(text("x".repeat(1_000)))).toBe(empty + 1_000);
    expect(weigh(json(zeros))).toBeGreaterThan(100 * 1_000);
    const names = weigh(json({ ["x".repeat(5_000)]: null }));
    expect(names - weigh(json({ x: null }))).toBe(4_999);
  });

  it("counts a text with a character beyond Latin-1 two bytes a character, as V8 keeps it", () => {
    const latin = "\u00e9".repeat(1_000);
    for (const of of [text, json]) {
      expect(weigh(of(`${latin}\u20ac`)) - weigh(of(latin))).toBe(1_002);
    }
    const named = (name: string) => weigh(json({ [name]: null }));
    expect(named(`${latin}\u20ac`) - named(latin)).toBe(1_002);
  });

  it.each([
    ["objects", {}],
    ["lists", []],
  ])("counts %s without members by what they take", (_, empty) => {
    const many = Array.from({ length: 1_000 }, () => empty);
    expect(weigh(json(many))).toBeGreaterThan(300 * 1_000);
    expect(weighWith({ many })).toBeGreaterThan(300 * 1_000);
  });

  it("counts metadata as it counts data", () => {
    expect(weighWith({ zeros })).toBeGreaterThan(100 * 1_000);
    expect(weighWith({ x: "y".repeat(1_000) }) - weighWith({ x: "" })).toBe(1_000);
  });

  it("counts the texts of a list, which may be empty", () => {
    const many = Array.from({ length: 1_000 }, () => "");
    for (const lists of [{ referenceTaskIds: many }, { extensions: many }]) {
      expect(weighMessage(create(MessageSchema, lists))).toBeGreaterThan(16 * 1_000);
      const { weight } = weighStep({ case: "input", value: create(MessageSchema, lists) }, 2_000);
      expect(weight).toBeGreaterThan(16 * 1_000);
    }
  });

  it("takes no name in metadata for one of protobuf's own", () => {
    const named = { $typeName: "google.protobuf.Value", kind: "x", metadata: { case: "listValue" } };
    expect(weighWith(named)).toBeGreaterThan(weighWith({}));
    expect(weighMessage(create(MessageSchema, { parts: [json(named)] }))).toBeGreaterThan(0);
  });
});

describe("the weight of a step", () => {
  it.each([
    ["numbers", zeros],
    ["objects", Array.from({ length: 1_000 }, () => ({}))],
  ])("is at least what its %s take in memory", (_, values) => {
    const message = create(MessageSchema, { parts: [json(values)], metadata: { values } });
    const { weight } = weighStep({ case: "input", value: message }, 0);
    expect(weight).toBeGreaterThanOrEqual(2 * (weighMessage(json(values)) - weighMessage(json([]))));
  });

  const metadata = { zeros };
  const withoutMetadata = 10;

  it("counts the objects that a part is", () => {
    const value = create(MessageSchema, { parts: [text(""), text("x")] });
    expect(weighStep({ case: "input", value }, 10).weight).toBe(10 + 2 * 128);
  });

  it.each([
    ["a text of ASCII", "y".repeat(1_000), 0],
    ["one of them with another character", `\u20ac${"y".repeat(997)}`, 2 * 998 - 1_000],
    ["a text of which UTF-8 takes more than V8", "\u6587".repeat(500), 0],
    ["pairs of surrogates", "\u{1f642}".repeat(250), 0],
  ])("counts what %s takes in memory beyond its bytes", (_, words, beyond) => {
    const bytes = new TextEncoder().encode(words).length;
    for (const part of [text(words), json(words)]) {
      const value = create(MessageSchema, { parts: [part] });
      const empty = create(MessageSchema, { parts: [part.content.case === "text" ? text("") : json("")] });
      const [own, none] = [value, empty].map((each) => weighStep({ case: "input", value: each }, bytes));
      expect((own?.weight ?? 0) - (none?.weight ?? 0)).toBe(beyond);
      expect((own?.wide ?? 0) - (none?.wide ?? 0)).toBe(beyond);
    }
  });

  it("counts that of URLs, names and ids, too", () => {
    const words = `\u20ac${"y".repeat(997)}`;
    const part = { content: { case: "url", value: words }, filename: words } as const;
    const message = create(MessageSchema, { parts: [part], referenceTaskIds: [words], extensions: [words] });
    expect(weighStep({ case: "input", value: message }, 0).wide).toBe(4 * 996);
    const artifact = { parts: [part], name: words, description: words, extensions: [words] };
    const update = create(TaskArtifactUpdateEventSchema, { artifact });
    expect(weighStep({ case: "artifactUpdate", value: update }, 0).wide).toBe(5 * 996);
  });

  for (const [name, step] of [
    ["task", { case: "task", value: create(TaskSchema, { metadata }) }],
    ["status update", { case: "statusUpdate", value: create(TaskStatusUpdateEventSchema, { metadata }) }],
    [
      "artifact update",
      { case: "artifactUpdate", value: create(TaskArtifactUpdateEventSchema, { metadata }) },
    ],
    ["message", { case: "input", value: create(MessageSchema, { metadata }) }],
  ] as const) {
    it(`counts the values in the metadata of a ${name}`, () => {
      expect(weighStep(step, withoutMetadata).weight).toBe(withoutMetadata + 128 * (zeros.length + 2 * 3));
    });
  }
});
