import {
  AgentCardSchema,
  GetTaskRequestSchema,
  ListTasksRequestSchema,
  MessageSchema,
  PartSchema,
  Role,
  SendMessageRequestSchema,
  SendMessageResponseSchema,
  TaskSchema,
  TaskState,
  TaskStatusSchema,
} from "@a2a-connect/proto";
import { BadRequestSchema } from "@a2a-connect/proto/google/rpc/error_details";
import { type DescMessage, fromBinary, toBinary, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { type FieldViolation, findFieldViolations } from "../errors.ts";
import { defaultMaxDepth } from "../field-walk.ts";
import { findMissingFields } from "../required-fields.ts";
import { type ParseMessageOptions, parseMessage } from "./parse-json.ts";

/** The violations that parsing reports; fails the test when it reports none. */
function violationsOf(desc: DescMessage, json: unknown, options?: ParseMessageOptions): FieldViolation[] {
  try {
    parseMessage(desc, json, options);
  } catch (error) {
    expect(error).toBeInstanceOf(ConnectError);
    expect((error as ConnectError).code).toBe(Code.InvalidArgument);
    return findFieldViolations(error).map(({ field, description }) => ({ field, description }));
  }
  throw new Error("the JSON was accepted");
}

/** An object in objects: `{"a":{"a":…}}`, of `levels` levels. Text, since only JSON.parse builds it without recursion. */
function nested(levels: number): unknown {
  return JSON.parse(`${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`);
}

describe("parseMessage accepts", () => {
  for (const [title, desc, json, want] of [
    ["camelCase names", GetTaskRequestSchema, { id: "t", historyLength: 0 }, { id: "t", historyLength: 0 }],
    ["snake_case names (H-2)", GetTaskRequestSchema, { history_length: 0 }, { historyLength: 0 }],
    [
      "enum names (H-3)",
      ListTasksRequestSchema,
      { status: "TASK_STATE_WORKING" },
      { status: TaskState.WORKING },
    ],
    ["enum numbers (H-3)", ListTasksRequestSchema, { status: 2 }, { status: TaskState.WORKING }],
    ["numeric strings (H-12)", ListTasksRequestSchema, { pageSize: "5" }, { pageSize: 5 }],
    [
      "negative numbers, whose meaning others judge",
      ListTasksRequestSchema,
      { pageSize: -5 },
      { pageSize: -5 },
    ],
    ["int64 strings (H-12)", GetTaskRequestSchema, { currentGeneration: "5" }, { currentGeneration: 5n }],
    ["int64 numbers (R-5)", GetTaskRequestSchema, { currentGeneration: 5 }, { currentGeneration: 5n }],
    [
      "null as unset (H-11)",
      MessageSchema,
      { contextId: null, parts: null, role: null, metadata: null },
      { contextId: "" },
    ],
    [
      "both spellings of other fields",
      MessageSchema,
      { message_id: "m", contextId: "c" },
      { messageId: "m", contextId: "c" },
    ],
    [
      "unknown fields (H-6)",
      MessageSchema,
      { messageId: "m", kind: "message", x: { y: [1] } },
      { messageId: "m" },
    ],
    ["data null as a set member (H-10)", PartSchema, { data: null }, { content: { case: "data" } }],
    [
      "an empty text as a set member (H-9)",
      PartSchema,
      { text: "" },
      { content: { case: "text", value: "" } },
    ],
    [
      "null in other members of a oneof (H-11)",
      PartSchema,
      { text: "a", url: null },
      { content: { case: "text" } },
    ],
    [
      "null in other message members (H-11)",
      SendMessageResponseSchema,
      { task: { id: "t" }, message: null },
      { payload: { case: "task" } },
    ],
    ["base64 (H-5)", PartSchema, { raw: "+/8=" }, { content: { value: new Uint8Array([0xfb, 0xff]) } }],
    [
      "unpadded URL-safe base64 (H-5)",
      PartSchema,
      { raw: "-_8" },
      { content: { value: new Uint8Array([0xfb, 0xff]) } },
    ],
    ["empty bytes", PartSchema, { raw: "" }, { content: { case: "raw", value: new Uint8Array() } }],
    [
      "user data as it is (H-13)",
      MessageSchema,
      { metadata: { a_b: null, c: {} } },
      { metadata: { a_b: null, c: {} } },
    ],
    ["an empty object", SendMessageRequestSchema, {}, {}],
  ] as const) {
    it(title, () => expect(parseMessage<DescMessage>(desc, json)).toMatchObject(want));
  }

  for (const [timestamp, seconds, nanos] of [
    ["2026-01-31T12:00:00Z", 1_769_860_800n, 0],
    ["2026-01-31T12:00:00.5Z", 1_769_860_800n, 500_000_000],
    ["2026-01-31T12:00:00.123456789Z", 1_769_860_800n, 123_456_789],
    ["2026-01-31T14:30:00+02:30", 1_769_860_800n, 0],
    ["2024-02-29T00:00:00Z", 1_709_164_800n, 0],
    ["0001-01-01T00:00:00Z", -62_135_596_800n, 0],
    ["9999-12-31T23:59:59Z", 253_402_300_799n, 0],
  ] as const) {
    it(`the timestamp ${timestamp} (H-4)`, () => {
      expect(parseMessage(TaskStatusSchema, { timestamp }).timestamp).toMatchObject({ seconds, nanos });
    });
  }

  it("a large file without exhausting a stack", () => {
    const part = parseMessage(PartSchema, { raw: "A".repeat(16 * 1024 * 1024) });
    expect(part.content.case === "raw" && part.content.value.length).toBe(12 * 1024 * 1024);
  });

  it("leaves the caller's JSON as it was", () => {
    const json = Object.freeze({ task: Object.freeze({ id: "t" }), message: null });
    expect(parseMessage(SendMessageResponseSchema, json).payload.case).toBe("task");
    expect(json).toEqual({ task: { id: "t" }, message: null });
  });

  it("a whole request", () => {
    const request = parseMessage(SendMessageRequestSchema, {
      tenant: "acme",
      message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }, { data: [1, { a: null }] }] },
      configuration: { acceptedOutputModes: ["text/plain"], historyLength: 0, returnImmediately: true },
    });
    expect(request.message?.role).toBe(Role.USER);
    expect(toJson(SendMessageRequestSchema, request)).toMatchObject({
      message: { parts: [{}, { data: [1, { a: null }] }] },
    });
  });
});

