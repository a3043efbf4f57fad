import { isDeepStrictEqual } from "node:util";
import {
  ListTasksRequestSchema,
  ListTasksResponseSchema,
  MessageSchema,
  type PartSchema,
  StreamResponseSchema,
  type Task,
  TaskSchema,
} from "@a2a-connect/proto";
import {
  create,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { decodeInSteps, decodeMessage } from "../binary/decode.ts";
import { encodeInSteps, encodeMessage } from "../binary/encode.ts";
import { isLarge } from "../message-weight.ts";
import { methods } from "../methods.ts";
import { formatMessage, formatResponse } from "./format-json.ts";
import { formatAnswer, formatInPieces } from "./message-text.ts";

const kib = 1024;

function part(kind: number): MessageInitShape<typeof PartSchema> {
  const data: MessageInitShape<typeof ValueSchema> = { kind: { case: "listValue", value: { values: [] } } };
  switch (kind % 5) {
    case 0:
      return { content: { case: "text", value: `a "quoted" ü🙂\n`.repeat(20 * kib) } };
    case 1:
      return {
        content: { case: "raw", value: new Uint8Array(200 * kib + kind).map((_, at) => at) },
      };
    case 2:
      return { content: { case: "data", value: data }, filename: "x".repeat(70 * kib) };
    case 3:
      return { content: { case: "text", value: "" }, metadata: { a: [1, null, { b: "c" }] } };
    default:
      return { content: { case: "text", value: `${"x".repeat(64 * kib - 1)}🙂 after` } };
  }
}

/** A task with something large in every place. */
function largeTask(id: string): Task {
  const parts = Array.from({ length: 5 }, (_, kind) => part(kind));
  return create(TaskSchema, {
    id,
    status: { state: 2, message: { messageId: "status", parts } },
    metadata: { z: 1 },
    history: [{ messageId: "empty" }, { messageId: "large", parts, extensions: ["one"] }],
    artifacts: [
      { artifactId: "small" },
      { artifactId: "many", parts: Array.from({ length: 10_000 }, () => part(3)) },
    ],
  });
}

const cases: readonly (readonly [string, DescMessage, Message])[] = [
  ["a task", TaskSchema, largeTask("one")],
  [
    "an event",
    StreamResponseSchema,
    create(StreamResponseSchema, { payload: { case: "task", value: largeTask("one") } }),
  ],
  [
    "a page of tasks",
    ListTasksResponseSchema,
    create(ListTasksResponseSchema, {
      tasks: [largeTask("one"), create(TaskSchema), largeTask("two")],
      totalSize: 9,
    }),
  ],
  ["a small task", TaskSchema, create(TaskSchema, { id: "small" })],
  ["nothing", TaskSchema, create(TaskSchema)],
];

describe.each(cases)("%s", (_, desc, message) => {
  it("is formatted in pieces that say the same", () => {
    const pieces = [...formatInPieces(desc, message)];
    expectSame(JSON.parse(pieces.join("")), formatMessage(desc, message));
    // A piece is full with 64 Ki characters; what fills it may be as long again, or six times in escapes.
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(512 * kib);
  });

  it("is encoded in steps, into pieces of the very same bytes", () => {
    const { sizes, result } = run(encodeInSteps(desc, message));
    expect(Buffer.concat(result).equals(encodeMessage(desc, message))).toBe(true);
    expectSame(
      fromBinary(desc, new Uint8Array(Buffer.concat(result))),
      fromBinary(desc, toBinary(desc, message)),
    );
    expect(Math.max(...sizes)).toBeLessThan(200 * kib);
  });

  it("is decoded in steps to the same message", () => {
    const bytes = toBinary(desc, message);
    const { sizes, result } = run(decodeInSteps(desc, bytes));
    expectSameContent(result, fromBinary(desc, bytes));
    expect(Math.max(...sizes)).toBeLessThan(600 * kib);
  });
});

it("is decoded with a count of its values, in which an object or a list of JSON is three", () => {
  const countOf = (value: JsonValue): number => {
    let values = 0;
    const bytes = toBinary(ValueSchema, fromJson(ValueSchema, value));
    run(decodeInSteps(ValueSchema, bytes, { onValues: (more) => (values += more) }));
    return values;
  };
  const one = countOf([0]);
  expect([countOf([0, 0]), countOf([0, []]), countOf([0, {}])].map((each) => each - one)).toEqual([1, 3, 3]);
});

it("merges the halves of a task, and of a message in it", () => {
  const task = largeTask("one");
  const halves = [{ ...task, artifacts: [] }, create(TaskSchema, { artifacts: task.artifacts })];
  const bytes = Uint8Array.from(Buffer.concat(halves.map((half) => toBinary(TaskSchema, half))));
  const event = Uint8Array.from(
    Buffer.concat(
      halves.map((value) =>
        toBinary(StreamResponseSchema, create(StreamResponseSchema, { payload: { case: "task", value } })),
      ),
    ),
  );
  expectSameContent(
    run(decodeInSteps(TaskSchema, bytes)).result,
    fromBinary(TaskSchema, toBinary(TaskSchema, task)),
  );
  expectSameContent(
    run(decodeInSteps(StreamResponseSchema, event)).result,
    fromBinary(StreamResponseSchema, event),
  );
});

it("says of listed tasks that they have no artifacts, when these were asked for", () => {
  const request = create(ListTasksRequestSchema, { includeArtifacts: true });
  const tasks = [
    { ...largeTask("one"), artifacts: [] },
    create(TaskSchema, { id: "two" }),
    largeTask("three"),
  ];
  const response = create(ListTasksResponseSchema, { tasks });
  const pieces = formatAnswer(methods.listTasks, request, response);
  expect(typeof pieces).not.toBe("string");
  const text = [...pieces].join("");
  expectSame(JSON.parse(text), formatResponse(methods.listTasks, request, response));
});

it("writes a page of small tasks as one text, and the same again", () => {
  const tasks = [create(TaskSchema, { id: "one" }), create(TaskSchema, { artifacts: [{ artifactId: "a" }] })];
  const response = create(ListTasksResponseSchema, { tasks, nextPageToken: "next", totalSize: 7 });
  for (const includeArtifacts of [true, false, true]) {
    const request = create(ListTasksRequestSchema, { includeArtifacts });
    const text = formatAnswer(methods.listTasks, request, response);
    expect(JSON.parse(String(text))).toEqual(formatResponse(methods.listTasks, request, response));
  }
  const none = create(ListTasksResponseSchema);
  const answer = formatAnswer(methods.listTasks, create(ListTasksRequestSchema), none);
  expect(JSON.parse(String(answer))).toEqual({ tasks: [], nextPageToken: "", pageSize: 0, totalSize: 0 });
});

it("encodes a page the same each time, and in steps", () => {
  const tasks = [create(TaskSchema, { id: "one" }), largeTask("two"), create(TaskSchema)];
  const response = create(ListTasksResponseSchema, { tasks, nextPageToken: "next", totalSize: 7 });
  const bytes = toBinary(ListTasksResponseSchema, response);
  expect(isLarge(response)).toBe(true);
  for (let time = 0; time < 2; time++) {
    expect(Buffer.compare(encodeMessage(ListTasksResponseSchema, response), bytes)).toBe(0);
    const { result } = run(encodeInSteps(ListTasksResponseSchema, response));
    expect(Buffer.compare(Buffer.concat(result), bytes)).toBe(0);
    expect(isLarge(response)).toBe(true);
  }
});

it("calls a message large by its texts, its bytes and the number of its values", () => {
  const of = (init: MessageInitShape<typeof PartSchema>) =>
    create(TaskSchema, { artifacts: [{ parts: [init] }] });
  expect(isLarge(create(TaskSchema))).toBe(false);
  expect(isLarge(of(part(3)))).toBe(false);
  expect(isLarge(of(part(0)))).toBe(true);
  expect(isLarge(of(part(1)), 200 * kib)).toBe(true);
  expect(isLarge(largeTask("one"))).toBe(true);
  const values = Array.from({ length: 50_000 }, () => null);
  expect(isLarge(create(TaskSchema, { metadata: { values } }))).toBe(true);
});

/** `toEqual` takes seconds for values this large. */
describe("metadata that is decoded is as JSON.parse would have made it, with prototypes", () => {
  const json = '{"a":{"b":[{},{"__proto__":{"c":1}}]},"__proto__":{"d":2},"hasOwnProperty":null}';
  const bytes = encodeMessage(MessageSchema, create(MessageSchema, { metadata: JSON.parse(json) }));

  it("at once", () => {
    expectSame(decodeMessage(MessageSchema, bytes).metadata, JSON.parse(json));
  });

  it("in steps, wherever they end", () => {
    for (let sliceBytes = 1; sliceBytes <= bytes.length; sliceBytes += 1) {
      const { metadata } = run(decodeInSteps(MessageSchema, bytes, {}, sliceBytes)).result;
      expectSame(metadata, JSON.parse(json));
    }
  });

  it("of two halves that are merged", () => {
    const more = JSON.parse('{"__proto__":{"e":3},"toString":{}}');
    const half = encodeMessage(MessageSchema, create(MessageSchema, { metadata: more }));
    const { metadata } = decodeMessage(MessageSchema, Uint8Array.from([...bytes, ...half]));
    expectSame(metadata, JSON.parse(`${json.slice(0, -1)},"__proto__":{"e":3},"toString":{}}`));
  });
});

function expectSame(found: unknown, expected: unknown): void {
  expect(isDeepStrictEqual(found, expected)).toBe(true);
}

/** Where one side has tables of `createTable`, which have no prototype: those of clones are the same. */
function expectSameContent(found: unknown, expected: unknown): void {
  expectSame(structuredClone(found), structuredClone(expected));
}

function run<T>(steps: Generator<number, T>): { readonly sizes: readonly number[]; readonly result: T } {
  const sizes: number[] = [0];
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return { sizes, result: value };
    sizes.push(value);
  }
}

