import { toTable } from "@a2a-connect/core/internal";
import type { JsonObject } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { heapOf } from "../../../test-support/collect-garbage.ts";
import { createJournalCodec } from "./journal-codec.ts";

const codec = createJournalCodec();
const encode = (value: unknown) => codec.encode({ op: "step#1", kind: "value", value });

const objects: readonly JsonObject[] = JSON.parse(`[${Array(5_000).fill('{"1023":0,"2573":0}').join()}]`);
const tables = objects.map((each) => toTable(Object.entries(each)));

it.each([
  ["objects", objects],
  ["objects without a prototype", tables],
])("%s with members named by array indexes take no memory for the gaps between them", (_, values) => {
  const payload = encode(values);
  const bytes = heapOf(() => codec.decode(payload)); // each takes 31 KB where V8 keeps an array with gaps: 155 MB
  expect(bytes).toBeLessThan(10 * 1024 * 1024);
});

it("members named by array indexes come back as they were, also those that refer to what they are in", () => {
  const value: Record<string, unknown> = { b: 1, 1023: [2], 4294967294: 3, 7: "x" };
  value["99"] = { 2573: value };
  expect(codec.decode(encode(value))).toEqual({ op: "step#1", kind: "value", value });
});
