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

  it("counts metadata as it counts data", () => {
    expect(weighWith({ zeros })).toBeGreaterThan(100 * 1_000);
    expect(weighWith({ x: "y".repeat(1_000) }) - weighWith({ x: "" })).toBe(1_000);
  });

  it("takes no name in metadata for one of protobuf's own", () => {
    const named = { $typeName: "google.protobuf.Value", kind: "x", metadata: { case: "listValue" } };
    expect(weighWith(named)).toBeGreaterThan(weighWith({}));
    expect(weighMessage(create(MessageSchema, { parts: [json(named)] }))).toBeGreaterThan(0);
  });
});

describe("the weight of a step", () => {
  const metadata = { zeros };
  const withoutMetadata = 10;

  it("counts the objects that a part is", () => {
    const value = create(MessageSchema, { parts: [text(""), text("x")] });
    expect(weighStep({ case: "input", value }, 10)).toBe(10 + 2 * 128);
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
      expect(weighStep(step, withoutMetadata)).toBe(withoutMetadata + 32 * (zeros.length + 2));
    });
  }
});
