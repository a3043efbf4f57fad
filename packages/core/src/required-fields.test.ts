import {
  AgentCardSchema,
  GetTaskRequestSchema,
  ListTasksResponseSchema,
  MessageSchema,
  PartSchema,
  Role,
  SendMessageRequestSchema,
  TaskPushNotificationConfigSchema,
  TaskSchema,
  TaskStatusSchema,
} from "@a2a-connect/proto";
import { create, type DescMessage, type JsonValue } from "@bufbuild/protobuf";
import { type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { bytes, json, text, userMessage } from "./parts.ts";
import { findMissingFields, isRequiredField } from "./required-fields.ts";

/** Field paths that a message of this content lacks. */
function missing(desc: DescMessage, init: Record<string, unknown>): string[] {
  return findMissingFields(desc, create(desc, init)).map(({ field }) => field);
}

const message = userMessage("hi", { messageId: "m" });

describe("findMissingFields", () => {
  for (const [title, desc, init, want] of [
    ["an unset message (J-8)", SendMessageRequestSchema, {}, ["message"]],
    [
      "everything an empty message lacks",
      SendMessageRequestSchema,
      { message: {} },
      ["message.messageId", "message.role", "message.parts"],
    ],
    ["nothing in a full request", SendMessageRequestSchema, { message }, []],
    ["an empty id (J-7)", GetTaskRequestSchema, {}, ["id"]],
    [
      "a part without content (H-9)",
      SendMessageRequestSchema,
      { message: { ...message, parts: [text("a"), create(PartSchema)] } },
      ["message.parts[1]"],
    ],
    ["nothing in an empty text", PartSchema, { content: { case: "text", value: "" } }, []],
    [
      "REQUIRED fields of optional messages that are set",
      SendMessageRequestSchema,
      { message, configuration: { taskPushNotificationConfig: {} } },
      ["configuration.taskPushNotificationConfig.url"],
    ],
    [
      "nothing in optional messages that are unset",
      SendMessageRequestSchema,
      { message, configuration: {} },
      [],
    ],
    [
      "fields in lists",
      TaskSchema,
      { id: "t", status: { state: 2 }, artifacts: [{ artifactId: "a", parts: [text("")] }, {}] },
      ["artifacts[1].artifactId", "artifacts[1].parts"],
    ],
    ["a status without a state", TaskStatusSchema, {}, ["state"]],
    [
      "a scheme of authentication",
      TaskPushNotificationConfigSchema,
      { url: "https://a", authentication: {} },
      ["authentication.scheme"],
    ],
    ["nothing in an empty page (A-42, A-43)", ListTasksResponseSchema, {}, []],
    [
      "interfaces, but no skills, of a card (H-7)",
      AgentCardSchema,
      { name: "a", description: "b", version: "1", capabilities: {} },
      ["supportedInterfaces"],
    ],
    [
      "fields in maps and oneofs",
      AgentCardSchema,
      {
        name: "a",
        description: "b",
        version: "1",
        capabilities: {},
        supportedInterfaces: [{ url: "u", protocolBinding: "GRPC", protocolVersion: "1.0" }],
        securitySchemes: { "my key": { scheme: { case: "apiKeySecurityScheme", value: { name: "n" } } } },
      },
      ['securitySchemes["my key"].apiKeySecurityScheme.location'],
    ],
  ] as const) {
    it(`finds ${title}`, () => expect(missing(desc, init)).toEqual(want));
  }

  it("describes what is wrong and prefixes the path", () => {
    expect(
      findMissingFields(MessageSchema, create(MessageSchema, { messageId: "m", role: Role.USER }), "message"),
    ).toEqual([{ field: "message.parts", description: "needs at least one element" }]);
    expect(findMissingFields(PartSchema, create(PartSchema), "message.parts[0]")).toEqual([
      { field: "message.parts[0]", description: "needs exactly one of text, raw, url, data" },
    ]);
    expect(findMissingFields(GetTaskRequestSchema, create(GetTaskRequestSchema))).toEqual([
      { field: "id", description: "is required" },
    ]);
  });

  it("takes another depth limit", () => {
    const nested = create(MessageSchema, { ...message, metadata: { a: [[]] } });
    expect(findMissingFields(MessageSchema, nested, "", 4)).toEqual([]);
    expect(findMissingFields(MessageSchema, nested, "", 3)).toEqual([
      { field: "metadata.a[0]", description: "is nested deeper than 3 levels" },
    ]);
  });

  it("bounds its answer", () => {
    expect(missing(MessageSchema, { parts: Array.from({ length: 1000 }, () => ({})) })).toHaveLength(10);
  });
});

describe("findMissingFields on what only binary wires let through", () => {
  /** Struct fields are JSON objects, Value fields messages: both must obey the same rules. */
  const places: readonly [string, (value: JsonValue) => Record<string, unknown>, string][] = [
    ["a Struct", (value) => ({ ...message, metadata: { a: value } }), "metadata.a"],
    ["a Value", (value) => ({ ...message, parts: [json({ a: value })] }), "parts[0].data.a"],
  ];

  for (const [place, put, path] of places) {
    it(`refuses ${place} that is nested too deep`, () => {
      const nest = (levels: number): JsonValue => JSON.parse("[".repeat(levels) + "]".repeat(levels));
      const level = path.split(/[.[]/).length; // objects and arrays around the value, the message included
      expect(missing(MessageSchema, put(nest(100 - level)))).toEqual([]);
      const [violation] = findMissingFields(MessageSchema, create(MessageSchema, put(nest(101 - level))));
      expect(violation?.description).toBe("is nested deeper than 100 levels");
      expect(violation?.field).toContain(`${path}[0][0]`);
    });

    it(`refuses __proto__ in ${place}`, () => {
      expect(missing(MessageSchema, put(JSON.parse('{"__proto__":1}')))).toEqual([`${path}.__proto__`]);
    });

    it(`refuses a lone surrogate in ${place}`, () => {
      expect(missing(MessageSchema, put("\ud800"))).toEqual([path]);
    });
  }

  const numberValue = (value: number): Value => create(ValueSchema, { kind: { case: "numberValue", value } });

  it("refuses numbers that are not finite (H-10)", () => {
    expect(missing(MessageSchema, { ...message, metadata: { a: Number.NaN } })).toEqual(["metadata.a"]);
    const part = { content: { case: "data", value: numberValue(Number.POSITIVE_INFINITY) } };
    expect(missing(PartSchema, part)).toEqual(["data"]);
  });

  it("refuses a Value that has none", () => {
    expect(missing(PartSchema, { content: { case: "data", value: create(ValueSchema) } })).toEqual(["data"]);
  });

  it("refuses a Value of 20,000 levels without overflowing the stack", () => {
    let value = numberValue(1);
    for (let level = 0; level < 20_000; level++) {
      value = create(ValueSchema, { kind: { case: "listValue", value: { values: [value] } } });
    }
    expect(
      findMissingFields(PartSchema, create(PartSchema, { content: { case: "data", value } })),
    ).toMatchObject([{ description: "is nested deeper than 100 levels" }]);
  });

  it("refuses unknown enum numbers (H-3)", () => {
    expect(missing(MessageSchema, { ...message, role: 7 })).toEqual(["role"]);
  });

  for (const [timestamp, want] of [
    [{ seconds: -62_135_596_800n, nanos: 0 }, []],
    [{ seconds: 253_402_300_799n, nanos: 999_999_999 }, []],
    [{ seconds: -62_135_596_801n, nanos: 0 }, ["timestamp"]],
    [{ seconds: 253_402_300_800n, nanos: 0 }, ["timestamp"]],
    [{ seconds: 0n, nanos: -1 }, ["timestamp"]],
    [{ seconds: 0n, nanos: 1_000_000_000 }, ["timestamp"]],
  ] as const) {
    it(`${want.length === 0 ? "takes" : "refuses"} a timestamp of ${timestamp.seconds} s and ${timestamp.nanos} ns`, () => {
      expect(missing(TaskStatusSchema, { state: 2, timestamp })).toEqual(want);
    });
  }

  it("leaves bytes alone", () => expect(missing(PartSchema, bytes(new Uint8Array([255])))).toEqual([]));
});

describe("isRequiredField", () => {
  it("reads google.api.field_behavior", () => {
    expect(isRequiredField(MessageSchema.field.messageId)).toBe(true);
    expect(isRequiredField(MessageSchema.field.taskId)).toBe(false);
  });
});