describe("JSON of a caller's own", () => {
  const json: JsonObject = {
    "": [],
    deep: [[{}, { 'quoted "': [null, true, false, 0, 1e21, 1.5, "\u2028é"] }]],
    wide: Array.from({ length: 20_000 }, (_, at) => ({ at, text: `"${at}"` })),
    $typeName: "google.protobuf.Value",
    kind: { case: "stringValue", value: "not what it seems" },
  };
  const task = create(TaskSchema, {
    metadata: json,
    artifacts: [
      {
        parts: [
          { content: { case: "data", value: fromJson(ValueSchema, json) } },
          { content: { case: "data", value: fromJson(ValueSchema, ["x".repeat(70 * kib)]) } },
        ],
      },
    ],
  });

  it("is formatted in pieces that say the same", () => {
    const pieces = [...formatInPieces(TaskSchema, task)];
    expectSameContent(JSON.parse(pieces.join("")), formatMessage(TaskSchema, task));
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(160 * kib);
    expect(pieces.length).toBeGreaterThan(10);
  });

  it("is divided within its long strings, but not within a character", () => {
    const long = `${"x".repeat(64 * kib - 1)}🙂"${"é🙂\n".repeat(100 * kib)}`;
    const strings: JsonObject = { long, list: [1, `x${long}`, { "": long }], [`xx${long}`]: "named" };
    const lists = create(TaskSchema, {
      metadata: strings,
      history: [{ messageId: "m", extensions: [long, "short"], metadata: { [long]: long } }],
      artifacts: [
        { parts: [{ content: { case: "data", value: fromJson(ValueSchema, strings) } }] },
        { parts: [{ content: { case: "data", value: fromJson(ValueSchema, long) } }] },
      ],
    });
    const pieces = [...formatInPieces(TaskSchema, lists)];
    expectSameContent(JSON.parse(pieces.join("")), formatMessage(TaskSchema, lists));
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(256 * kib);
    expect(pieces.filter((piece) => !piece.isWellFormed())).toEqual([]);
  });

  it("is refused where JSON cannot hold it", () => {
    const data = fromJson(ValueSchema, ["x".repeat(300 * kib), 1]);
    if (data.kind.case !== "listValue" || data.kind.value.values[1] === undefined) expect.fail("no list");
    data.kind.value.values[1].kind = { case: "numberValue", value: Number.NaN };
    const odd = create(TaskSchema, { artifacts: [{ parts: [{ content: { case: "data", value: data } }] }] });
    expect(() => [...formatInPieces(TaskSchema, odd)]).toThrow(/NaN/);
  });
});