describe("parseMessage refuses", () => {
  for (const [title, desc, json, field] of [
    ["an array as the message", SendMessageRequestSchema, [], ""],
    ["null as the message", SendMessageRequestSchema, null, ""],
    ["nothing as the message", SendMessageRequestSchema, undefined, ""],
    ["text as the message", SendMessageRequestSchema, "x", ""],
    ["a number for a string", SendMessageRequestSchema, { message: { messageId: 1 } }, "message.messageId"],
    ["an object for a string", GetTaskRequestSchema, { id: {} }, "id"],
    ["a string for a message", SendMessageRequestSchema, { message: "hi" }, "message"],
    ["an array for a message", SendMessageRequestSchema, { message: [] }, "message"],
    ["an object for a list", MessageSchema, { parts: {} }, "parts"],
    ["a string for a list", MessageSchema, { extensions: "urn:a" }, "extensions"],
    ["null in a list of messages", MessageSchema, { parts: [null] }, "parts[0]"],
    ["null in a list of strings", MessageSchema, { extensions: ["a", null] }, "extensions[1]"],
    ["a number in a list of strings", MessageSchema, { extensions: ["a", 1] }, "extensions[1]"],
    ["a string for a boolean", ListTasksRequestSchema, { includeArtifacts: "true" }, "includeArtifacts"],
    ["a number for a boolean", ListTasksRequestSchema, { includeArtifacts: 1 }, "includeArtifacts"],
    ["an unknown enum name (H-3)", ListTasksRequestSchema, { status: "TASK_STATE_RUNNING" }, "status"],
    ["an old enum name", ListTasksRequestSchema, { status: "working" }, "status"],
    ["an unknown enum number (H-3)", ListTasksRequestSchema, { status: 99 }, "status"],
    ["a fraction as an enum", ListTasksRequestSchema, { status: 1.5 }, "status"],
    ["an object as an enum", ListTasksRequestSchema, { status: {} }, "status"],
    ["a prototype's name as an enum", ListTasksRequestSchema, { status: "constructor" }, "status"],
    ["a fraction for an int32", ListTasksRequestSchema, { pageSize: 1.5 }, "pageSize"],
    ["an int32 out of range", ListTasksRequestSchema, { pageSize: 2 ** 31 }, "pageSize"],
    ["text for an int32", ListTasksRequestSchema, { pageSize: "many" }, "pageSize"],
    ["hexadecimal text for an int32", ListTasksRequestSchema, { pageSize: "0x10" }, "pageSize"],
    ["empty text for an int32", ListTasksRequestSchema, { pageSize: "" }, "pageSize"],
    [
      "an int64 out of range",
      GetTaskRequestSchema,
      { currentGeneration: "9223372036854775808" },
      "currentGeneration",
    ],
    [
      "both spellings of a field (H-14)",
      GetTaskRequestSchema,
      { historyLength: 1, history_length: 1 },
      "historyLength",
    ],
    [
      "two members of a oneof (H-9, H-14)",
      SendMessageRequestSchema,
      { message: { parts: [{ text: "a", url: "b" }] } },
      "message.parts[0]",
    ],
    ["data null beside another member (H-10)", PartSchema, { text: "a", data: null }, ""],
    ["two payloads", SendMessageResponseSchema, { task: {}, message: {} }, ""],
    ["bad base64", PartSchema, { raw: "a*b=" }, "raw"],
    ["base64 with padding in the middle", PartSchema, { raw: "QQ==QQ==" }, "raw"],
    ["base64 of an impossible length", PartSchema, { raw: "QQQQQ" }, "raw"],
    ["base64 with too much padding", PartSchema, { raw: "QQQ==" }, "raw"],
    ["a number for bytes", PartSchema, { raw: 1 }, "raw"],
    ["an array for a Struct", MessageSchema, { metadata: [] }, "metadata"],
    ["text for a Struct", MessageSchema, { metadata: "x" }, "metadata"],
    ["a lone surrogate in text", PartSchema, { text: "\ud800" }, "text"],
    ["a lone surrogate in user data", MessageSchema, { metadata: { a: ["\udc00"] } }, "metadata.a[0]"],
    ["a lone surrogate in a user's key", MessageSchema, { metadata: { "\ud800": 1 } }, 'metadata["\ufffd"]'],
    [
      "an infinite number in user data (H-10)",
      MessageSchema,
      { metadata: { a: Number.POSITIVE_INFINITY } },
      "metadata.a",
    ],
    ["what no JSON holds", MessageSchema, { metadata: { a: () => 1 } }, "metadata.a"],
  ] as const) {
    it(title, () => expect(violationsOf(desc, json).map((violation) => violation.field)).toEqual([field]));
  }

  for (const timestamp of [
    "yesterday",
    "2026-01-31",
    "2026-01-31T12:00:00",
    "2026-01-31 12:00:00Z",
    "2026-02-30T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-01-31T12:60:00Z",
    "2026-01-31T12:00:00.1234567890Z",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+01:00",
    "12026-01-31T12:00:00Z",
    1_769_860_800,
    {},
  ]) {
    it(`the timestamp ${JSON.stringify(timestamp)} (H-4)`, () => {
      expect(violationsOf(TaskStatusSchema, { timestamp })).toEqual([
        { field: "timestamp", description: "must be a timestamp such as 2026-01-31T12:00:00.000Z" },
      ]);
    });
  }

  it("__proto__ anywhere, touching no prototype", () => {
    for (const [json, field] of [
      ['{"__proto__":{"polluted":1}}', "__proto__"],
      ['{"message":{"__proto__":1}}', "message.__proto__"],
      ['{"message":{"metadata":{"a":[{"__proto__":1}]}}}', "message.metadata.a[0].__proto__"],
      ['{"message":{"parts":[{"data":{"__proto__":null}}]}}', "message.parts[0].data.__proto__"],
      ['{"unknown":{"__proto__":1}}', "unknown.__proto__"],
    ] as const) {
      expect(violationsOf(SendMessageRequestSchema, JSON.parse(json))).toEqual([
        { field, description: "this key is not allowed" },
      ]);
    }
    expect(violationsOf(AgentCardSchema, JSON.parse('{"securitySchemes":{"__proto__":{}}}'))).toMatchObject([
      { field: "securitySchemes.__proto__" },
    ]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("several wrong fields at once, all named", () => {
    const json = { message: { messageId: 1, role: "user", parts: [{ text: 1 }, { raw: "?" }] }, tenant: 5 };
    expect(violationsOf(SendMessageRequestSchema, json)).toEqual([
      { field: "message.messageId", description: "must be a string" },
      { field: "message.role", description: "must be a value of Role" },
      { field: "message.parts[0].text", description: "must be a string" },
      { field: "message.parts[1].raw", description: "must be a base64 string" },
      { field: "tenant", description: "must be a string" },
    ]);
  });

  it("many wrong fields with a bounded answer", () => {
    const error = violationsOf(MessageSchema, { parts: Array.from({ length: 10_000 }, () => 1) });
    expect(error).toHaveLength(10);
  });
});

describe("the depth limit", () => {
  const request = (metadata: unknown) => ({ message: { metadata } });
  const levels = 2; // the request and its message

  it("takes user data up to the limit and not beyond, wherever it is", () => {
    for (const wrap of [request, (value: unknown) => ({ message: { unknown: value } })]) {
      expect(() => parseMessage(SendMessageRequestSchema, wrap(nested(100 - levels)))).not.toThrow();
      expect(violationsOf(SendMessageRequestSchema, wrap(nested(101 - levels)))).toMatchObject([
        { description: "is nested deeper than 100 levels" },
      ]);
    }
  });

  it("counts arrays like objects", () => {
    const data = (depth: number) => ({ data: JSON.parse("[".repeat(depth) + "]".repeat(depth)) });
    expect(() => parseMessage(PartSchema, data(99))).not.toThrow();
    expect(violationsOf(PartSchema, data(100))).toHaveLength(1);
  });

  it("leaves room for the same depth on binary wires", () => {
    const data = JSON.parse("[".repeat(99) + "]".repeat(99));
    const wire = toBinary(PartSchema, parseMessage(PartSchema, { data }));
    // protobuf-es counts a Struct or list and its Value separately.
    const part = fromBinary(PartSchema, wire, { recursionLimit: 2 * defaultMaxDepth + 2 });
    expect(findMissingFields(PartSchema, part)).toEqual([]);
    expect(() => fromBinary(PartSchema, wire)).toThrow("recursion");
  });

  it("is an option", () => {
    expect(() => parseMessage(SendMessageRequestSchema, request(nested(3)), { maxDepth: 5 })).not.toThrow();
    expect(violationsOf(SendMessageRequestSchema, request(nested(4)), { maxDepth: 5 })).toHaveLength(1);
    expect(() =>
      parseMessage(SendMessageRequestSchema, request(nested(300)), { maxDepth: 302 }),
    ).not.toThrow();
  });

  it("refuses 10,000 and 100,000 levels without overflowing the stack, with a short path", () => {
    for (const depth of [10_000, 100_000]) {
      const [violation] = violationsOf(SendMessageRequestSchema, request(nested(depth)));
      expect(violation?.description).toBe("is nested deeper than 100 levels");
      expect(violation?.field).toMatch(/^message\.metadata(\.a)+…$/);
      expect(violation?.field.length).toBeLessThan(200);
    }
  });

  it("never repeats a long key", () => {
    const [violation] = violationsOf(MessageSchema, {
      metadata: { ["<script>".repeat(10_000)]: Number.NaN },
    });
    expect(violation?.field.length).toBeLessThan(100);
  });
});

describe("violations", () => {
  it("travel as google.rpc.BadRequest (E-3)", () => {
    try {
      parseMessage(GetTaskRequestSchema, { id: 1 });
      expect.unreachable();
    } catch (error) {
      expect((error as ConnectError).findDetails(BadRequestSchema)).toMatchObject([
        { fieldViolations: [{ field: "id", description: "must be a string" }] },
      ]);
    }
  });
});

describe("parseMessage when it is lenient", () => {
  const read = (json: unknown): unknown => parseMessage(TaskSchema, json, { isLenient: true });

  it("leaves an enum with an unknown name unset, and keeps an unknown number", () => {
    expect(read({ id: "t", status: { state: "TASK_STATE_NEWER" } })).toMatchObject({ status: { state: 0 } });
    expect(read({ id: "t", status: { state: 77 } })).toMatchObject({ status: { state: 77 } });
    expect(() => read({ status: { state: 1.5 } })).toThrow("must be a value of TaskState");
    expect(() => parseMessage(TaskSchema, { status: { state: 77 } })).toThrow("must be a value of TaskState");
  });

  it("ignores unknown fields, whatever is in them", () => {
    expect(read({ id: "t", newer: { ["__proto__"]: "\ud800" } })).toMatchObject({ id: "t" });
  });

  it("still refuses values of another type, and keeps a Struct as it is", () => {
    expect(() => read({ id: 1 })).toThrow("must be a string");
    expect(read({ id: "t", metadata: { a: [null] } })).toMatchObject({ metadata: { a: [null] } });
  });
});
