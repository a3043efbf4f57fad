import { formatMessage, parseMessage, startWalk } from "@a2a-connect/core/internal";
import {
  SendMessageRequestSchema,
  SendMessageResponseSchema,
  StreamResponseSchema,
  TaskPushNotificationConfigSchema,
  TaskSchema,
} from "@a2a-connect/proto";
import type { DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { olderPath } from "./calls.ts";
import { createForms, type Dialect, type Forms, states } from "./forms.ts";

const optional = { requiredKeys: [] };
const word = fc.stringMatching(/^[a-z0-9 ü-]{1,12}$/);
const object = fc.dictionary(
  word,
  fc.oneof(
    word,
    fc.boolean(),
    fc.integer(),
    fc.constant(null),
    fc.array(word, { maxLength: 2 }),
    fc.dictionary(word, word, { maxKeys: 2 }),
  ),
  { minKeys: 1, maxKeys: 3 },
);
const details = fc.record({ metadata: object }, optional);
const fileDetails = fc.record({ metadata: object, filename: word, mediaType: word }, optional);
const part = fc.oneof(
  fc.tuple(fc.record({ text: fc.string({ unit: "grapheme" }) }), details),
  fc.tuple(fc.record({ data: object }), details),
  fc.tuple(fc.record({ data: fc.oneof(word, fc.integer(), fc.boolean(), fc.array(word)) }), details),
  fc.tuple(fc.record({ raw: fc.base64String() }), fileDetails),
  fc.tuple(fc.record({ url: fc.webUrl() }), fileDetails),
);
const parts = fc.array(
  part.map(([content, more]) => ({ ...content, ...more })),
  { minLength: 1, maxLength: 3 },
);
const message = fc.record(
  {
    messageId: word,
    contextId: word,
    taskId: word,
    role: fc.constantFrom("ROLE_USER", "ROLE_AGENT"),
    parts,
    metadata: object,
    extensions: fc.array(word, { minLength: 1, maxLength: 2 }),
    referenceTaskIds: fc.array(word, { minLength: 1, maxLength: 2 }),
  },
  { requiredKeys: ["messageId", "role", "parts"] },
);
const status = fc.record(
  {
    state: fc.constantFrom(...states.slice(1).map(([state]) => state)),
    message,
    timestamp: fc.constant("2026-01-02T03:04:05.678Z"),
  },
  { requiredKeys: ["state"] },
);
const artifact = fc.record(
  { artifactId: word, name: word, description: word, parts, metadata: object, extensions: fc.tuple(word) },
  { requiredKeys: ["artifactId", "parts"] },
);
const task = fc.record(
  {
    id: word,
    contextId: word,
    status,
    artifacts: fc.array(artifact, { minLength: 1, maxLength: 2 }),
    history: fc.array(message, { minLength: 1, maxLength: 2 }),
    metadata: object,
  },
  { requiredKeys: ["id", "status"] },
);
const ids = { taskId: word, contextId: word };
const statusUpdate = fc.record(
  { ...ids, status, metadata: object },
  { requiredKeys: ["taskId", "contextId", "status"] },
);
const artifactUpdate = fc.record(
  { ...ids, artifact, append: fc.constant(true), lastChunk: fc.constant(true), metadata: object },
  { requiredKeys: ["taskId", "contextId", "artifact"] },
);
const settings = {
  id: word,
  url: fc.webUrl(),
  token: word,
  authentication: fc.record({ scheme: word, credentials: word }),
};
const request = fc.record(
  {
    message,
    configuration: fc.record(
      {
        acceptedOutputModes: fc.array(word, { minLength: 1, maxLength: 2 }),
        historyLength: fc.nat(),
        returnImmediately: fc.constant(true),
        taskPushNotificationConfig: fc.record(settings, { requiredKeys: ["url"] }),
      },
      optional,
    ),
    metadata: object,
  },
  { requiredKeys: ["message"] },
);
const payload = <Name extends string>(name: Name, value: fc.Arbitrary<object>) =>
  value.map((each) => ({ [name]: each }));

/** What there is in both versions, as JSON of 1.0. */
const shared: readonly [form: keyof Forms, desc: DescMessage, values: fc.Arbitrary<object>][] = [
  ["sendMessageRequest", SendMessageRequestSchema, request],
  ["task", TaskSchema, task],
  [
    "pushConfig",
    TaskPushNotificationConfigSchema,
    fc.record({ ...settings, taskId: word }, { requiredKeys: ["id", "url", "taskId"] }),
  ],
  ["payload", SendMessageResponseSchema, fc.oneof(payload("task", task), payload("message", message))],
  [
    "payload",
    StreamResponseSchema,
    fc.oneof(payload("statusUpdate", statusUpdate), payload("artifactUpdate", artifactUpdate)),
  ],
];

/** What a message of 1.0 is after it was written in an older version and read again. */
function through(dialect: Dialect, name: keyof Forms, desc: DescMessage, json: object): JsonValue {
  const form = createForms(dialect)[name];
  const walk = startWalk();
  const older: unknown = JSON.parse(JSON.stringify(form.toOlder(json as JsonObject)));
  const current = form.toCurrent(older, walk);
  expect(walk.violations).toEqual([]);
  return formatMessage(desc, parseMessage(desc, current));
}

describe("the form of JSON-RPC", () => {
  for (const [name, desc, values] of shared) {
    it(`of ${desc.name} loses nothing on the way there and back`, () => {
      fc.assert(
        fc.property(values, (json) => {
          const before = formatMessage(desc, parseMessage(desc, json));
          expect(through("json", name, desc, json)).toEqual(before);
        }),
      );
    });
  }
});

describe("the path of a field", () => {
  const { sendMessageRequest, pushConfig } = createForms("json");
  for (const [form, current, older] of [
    [sendMessageRequest, "message.parts[12].raw", "message.parts[12].file.bytes"],
    [sendMessageRequest, "message.parts[0].url", "message.parts[0].file.uri"],
    [sendMessageRequest, "message.parts", "message.parts"],
    [sendMessageRequest, 'message.metadata["a.b"].c', 'message.metadata["a.b"].c'],
    [
      sendMessageRequest,
      "configuration.taskPushNotificationConfig.url",
      "configuration.pushNotificationConfig.url",
    ],
    [pushConfig, "url", "pushNotificationConfig.url"],
    [pushConfig, "taskId", "taskId"],
    [pushConfig, "", ""],
  ] as const) {
    it(`${current} is ${older}`, () => expect(olderPath(current, form)).toBe(older));
  }
});
