import { describe, expect, it } from "vitest";
import { type Expected, serveTarget } from "./target.ts";
import { type Call, encodeCall, type MethodName, wires } from "./wires.ts";

const target = serveTarget();

/** A request message that decodes, or does not even that, and what is wrong with it. */
interface Row {
  readonly title: string;
  readonly method?: MethodName;
  /** The request message. */
  readonly json: unknown;
  /** Why protobuf cannot carry such a thing; without one the row runs over the binary wires too. */
  readonly jsonOnly?:
    | "wrong type"
    | "unknown name"
    | "no such number"
    | "base64"
    | "two spellings"
    | "last one wins";
  readonly expected: Expected;
}

const part = { text: "task bad input" };
const message = { messageId: "m-1", role: "ROLE_USER", parts: [part] };

function without(name: keyof typeof message): Record<string, unknown> {
  const { [name]: _, ...others } = message;
  return others;
}

function invalid(field: string | RegExp): Expected {
  return { error: "invalidParams", field };
}

/** A message with members in place of its own. */
function sends(
  title: string,
  members: Record<string, unknown>,
  field: string,
  jsonOnly?: Row["jsonOnly"],
): Row {
  const row = { title, json: { message: { ...message, ...members } }, expected: invalid(field) };
  return jsonOnly === undefined ? row : { ...row, jsonOnly };
}

/** A message whose only part is this. */
function sendsPart(title: string, content: unknown, field: string, jsonOnly?: Row["jsonOnly"]): Row {
  return sends(title, { parts: [content] }, field, jsonOnly);
}

/** `__proto__` as a member of its own: a literal would set the prototype. */
const protoKey: unknown = JSON.parse('{"__proto__":{"polluted":true}}');

