import {
  AgentCardSchema,
  type Artifact,
  ArtifactSchema,
  AuthorizationCodeOAuthFlowSchema,
  GetTaskRequestSchema,
  ListTasksRequestSchema,
  ListTasksResponseSchema,
  type Message,
  MessageSchema,
  type Part,
  PartSchema,
  Role,
  SendMessageResponseSchema,
  StreamResponseSchema,
  type Task,
  TaskSchema,
  TaskState,
  TaskStatusSchema,
} from "@a2a-connect/proto";
import { create, type DescMessage, equals, type JsonObject } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCharacter } from "../../test-support/any-character.ts";
import { methods } from "../methods.ts";
import { bytes, fileUrl, json, text, userMessage } from "../parts.ts";
import { findMissingFields } from "../required-fields.ts";
import { formatMessage, formatResponse } from "./format-json.ts";
import { formatOnce } from "./message-text.ts";
import { parseMessage } from "./parse-json.ts";

describe("formatMessage", () => {
  for (const [title, desc, init, want] of [
    ["REQUIRED fields at their default (H-8)", TaskSchema, {}, { id: "" }],
    [
      "REQUIRED fields below lists",
      TaskSchema,
      { artifacts: [{}] },
      { id: "", artifacts: [{ artifactId: "", parts: [] }] },
    ],
    [
      "REQUIRED fields below messages",
      TaskSchema,
      { id: "t", status: { message: {} } },
      {
        id: "t",
        status: {
          state: "TASK_STATE_UNSPECIFIED",
          message: { messageId: "", role: "ROLE_UNSPECIFIED", parts: [] },
        },
      },
    ],
    [
      "REQUIRED fields in a oneof",
      SendMessageResponseSchema,
      { payload: { case: "message", value: {} } },
      { message: { messageId: "", role: "ROLE_UNSPECIFIED", parts: [] } },
    ],
    [
      "REQUIRED fields below maps",
      AgentCardSchema,
      { securitySchemes: { k: { scheme: { case: "apiKeySecurityScheme", value: {} } } } },
      {
        name: "",
        description: "",
        supportedInterfaces: [],
        version: "",
        securitySchemes: { k: { apiKeySecurityScheme: { location: "", name: "" } } },
        defaultInputModes: [],
        defaultOutputModes: [],
        skills: [],
      },
    ],
    [
      "an empty REQUIRED map",
      AuthorizationCodeOAuthFlowSchema,
      {},
      { authorizationUrl: "", tokenUrl: "", scopes: {} },
    ],
    [
      "an empty list of tasks (A-42, A-43)",
      ListTasksResponseSchema,
      { pageSize: 50 },
      { tasks: [], nextPageToken: "", pageSize: 50, totalSize: 0 },
    ],
    [
      "optional fields iff set (C-4)",
      GetTaskRequestSchema,
      { id: "t", historyLength: 0 },
      { id: "t", historyLength: 0 },
    ],
    ["no unset optional field", GetTaskRequestSchema, { id: "t" }, { id: "t" }],
    ["an empty text (H-9)", PartSchema, { content: { case: "text", value: "" } }, { text: "" }],
    [
      "user data as it is (H-13)",
      ArtifactSchema,
      { metadata: { a_b: null, c: [], d: "" } },
      { artifactId: "", parts: [], metadata: { a_b: null, c: [], d: "" } },
    ],
    [
      "milliseconds of a timestamp (H-4)",
      TaskStatusSchema,
      { state: TaskState.WORKING, timestamp: { seconds: 0n, nanos: 5_000_000 } },
      { state: "TASK_STATE_WORKING", timestamp: "1970-01-01T00:00:00.005Z" },
    ],
  ] as const) {
    it(`emits ${title}`, () => {
      const desc_: DescMessage = desc;
      expect(formatMessage(desc_, create(desc_, init))).toEqual(want);
    });
  }

  it("keeps data null and bytes (H-5, H-10)", () => {
    expect(formatMessage(PartSchema, json(null))).toEqual({ data: null });
    expect(formatMessage(PartSchema, bytes(new Uint8Array([0xfb, 0xff])))).toEqual({ raw: "+/8=" });
  });

  it("shares no empty list between messages", () => {
    const first = formatMessage(ListTasksResponseSchema, create(ListTasksResponseSchema)) as {
      tasks: unknown[];
    };
    first.tasks.push(1);
    expect(formatMessage(ListTasksResponseSchema, create(ListTasksResponseSchema))).toMatchObject({
      tasks: [],
    });
  });
});

describe("formatResponse", () => {
  const response = create(ListTasksResponseSchema, {
    tasks: [{ id: "a" }, { id: "b", artifacts: [{ artifactId: "x" }] }],
  });
  const list = (includeArtifacts?: boolean) =>
    formatResponse(
      methods.listTasks,
      create(ListTasksRequestSchema, includeArtifacts === undefined ? {} : { includeArtifacts }),
      response,
    ) as { tasks: JsonObject[] };

  it("adds empty artifacts when they were asked for (A-46)", () => {
    expect(list(true).tasks.map(({ artifacts }) => artifacts)).toEqual([
      [],
      [{ artifactId: "x", parts: [] }],
    ]);
  });

  it("adds none otherwise (A-46)", () => {
    for (const { tasks } of [list(false), list()]) {
      expect(tasks.map((task) => "artifacts" in task)).toEqual([false, true]);
    }
  });

  it("formats any other response like formatMessage", () => {
    const task = create(TaskSchema, { id: "t" });
    expect(formatResponse(methods.getTask, create(GetTaskRequestSchema), task)).toEqual({ id: "t" });
  });
});

