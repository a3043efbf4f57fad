import { agentMessage, json, text } from "@a2a-connect/core";
import { toTable } from "@a2a-connect/core/internal";
import { create, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { heapOf } from "../../../test-support/collect-garbage.ts";
import { createJournalCodec, isLong } from "./journal-codec.ts";

const codec = createJournalCodec();
const encode = (value: unknown) => codec.encode({ op: "step#1", kind: "value", value });

// Values are made by the test that looks at the heap with them: each garbage collection visits all that there is.
const objects = (): readonly JsonObject[] =>
  JSON.parse(`[${Array(5_000).fill('{"1023":0,"2573":0}').join()}]`);
const tables = () => objects().map((each) => toTable(Object.entries(each)));

it.each([
  ["objects", objects],
  ["objects without a prototype", tables],
])("%s with members named by array indexes take no memory for the gaps between them", (_, make) => {
  const payload = encode(make());
  const bytes = heapOf(() => codec.decode(payload)); // each takes 31 KB where V8 keeps an array with gaps: 155 MB
  expect(bytes).toBeLessThan(10 * 1024 * 1024);
});

it("members named by array indexes come back as they were, also those that refer to what they are in", () => {
  const value: Record<string, unknown> = { b: 1, 1023: [2], 4294967294: 3, 7: "x" };
  value["99"] = { 2573: value };
  expect(codec.decode(encode(value))).toEqual({ op: "step#1", kind: "value", value });
});

it("a message with one text in thousands of parts is not encoded, nor visited to its end", () => {
  let visits = 0;
  const parts = new Proxy(Array(10_000).fill(text("x".repeat(20_000))), {
    get(target, name, receiver) {
      visits += 1;
      return Reflect.get(target, name, receiver);
    },
  });
  const value = { ...agentMessage([], { messageId: "m" }), parts };
  expect(() => codec.encode({ op: "step#1", kind: "value", value }, 20_000)).toThrow(
    "the result of step#1 cannot be stored: it takes more than 20000 bytes",
  );
  expect(visits).toBeLessThan(300);
});

it("a message that is too large by its texts, or by its names, is not encoded", () => {
  for (const part of [
    text("x".repeat(20_000)),
    json({ $typeName: "a", case: "b", ["n".repeat(16_000)]: 0 }),
  ]) {
    let visits = 0;
    const parts = new Proxy(Array(60).fill(part), {
      get(target, name, receiver) {
        if (name === "59") visits += 1;
        return Reflect.get(target, name, receiver);
      },
    });
    const value = { ...agentMessage([], { messageId: "m" }), parts };
    expect(() => codec.encode({ op: "step#1", kind: "value", value }, 100_000)).toThrow("more than 100000");
    expect(visits).toBe(1); // encoding begins with the last
  }
});

it("a record that is too large is not encoded to its end", () => {
  let looks = 0;
  const last = {
    get member() {
      looks += 1;
      return 1;
    },
  };
  const record = (value: unknown) => ({ op: "step#1", kind: "value", value }) as const;
  const texts = Array.from({ length: 100 }, (_, at) => `${"x".repeat(20_000)}${at}`);
  expect(() => codec.encode(record([...texts, last]), 2 ** 20)).toThrow(
    "the result of step#1 cannot be stored: it takes more than 1048576 bytes",
  );
  expect(() => codec.encode(record([...Array(1_000).keys(), last]), 1_000)).toThrow("more than 1000 bytes");
  expect(looks).toBe(0);
  expect(() => codec.encode(record("\0".repeat(300)), 1_000)).toThrow("more than 1000 bytes");
});

it.each<[string, (look: () => number) => object]>([
  ["members", (look) => Object.defineProperties({}, toTable(thousands((at) => [`n${at}`, looked(look)])))],
  ["items of a list", (look) => iterated([], look)],
  ["values of a set", (look) => iterated(new Set(), look)],
  ["keys and values of a map", (look) => iterated(new Map(), () => [look(), 1])],
  ["names and values of a query", (look) => iterated(new URLSearchParams(), () => [`${look()}`, ""])],
])("no more %s are looked at than it takes to see that a result is long", (_, make) => {
  let looks = 0;
  const value = make(() => (looks += 1));
  expect(isLong(value)).toBe(true);
  expect(looks).toBeLessThanOrEqual(1_001);
});

const thousands = <Value>(make: (at: number) => Value) => Array.from({ length: 20_000 }, (_, at) => make(at));

const looked = (get: () => number) => ({ enumerable: true, get });

/** The value, as if it had thousands of such items. */
const iterated = (value: object, look: () => unknown) =>
  Object.assign(value, {
    *[Symbol.iterator]() {
      for (const _ of thousands(() => 0)) yield look();
    },
  });

describe("one text or list of a caller's", () => {
  const kib = 1024;
  const long = "n".repeat(16 * kib);
  const many = <Value>(make: (at: number) => Value) => Array.from({ length: 400 }, (_, at) => make(at));
  const list = Array(3 * kib).fill(0);
  const shared = [1];

  it.each<[string, () => unknown]>([
    ["as a name of objects", () => many((at) => ({ [long]: at }))],
    ["as a name of objects without a prototype", () => many((at) => toTable([[long, at]]))],
    ["as a name of messages", () => many((at) => json({ [long]: at }))],
    ["as a name in one message", () => json(many((at) => ({ [long]: at })))],
    [
      "in one message",
      () =>
        agentMessage(
          many(() => text(long)),
          { messageId: "m" },
        ),
    ],
    ["as regular expressions", () => many(() => new RegExp(long))],
    ["as URLs", () => many(() => new URL(`data:${long}`))],
    ["as queries", () => many(() => new URLSearchParams(long))],
    ["as errors", () => many((at) => new Error(`${long}${at}`))],
    ["as causes of errors", () => many((at) => new Error("x", { cause: { [long]: at } }))],
    ["as members of errors", () => many((at) => Object.assign(new Error("x"), { code: `${long}${at}` }))],
    ["as keys of maps", () => many((at) => new Map([[`${long}${at}`, at]]))],
    ["as bytes", () => many(() => new TextEncoder().encode(long))],
    ["as large integers", () => many((at) => (1n << BigInt(64 * kib)) + BigInt(at))],
    ["as lists of the same numbers", () => many(() => [...list])],
    ["as lists of the same list", () => many(() => list.map(() => shared))],
    ["as lists of nothing", () => many(() => list.map(() => undefined))],
  ])("%s is not encoded for each place, and its result waits for a slice", (_, make) => {
    const value = make();
    const record = { op: "step#1", kind: "value", value } as const;
    const tooLarge = "the result of step#1 cannot be stored: it takes more than 8192 bytes";
    const made = vi.spyOn(TextEncoder.prototype, "encode");
    expect(() => codec.encode(record, 8 * kib)).toThrow(tooLarge);
    expect(made.mock.calls.filter(([made = ""]) => made.length > 2 * long.length)).toEqual([]);
    made.mockRestore();
    expect(isLong(value)).toBe(true);
    expect(isLong(Array.isArray(value) ? value.slice(0, 4) : value)).toBe(true);
  });
});

/** For the paths of `fc.webUrl`, fast-check keeps a table of all characters: 85 MB, as long as the process lives. */
const anyUrl = fc
  .tuple(fc.domain(), fc.string())
  .map(([domain, path]) => `https://${domain}/${encodeURIComponent(path)}`);

it("what is counted of any value before it is encoded is a part of what it takes, and never more", () => {
  // devalue refuses objects with such a name
  const word = fc.string().filter((name) => name !== "__proto__");
  const names = fc.oneof(word, fc.constant("n".repeat(3_000)));
  const leaf = fc.oneof(
    ...[
      fc.string(),
      names,
      fc.double(),
      fc.bigInt(),
      fc.constantFrom(null, undefined, true),
      fc.uint8Array(),
    ],
    ...[
      fc.date({ noInvalidDate: true }),
      anyUrl.map((url) => new URL(url)),
      anyUrl.map((url) => new RegExp(`[${url.length}]`)),
    ],
    fc
      .tuple(names, names)
      .map(([name, message]) => Object.assign(new Error(message), { name, code: message })),
    fc.jsonValue().map((value) => json(value as JsonValue)),
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      leaf,
      fc.array(tie("value")),
      fc.tuple(fc.nat(60), tie("value")).map(([length, each]) => Array.from({ length }, () => each)),
      fc
        .tuple(fc.nat(60), names, tie("value"))
        .map(([length, name, each]) => Array.from({ length }, () => ({ [name]: each }))),
      fc.dictionary(names, tie("value")).map((members) => toTable(Object.entries(members))),
      fc.uniqueArray(fc.tuple(tie("value"), tie("value"))).map((entries) => new Map(entries)),
      fc.uniqueArray(tie("value")).map((values) => new Set(values)),
      tie("value").map((cause) => new Error("it failed", { cause })),
    ),
  }));
  const made = vi.spyOn(TextEncoder.prototype, "encode");
  fc.assert(
    fc.property(value, (value) => {
      const record = { op: "s", kind: "value", value } as const;
      const { length } = codec.encode(record);
      expect(codec.encode(record, length)).toHaveLength(length);
      made.mockClear();
      const limit = Math.floor(length / 64) - 16;
      if (limit <= 0) return;
      expect(() => codec.encode(record, limit)).toThrow(`more than ${limit} bytes`);
      expect(made).not.toHaveBeenCalled();
    }),
    { numRuns: 100 },
  );
  made.mockRestore();
});