/** Requirements A-13, E-3, H-3, H-5, H-7, H-9, H-14, J-8, and the rows about messages. */
const rows: readonly Row[] = [
  { title: "no message", json: {}, expected: invalid("message") },
  { title: "null for a message", json: { message: null }, expected: invalid("message") },
  {
    title: "text for a message",
    json: { message: "hi" },
    jsonOnly: "wrong type",
    expected: invalid("message"),
  },
  {
    title: "a list for a message",
    json: { message: [] },
    jsonOnly: "wrong type",
    expected: invalid("message"),
  },
  { title: "no messageId", json: { message: without("messageId") }, expected: invalid("message.messageId") },
  sends("an empty messageId", { messageId: "" }, "message.messageId"),
  sends("a number for a messageId", { messageId: 7 }, "message.messageId", "wrong type"),
  sends("an object for a messageId", { messageId: { id: "m" } }, "message.messageId", "wrong type"),
  sends("a messageId in both spellings", { message_id: "m-2" }, "message.messageId", "two spellings"),
  { title: "no role", json: { message: without("role") }, expected: invalid("message.role") },
  sends("ROLE_UNSPECIFIED", { role: "ROLE_UNSPECIFIED" }, "message.role"),
  sends("the number 0 for a role", { role: 0 }, "message.role"),
  sends("true for a role", { role: true }, "message.role", "wrong type"),
  sends("an unknown role by name", { role: "ROLE_ROBOT" }, "message.role", "unknown name"),
  sends("a role of version 0.3", { role: "user" }, "message.role", "unknown name"),
  sends("an unknown role by number", { role: 99 }, "message.role"),
  sends("a negative number for a role", { role: -1 }, "message.role"),
  sends("a fraction for a role", { role: 1.5 }, "message.role", "wrong type"),
  { title: "no parts", json: { message: without("parts") }, expected: invalid("message.parts") },
  sends("an empty list of parts", { parts: [] }, "message.parts"),
  sends("null for parts", { parts: null }, "message.parts"),
  sends("text for parts", { parts: "hi" }, "message.parts", "wrong type"),
  sends("an object for parts", { parts: part }, "message.parts", "wrong type"),
  sends("1,001 parts", { parts: Array.from({ length: 1_001 }, () => part) }, "message.parts"),
  sendsPart("a part with no member", {}, "message.parts[0]"),
  sendsPart("a part with nothing but a name", { filename: "a.txt" }, "message.parts[0]"),
  sends("a second part with no member", { parts: [part, {}] }, "message.parts[1]"),
  sendsPart(
    "a part with two members",
    { text: "a", url: "https://example.com" },
    "message.parts[0]",
    "last one wins",
  ),
  sendsPart("a part with text and data", { text: "a", data: null }, "message.parts[0]", "last one wins"),
  sendsPart("null for a part", null, "message.parts[0]", "wrong type"),
  sendsPart("a number for a part", 5, "message.parts[0]", "wrong type"),
  sendsPart("a number for text", { text: 5 }, "message.parts[0].text", "wrong type"),
  sendsPart("a list for a url", { url: ["x"] }, "message.parts[0].url", "wrong type"),
  sendsPart("raw that is not base64", { raw: "***" }, "message.parts[0].raw", "base64"),
  sendsPart("raw with an impossible length", { raw: "AAAAA" }, "message.parts[0].raw", "base64"),
  sendsPart("raw with padding inside", { raw: "QQ==QQ==" }, "message.parts[0].raw", "base64"),
  sendsPart("raw as a list of bytes", { raw: [1, 2] }, "message.parts[0].raw", "wrong type"),
  sendsPart("half a surrogate pair", { text: "\ud800" }, "message.parts[0].text", "wrong type"),
  sends("text for metadata", { metadata: "x" }, "message.metadata", "wrong type"),
  sends("a list for metadata", { metadata: [] }, "message.metadata", "wrong type"),
  sends("__proto__ in metadata", { metadata: protoKey }, "message.metadata.__proto__"),
  sends(
    "__proto__ deep in metadata",
    { metadata: { a: [{ b: protoKey }] } },
    "message.metadata.a[0].b.__proto__",
  ),
  sendsPart("__proto__ in data", { data: protoKey }, "message.parts[0].data.__proto__"),
  sends("__proto__ as a member of a message", { ["__proto__"]: {} }, "message.__proto__", "unknown name"),
  {
    title: "__proto__ as a member of a request",
    json: JSON.parse(`{"__proto__":{},"message":${JSON.stringify(message)}}`),
    jsonOnly: "unknown name",
    expected: invalid("__proto__"),
  },
  sends("text for extensions", { extensions: "urn:x" }, "message.extensions", "wrong type"),
  sends(
    "an object among referenceTaskIds",
    { referenceTaskIds: [{}] },
    "message.referenceTaskIds[0]",
    "wrong type",
  ),
  {
    title: "text for returnImmediately",
    json: { message, configuration: { returnImmediately: "yes" } },
    jsonOnly: "wrong type",
    expected: invalid("configuration.returnImmediately"),
  },
  {
    title: "a negative historyLength",
    json: { message, configuration: { historyLength: -1 } },
    expected: invalid("configuration.historyLength"),
  },
  {
    title: "a historyLength beyond 32 bits",
    json: { message, configuration: { historyLength: 2 ** 31 } },
    jsonOnly: "no such number",
    expected: invalid("configuration.historyLength"),
  },
  {
    title: "a push config for an agent without push",
    json: { message, configuration: { taskPushNotificationConfig: { url: "https://example.com/hook" } } },
    expected: { error: "pushNotSupported" },
  },
  {
    title: "a task that does not exist",
    json: { message: { ...message, taskId: "nope" } },
    expected: { error: "taskNotFound" },
  },
  {
    title: "a stream for no message",
    method: "SendStreamingMessage",
    json: {},
    expected: invalid("message"),
  },
  {
    title: "a stream for a part with no member",
    method: "SendStreamingMessage",
    json: { message: { ...message, parts: [{}] } },
    expected: invalid("message.parts[0]"),
  },
  {
    title: "a stream of a task that does not exist",
    method: "SendStreamingMessage",
    json: { message: { ...message, taskId: "nope" } },
    expected: { error: "taskNotFound" },
  },
];

for (const wire of wires) {
  describe(`a bad message over ${wire.name}`, () => {
    for (const { title, method = "SendMessage", json, jsonOnly, expected } of rows) {
      if (wire.codec === "proto" && jsonOnly !== undefined) continue;
      it(`is refused: ${title}`, async () => {
        const call: Call = { method, json: JSON.stringify(json) };
        await target.refuses(wire, encodeCall(wire, call), expected);
        expect("polluted" in {}).toBe(false);
      });
    }
  });

  describe(`an unusual message over ${wire.name}`, () => {
    for (const [title, members] of [
      ["exactly 1,000 parts", { parts: Array.from({ length: 1_000 }, () => part) }],
      ["the words constructor and prototype in metadata", { metadata: { constructor: { prototype: 1 } } }],
      ["a role by number", { role: 1 }],
    ] as const) {
      it(`is taken: ${title}`, async () => {
        const json = JSON.stringify({ message: { ...message, ...members } });
        const answer = await target.send(encodeCall(wire, { method: "SendMessage", json }));
        expect(new TextDecoder().decode(answer.body)).toContain("bad input");
        await target.answersGoodCall(wire);
      });
    }
  });
}
