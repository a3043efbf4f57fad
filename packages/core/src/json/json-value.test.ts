import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  type Artifact,
  ArtifactSchema,
  MessageSchema,
  PartSchema,
  SecurityRequirementSchema,
  TaskArtifactUpdateEventSchema,
  TaskSchema,
} from "@a2a-connect/proto";
import { create, type DescMessage, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { decodeMessage } from "../binary/decode.ts";
import { encodeMessage } from "../binary/encode.ts";
import { applyStep } from "../task-reducer.ts";
import { formatMessage } from "./format-json.ts";
import { type JsonText, parseJsonText, readJsonText } from "./json-text.ts";
import { fromJsonValue, mergeMembers, setMember, toJsonValue, toTable } from "./json-value.ts";
import { parseMessage } from "./parse-json.ts";

/** What 5,000 objects may take. Each takes 31 KB where V8 keeps an array with gaps: 155 MB. */
const maxBytes = 10 * 1024 * 1024;
const count = 5_000;

const sparse = '{"1023":0,"2573":0}';
const objects = (text = sparse) => JSON.parse(`[${Array(count).fill(text).join()}]`) as JsonObject[];

describe("the message form of JSON in which objects occur many times", () => {
  /** How many objects there are in it, those that are the same counted once. */
  const countValues = (root: Value) => {
    const found = new Set<Value>([root]);
    for (const { kind } of found) {
      const inner =
        kind.case === "listValue"
          ? kind.value.values
          : kind.case === "structValue"
            ? Object.values(kind.value.fields)
            : [];
      for (const each of inner) found.add(each);
    }
    return found.size;
  };
  const rows = Array.from({ length: 500 }, (_, n) => ({ n }));

  it("has them once, and is the same JSON", () => {
    const json = rows.map((row) => ({ row, context: rows }));
    const value = fromJsonValue(json);
    expect(countValues(value)).toBeLessThan(10 * rows.length); // not 250,000
    expect(JSON.stringify(toJsonValue(value))).toBe(JSON.stringify(json));
  });

  it("is made of JSON that doubles at each level", () => {
    let json: JsonValue = rows;
    for (let level = 0; level < 60; level += 1) json = [json, json];
    expect(countValues(fromJsonValue(json))).toBeLessThan(10 * rows.length);
  });

  it("is not deeper than messages may be", () => {
    const nest = (json: JsonValue, levels: number) => {
      let nested = json;
      for (let level = 0; level < levels; level += 1) nested = [nested];
      return nested;
    };
    const deep = nest(1, 60);
    const atTop = [rows, rows, deep];
    expect(fromJsonValue([...atTop, nest(deep, 30)])).toBeDefined();
    expect(() => fromJsonValue([...atTop, nest(deep, 50)])).toThrow("nested deeper than 100 levels");
  });
});

describe("objects with members named by array indexes", () => {
  const limits = { maxDepth: 50, maxValues: 1_000_000 };
  const bytesOf = (text: string) => new TextEncoder().encode(text);
  const list = bytesOf(JSON.stringify(objects()));
  const encoded = encodeMessage(ValueSchema, fromJsonValue(objects()));
  const metadata = objects().map((each) =>
    encodeMessage(MessageSchema, create(MessageSchema, { metadata: each })),
  );
  const schemes = { schemes: { 1023: { list: [] }, 2573: { list: [] } } };
  const createRequirements = () =>
    Array.from({ length: count }, () => create(SecurityRequirementSchema, schemes));
  const encodedMaps = createRequirements().map((each) => encodeMessage(SecurityRequirementSchema, each));
  const decodeAll = (desc: DescMessage, messages: readonly Uint8Array[]) =>
    messages.map((bytes) => decodeMessage(desc, bytes));

  for (const [form, make] of [
    ["a short text", () => Array.from({ length: count }, () => parseJsonText(bytesOf(sparse)))],
    [
      "a text that is read in slices",
      async () => contentOf(await readJsonText(list, limits, async () => {})),
    ],
    ["a Value of plain JSON", () => fromJsonValue(objects())],
    ["the data of a part of JSON", () => parseMessage(PartSchema, { data: objects() })],
    [
      "the maps of messages of JSON",
      () => objects(JSON.stringify(schemes)).map((each) => parseMessage(SecurityRequirementSchema, each)),
    ],
    ["the JSON of a Value", () => formatMessage(ValueSchema, decodeMessage(ValueSchema, encoded))],
    ["plain JSON of a Value", () => toJsonValue(decodeMessage(ValueSchema, encoded))],
    ["Structs of a binary Value", () => decodeMessage(ValueSchema, encoded)],
    ["binary Structs", () => decodeAll(MessageSchema, metadata)],
    ["binary maps", () => decodeAll(SecurityRequirementSchema, encodedMaps)],
    ["copies", () => objects().map((each) => mergeMembers(each))],
  ] as const) {
    it(`take kilobytes less than their gaps: ${form}`, async () => {
      expect(await heapOf(make)).toBeLessThan(maxBytes);
    });
  }

  // What these are made of has gaps itself: each garbage collection visits all of them, as long as they live.
  it("take kilobytes less than their gaps: the JSON of maps", async () => {
    const requirements = createRequirements();
    const format = () => requirements.map((each) => formatMessage(SecurityRequirementSchema, each));
    expect(await heapOf(format)).toBeLessThan(maxBytes);
    expect(requirements).toHaveLength(count); // they live until here
  });

  it("take kilobytes less than their gaps: the metadata of artifacts that grow", async () => {
    const artifacts = objects().map((each) => create(ArtifactSchema, { artifactId: "a", metadata: each }));
    expect(await heapOf(() => artifacts.map(grow))).toBeLessThan(maxBytes);
    expect(artifacts).toHaveLength(count); // they live until here
  });

  it("have the same members in the same order", () => {
    const text = '{"4294967294":1,"b":2,"17":3,"4294967295":4,"a":5,"0":6,"010":7,"99":8,"__proto__":9}';
    const table = toTable(Object.entries(JSON.parse(text)));
    expect(JSON.stringify(table)).toBe(JSON.stringify(JSON.parse(text)));
    expect(JSON.stringify(mergeMembers(undefined, { a: 1, 20: 2 }, { 10: 3, a: 4 }))).toBe(
      '{"10":3,"20":2,"a":4}',
    );
  });

  it("keep a member that is named by the last of all indexes", () => {
    const object: Record<string, JsonValue> = {};
    for (const name of ["4294967294", "10", "4294967294", "11"]) setMember(object, name, name);
    expect(object).toEqual({ 10: "10", 11: "11", 4294967294: "4294967294" });
  });
});

function contentOf(text: JsonText): unknown {
  return text.ok ? text.value : expect.unreachable();
}

/** A task whose artifact gets this metadata in two steps. */
function grow(artifact: Artifact): unknown {
  const task = applyStep(undefined, { case: "task", value: create(TaskSchema, { id: "t" }) });
  for (const append of [false, true]) {
    applyStep(task, {
      case: "artifactUpdate",
      value: create(TaskArtifactUpdateEventSchema, { artifact, append }),
    });
  }
  return task;
}

/** The heap that is taken by what this makes. */
async function heapOf(make: () => unknown): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void; // the flag made it
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const made = await make();
  collectGarbage();
  const bytes = process.memoryUsage().heapUsed - before;
  expect(made).toBeDefined(); // it lives until here
  return bytes;
}
