import { json } from "@a2a-connect/core";
import { TaskSchema } from "@a2a-connect/proto";
import { create, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { countFields } from "./count-fields.ts";

describe("countFields", () => {
  const artifact = { artifactId: "a", parts: [json({ a: [[], 1, "x"], b: {} })] };
  const task = { id: "t", artifacts: [artifact], metadata: { m: [null] } };
  const bytes = toBinary(TaskSchema, create(TaskSchema, task));

  it("counts each field at any depth, those of maps' entries, too", () => {
    const entry = 3; // itself, name and value
    const inData = /* the object */ 1 + 2 * entry + /* a */ 1 + 3 + 3 + /* b */ 1;
    const inMetadata = entry + /* the list */ 1 + /* its element */ 2;
    const around = /* id */ 1 + /* artifact, its id, its part, the part's data */ 4 + /* metadata */ 1;
    expect(countFields(TaskSchema, bytes, 1_000)).toBe(around + inData + inMetadata);
  });

  it("stops beyond the number that matters", () => {
    expect(countFields(TaskSchema, bytes, 5)).toBe(6);
  });

  it("does not take texts for messages", () => {
    const id = "\n\0".repeat(50); // reads as empty fields
    expect(countFields(TaskSchema, toBinary(TaskSchema, create(TaskSchema, { id })), 10)).toBe(1);
  });
});