it.each([
  ["bytes", new Uint8Array(700_000)],
  ["a buffer", Buffer.alloc(700_000)],
  ["a message", create(ValueSchema, { kind: { case: "stringValue", value: "x".repeat(700_000) } })],
  ["a text", "x".repeat(700_000)],
])("a record may have all bytes that it is allowed: %s", (_, value) => {
  const record = { op: "step#1", kind: "value", value } as const;
  const { length } = codec.encode(record);
  expect(codec.encode(record, length)).toHaveLength(length);
});

const at = Date.UTC(2026, 0, 1);

it.each([0.25, 0, -1.5e-7, 2 ** 60, at, undefined, -0, Number.NaN, Number.NEGATIVE_INFINITY])(
  "a remembered value comes back as it was: %s",
  (value) => {
    const record = { op: 'a "name"#1', kind: "remembered", value, at } as const;
    expect(codec.decode(codec.encode(record))).toStrictEqual(record);
    const first = { ...record, resumedAt: at + 1 };
    expect(codec.decode(codec.encode(first))).toStrictEqual(first);
  },
);

it("remembered numbers are stored as devalue stores them, without its search for values that occur twice", () => {
  const sets = vi.spyOn(Map.prototype, "set");
  const stored = [0.25, undefined].map((value) =>
    codec.encode({ op: "random#1", kind: "remembered", value, at }),
  );
  const searched = sets.mock.calls.length;
  sets.mockRestore();
  expect(stored.map((bytes) => new TextDecoder().decode(bytes))).toEqual([
    '[{"op":1,"kind":2,"value":3,"at":4},"random#1","remembered",0.25,1767225600000]',
    '[{"op":1,"kind":2,"value":-1,"at":3},"random#1","remembered",1767225600000]',
  ]);
  expect(searched).toBe(0);
});