describe("formatOnce", () => {
  it("formats a message once for all its readers", () => {
    const event = create(StreamResponseSchema, { payload: { case: "task", value: { id: "t" } } });
    const first = formatOnce(StreamResponseSchema, event);
    expect(JSON.parse(String(first))).toEqual({ task: { id: "t" } });
    if (event.payload.case === "task") {
      event.payload.value.id = "changed";
    }
    expect(formatOnce(StreamResponseSchema, event)).toBe(first);
    expect(formatOnce(StreamResponseSchema, create(StreamResponseSchema, event))).toBe(first);
  });

  it("tells messages of equal content apart", () => {
    const one = create(GetTaskRequestSchema, { id: "1" });
    const two = create(GetTaskRequestSchema, { id: "2" });
    expect([formatOnce(GetTaskRequestSchema, one), formatOnce(GetTaskRequestSchema, two)]).toEqual([
      '{"id":"1"}',
      '{"id":"2"}',
    ]);
  });
});

describe("JSON of arbitrary tasks", () => {
  const seed = 20_260_131;

  it("is read back as the same task", () => {
    fc.assert(
      fc.property(tasks, (task) => {
        const back = parseMessage(TaskSchema, JSON.parse(JSON.stringify(formatMessage(TaskSchema, task))));
        expect(equals(TaskSchema, back, task)).toBe(true);
        expect(findMissingFields(TaskSchema, back)).toEqual([]);
      }),
      { seed, numRuns: 200 },
    );
  });

  it("is read alike in both spellings and with unknown fields (H-2, H-6)", () => {
    // `__proto__` is refused as a key wherever it is, in unknown fields too.
    const anything = fc
      .jsonValue({ maxDepth: 3 })
      .filter((value) => !JSON.stringify(value).includes("__proto__"));
    fc.assert(
      fc.property(tasks, anything, (task, unknown) => {
        const other = respell(formatMessage(TaskSchema, task) as JsonObject, TaskSchema, unknown);
        expect(equals(TaskSchema, parseMessage(TaskSchema, other), task)).toBe(true);
      }),
      { seed, numRuns: 200 },
    );
  });
});

/** The same message with the proto's own field names, and with an unknown field in every object. */
function respell(value: JsonObject, desc: DescMessage, unknown: unknown): Record<string, unknown> {
  const respelled: Record<string, unknown> = { notAField: unknown };
  for (const field of desc.fields) {
    const member = value[field.jsonName];
    if (member !== undefined) {
      respelled[field.name] = ownMessage(field.message)
        ? respellMember(member, field.message, unknown)
        : member;
    }
  }
  return respelled;
}

function respellMember(member: unknown, desc: DescMessage, unknown: unknown): unknown {
  return Array.isArray(member)
    ? member.map((element) => respell(element, desc, unknown))
    : respell(member as JsonObject, desc, unknown);
}

function ownMessage(desc: DescMessage | undefined): desc is DescMessage {
  return desc !== undefined && !desc.typeName.startsWith("google.protobuf.");
}

const words = fc.string({ unit: anyCharacter, maxLength: 8 });
const ids = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 8 });
const userJson = fc
  .jsonValue({ maxDepth: 3, stringUnit: anyCharacter })
  .filter((value) => !JSON.stringify(value).includes("__proto__"));
const metadata = fc.option(
  fc.dictionary(
    words.filter((key) => key !== "__proto__"),
    userJson,
    { maxKeys: 3 },
  ),
  { nil: undefined },
) as fc.Arbitrary<JsonObject | undefined>; // what JSON.parse made is JSON

const details = fc.record({ mediaType: words, filename: words });
const parts: fc.Arbitrary<Part> = fc.oneof(
  fc.tuple(words, details).map(([value, rest]) => text(value, rest)),
  fc.tuple(fc.uint8Array({ maxLength: 8 }), details).map(([value, rest]) => bytes(value, rest)),
  fc.tuple(words, details).map(([value, rest]) => fileUrl(value, rest)),
  fc.tuple(userJson, details).map(([value, rest]) => json(value as JsonObject, rest)),
);
const partLists = fc.array(parts, { minLength: 1, maxLength: 3 });

const messages: fc.Arbitrary<Message> = fc
  .record({
    id: ids,
    parts: partLists,
    role: fc.constantFrom(Role.USER, Role.AGENT),
    metadata,
    extensions: fc.array(words),
  })
  .map(({ id, parts: content, role, metadata: data, extensions }) =>
    create(MessageSchema, {
      ...userMessage(content, { messageId: id, extensions }),
      role,
      ...(data && { metadata: data }),
    }),
  );

const artifacts: fc.Arbitrary<Artifact> = fc
  .record({ artifactId: ids, name: words, parts: partLists })
  .map((init) => create(ArtifactSchema, init));

const timestamps = fc
  .record({
    seconds: fc.bigInt({ min: -62_135_596_800n, max: 253_402_300_799n }),
    nanos: fc.nat(999_999_999),
  })
  .map((init) => create(TimestampSchema, init));

const tasks: fc.Arbitrary<Task> = fc
  .record({
    id: ids,
    contextId: words,
    state: fc.constantFrom(...Object.values(TaskState).filter((state) => state !== TaskState.UNSPECIFIED)),
    timestamp: fc.option(timestamps, { nil: undefined }),
    message: fc.option(messages, { nil: undefined }),
    artifacts: fc.array(artifacts, { maxLength: 3 }),
    history: fc.array(messages, { maxLength: 3 }),
    metadata,
    generation: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  })
  .map(({ state, timestamp, message, metadata: data, ...rest }) =>
    create(TaskSchema, {
      ...rest,
      status: { state, ...(timestamp && { timestamp }), ...(message && { message }) },
      ...(data && { metadata: data }),
    }),
  );
