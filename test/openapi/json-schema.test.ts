import { agentMessage } from "@a2a-connect/core";
import {
  collectSchemas,
  draftFields,
  findMissingFields,
  formatMessage,
  jsonSchemaOf,
} from "@a2a-connect/core/internal";
import {
  A2AService,
  AgentCardSchema,
  ListTasksResponseSchema,
  PartSchema,
  SendMessageRequestSchema,
  SendMessageResponseSchema,
  StreamResponseSchema,
  TaskPushNotificationConfigSchema,
  TaskSchema,
  TaskState,
} from "@a2a-connect/proto";
import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readWireDelta, readWireFacts } from "../proto/wire-facts.ts";
import { arbitraryMessage } from "./arbitrary-message.ts";
import { schemaChecks } from "./schema-check.ts";

const check = (desc: DescMessage, value: unknown) => schemaChecks(jsonSchemaOf(desc))("")(value);

describe("the JSON Schema of a message", () => {
  for (const desc of [
    PartSchema,
    TaskSchema,
    AgentCardSchema,
    SendMessageRequestSchema,
    SendMessageResponseSchema,
    ListTasksResponseSchema,
    StreamResponseSchema,
    TaskPushNotificationConfigSchema,
  ]) {
    it(`accepts the JSON of exactly those messages that lack nothing: ${desc.name}`, () => {
      const validate = schemaChecks(jsonSchemaOf(desc, { draft: true }))("");
      const counts = { valid: 0, invalid: 0 };
      fc.assert(
        fc.property(arbitraryMessage(desc), (init) => {
          const message = create(desc, init as MessageInitShape<typeof desc>); // made for this type
          const lacks = findMissingFields(desc, message).length > 0;
          counts[lacks ? "invalid" : "valid"] += 1;
          const problems = validate(formatMessage(desc, message));
          expect(problems.length > 0, problems.join("\n")).toBe(lacks);
        }),
        { numRuns: 200, endOnFailure: true },
      );
      expect(counts.valid, "no message was valid").toBeGreaterThan(0);
      expect(counts.invalid, "no message was invalid").toBeGreaterThan(0);
    });
  }

  const status = { state: "TASK_STATE_WORKING", timestamp: "2026-01-31T12:00:00.000Z" };
  const task = { id: "t", contextId: "c", status };
  const withPart = (part: unknown) => ({ ...task, artifacts: [{ artifactId: "a", parts: [part] }] });

  for (const [title, value] of [
    ["the least", task],
    ["an unknown member (H-6)", { ...task, later: true }],
    ["an empty text (H-9)", withPart({ text: "" })],
    ["null as data (H-10)", withPart({ data: null })],
    ["a list as data (H-10)", withPart({ data: [1, { a: null }] })],
    ["metadata as the user wrote it (H-13)", { ...task, metadata: { a_b: null, list: [] } }],
  ] as const) {
    it(`accepts a task with ${title}`, () => expect(check(TaskSchema, value)).toStrictEqual([]));
  }

  for (const [title, value] of [
    ["no id", { status }],
    ["an empty id (J-7)", { ...task, id: "" }],
    ["an id that is a number", { ...task, id: 7 }],
    ["no status", { id: "t" }],
    ["a state that is a number (H-3)", { ...task, status: { state: 2 } }],
    ["an unknown state (H-3)", { ...task, status: { state: "TASK_STATE_RUNNING" } }],
    ["no state", { ...task, status: { state: "TASK_STATE_UNSPECIFIED" } }],
    ["a timestamp that is none (H-4)", { ...task, status: { ...status, timestamp: "yesterday" } }],
    ["an artifact without parts (H-7)", { ...task, artifacts: [{ artifactId: "a", parts: [] }] }],
    ["a part without content (H-9)", withPart({ mediaType: "text/plain" })],
    ["a part with two contents (H-9)", withPart({ text: "a", url: "https://example.com" })],
    ["bytes that are no base64 (H-5)", withPart({ raw: "*" })],
    ["metadata that is a list", { ...task, metadata: [] }],
  ] as const) {
    it(`refuses a task with ${title}`, () => expect(check(TaskSchema, value)).not.toStrictEqual([]));
  }

  it("accepts the JSON of a real stream event", () => {
    const update = create(StreamResponseSchema, {
      payload: {
        case: "statusUpdate",
        value: {
          taskId: "t",
          contextId: "c",
          status: {
            state: TaskState.INPUT_REQUIRED,
            message: agentMessage("Which one?", { messageId: "m" }),
          },
        },
      },
    });
    expect(check(StreamResponseSchema, formatMessage(StreamResponseSchema, update))).toStrictEqual([]);
  });

  it("refuses an answer with no or two payloads (A-1)", () => {
    expect(check(SendMessageResponseSchema, {})).not.toStrictEqual([]);
    const message = { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "" }] };
    expect(check(SendMessageResponseSchema, { message })).toStrictEqual([]);
    expect(check(SendMessageResponseSchema, { message, task })).not.toStrictEqual([]);
  });
});

describe("the bundle of JSON Schemas", () => {
  const messages = A2AService.methods.flatMap(({ input, output }) => [input, output]);
  const $defs = collectSchemas(messages) as Record<string, { properties?: object }>;

  it("describes every message and enum of the protocol, and they compile", () => {
    const { messages: described, enums } = readWireFacts();
    expect(Object.keys($defs).sort()).toStrictEqual(
      [...Object.keys(described), ...Object.keys(enums)].sort(),
    );
    const compile = schemaChecks({ $defs: collectSchemas(messages) });
    for (const name of Object.keys($defs)) {
      expect(compile(`/$defs/${name}`)).toBeTypeOf("function");
    }
  });

  it("names every field of the protocol, and those of the 1.1 draft only when asked", () => {
    const { messages: described } = readWireFacts();
    const { addedFields } = readWireDelta();
    const drafted = collectSchemas(messages, { draft: true }) as typeof $defs;
    for (const [name, { fields }] of Object.entries(described)) {
      const names = fields.map(({ jsonName }) => jsonName).sort();
      const added = addedFields[name]?.map(({ jsonName }) => jsonName) ?? [];
      expect(Object.keys($defs[name]?.properties ?? {}).sort(), name).toStrictEqual(names);
      expect(Object.keys(drafted[name]?.properties ?? {}).sort(), name).toStrictEqual(
        [...names, ...added].sort(),
      );
    }
  });

  it("knows the draft's fields", () => {
    const drafts = Object.entries(readWireDelta().addedFields).flatMap(([message, fields]) =>
      fields.map(({ name }) => `${message}.${name}`),
    );
    expect(drafts).not.toHaveLength(0);
    expect([...draftFields].map(({ parent, name }) => `${parent.name}.${name}`).sort()).toStrictEqual(
      drafts.sort(),
    );
  });
});