it("reads a remembered time of an older journal, which has one number for both times", () => {
  const text = '[{"op":1,"kind":2,"value":3,"at":3},"now#1","remembered",1767225600000]';
  expect(codec.decode(new TextEncoder().encode(text))).toEqual({
    op: "now#1",
    kind: "remembered",
    value: at,
    at,
  });
});

const count = 3_000;
const runs = 20;
const times = <Value>(make: (at: number) => Value) => Array.from({ length: count }, (_, at) => make(at));

const nullValue = () => create(ValueSchema, { kind: { case: "nullValue", value: 0 } });

it.each<[string, () => unknown]>([
  ["objects", () => times(() => ({}))],
  ["objects with names of their own", () => times((at) => ({ [`name${at}`]: at, [`other${at}`]: "x" }))],
  ["objects with the same names", () => times((at) => ({ id: at, name: `name ${at}`, tags: ["a"] }))],
  ["objects with members named by array indexes", objects],
  ["objects without a prototype", tables],
  ["lists", () => times(() => [])],
  ["numbers that occur once", () => times((at) => at + 0.5)],
  ["the same number", () => Array(20 * count).fill(0)],
  ["a text", () => "x".repeat(100 * count)],
  ["a text of wide characters", () => "\u20ac".repeat(100 * count)],
  ["maps", () => times(() => new Map([[1, 2]]))],
  ["dates", () => times((at) => new Date(at))],
  ["short bytes", () => times((at) => new Uint8Array([at]))],
  [
    "a message",
    () => create(ValueSchema, { kind: { case: "listValue", value: { values: times(nullValue) } } }),
  ],
])("counts about what a record takes in memory: %s", (_, make) => {
  const payload = encode(make());
  let counted = 0;
  codec.decode(payload, (bytes) => {
    counted += bytes;
  });
  const bytes = heapOf(() => Array.from({ length: runs }, () => codec.decode(payload))) / runs;
  expect(counted).toBeGreaterThan(bytes / 3);
  expect(counted).toBeLessThan(payload.length * 40);
});
