import { describe, expect, it } from "vitest";
import { type Expected, serveTarget } from "./target.ts";
import { type Call, encodeCall, type MethodName, wires } from "./wires.ts";

const target = serveTarget();

/** A request message that decodes, or does not even that; the field of it that is wrong, or what else is. */
type Row = readonly [title: string, json: unknown, expected: string | Expected, method?: MethodName];

const part = { text: "task bad input" };
const message = { messageId: "m-1", role: "ROLE_USER", parts: [part] };

function without(name: keyof typeof message): Record<string, unknown> {
  const { [name]: _, ...others } = message;
  return others;
}

/** A message with members in place of its own. */
function sends(title: string, members: Record<string, unknown>, field: string): Row {
  return [title, { message: { ...message, ...members } }, field];
}

/** A message whose only part is this. */
function sendsPart(title: string, content: unknown, field: string): Row {
  return sends(title, { parts: [content] }, field);
}

/** `__proto__` as a member of its own: a literal would set the prototype. */
const protoKey: unknown = JSON.parse('{"__proto__":{"polluted":true}}');

/** Requirements A-13, E-3, H-3, H-5, H-7, H-9, H-14, J-8, and the rows about messages. */
const rows: readonly Row[] = [
  ["no message", {}, "message"],
  ["null for a message", { message: null }, "message"],
  ["no messageId", { message: without("messageId") }, "message.messageId"],
  sends("an empty messageId", { messageId: "" }, "message.messageId"),
  ["no role", { message: without("role") }, "message.role"],
  sends("ROLE_UNSPECIFIED", { role: "ROLE_UNSPECIFIED" }, "message.role"),
  sends("the number 0 for a role", { role: 0 }, "message.role"),
  sends("an unknown role by number", { role: 99 }, "message.role"),
  sends("a negative number for a role", { role: -1 }, "message.role"),
  ["no parts", { message: without("parts") }, "message.parts"],
  sends("an empty list of parts", { parts: [] }, "message.parts"),
  sends("null for parts", { parts: null }, "message.parts"),
  sends("1,001 parts", { parts: Array.from({ length: 1_001 }, () => part) }, "message.parts"),
  sendsPart("a part with no member", {}, "message.parts[0]"),
  sendsPart("a part with nothing but a name", { filename: "a.txt" }, "message.parts[0]"),
  sends("a second part with no member", { parts: [part, {}] }, "message.parts[1]"),
  sends("__proto__ in metadata", { metadata: protoKey }, "message.metadata.__proto__"),
  sends(
    "__proto__ deep in metadata",
    { metadata: { a: [{ b: protoKey }] } },
    "message.metadata.a[0].b.__proto__",
  ),
  sendsPart("__proto__ in data", { data: protoKey }, "message.parts[0].data.__proto__"),
  [
    "a negative historyLength",
    { message, configuration: { historyLength: -1 } },
    "configuration.historyLength",
  ],
  [
    "a push config for an agent without push",
    { message, configuration: { taskPushNotificationConfig: { url: "https://example.com/hook" } } },
    { error: "pushNotSupported" },
  ],
  ["a task that does not exist", { message: { ...message, taskId: "nope" } }, { error: "taskNotFound" }],
  ["a stream for no message", {}, "message", "SendStreamingMessage"],
  [
    "a stream for a part with no member",
    { message: { ...message, parts: [{}] } },
    "message.parts[0]",
    "SendStreamingMessage",
  ],
  [
    "a stream of a task that does not exist",
    { message: { ...message, taskId: "nope" } },
    { error: "taskNotFound" },
    "SendStreamingMessage",
  ],
];

/** What protobuf has no way to say. */
const jsonRows: readonly Row[] = [
  // Of a wrong type.
  sends("an object among referenceTaskIds", { referenceTaskIds: [{}] }, "message.referenceTaskIds[0]"),
  ["text for a message", { message: "hi" }, "message"],
  ["a list for a message", { message: [] }, "message"],
  sends("a number for a messageId", { messageId: 7 }, "message.messageId"),
  sends("an object for a messageId", { messageId: { id: "m" } }, "message.messageId"),
  sends("true for a role", { role: true }, "message.role"),
  sends("a fraction for a role", { role: 1.5 }, "message.role"),
  sends("text for parts", { parts: "hi" }, "message.parts"),
  sends("an object for parts", { parts: part }, "message.parts"),
  sendsPart("null for a part", null, "message.parts[0]"),
  sendsPart("a number for a part", 5, "message.parts[0]"),
  sendsPart("a number for text", { text: 5 }, "message.parts[0].text"),
  sendsPart("a list for a url", { url: ["x"] }, "message.parts[0].url"),
  sendsPart("raw as a list of bytes", { raw: [1, 2] }, "message.parts[0].raw"),
  sendsPart("half a surrogate pair", { text: "\ud800" }, "message.parts[0].text"),
  sends("text for metadata", { metadata: "x" }, "message.metadata"),
  sends("a list for metadata", { metadata: [] }, "message.metadata"),
  sends("text for extensions", { extensions: "urn:x" }, "message.extensions"),
  [
    "text for returnImmediately",
    { message, configuration: { returnImmediately: "yes" } },
    "configuration.returnImmediately",
  ],
  // Two spellings.
  sends("a messageId in both spellings", { message_id: "m-2" }, "message.messageId"),
  // Names that there are not.
  sends("an unknown role by name", { role: "ROLE_ROBOT" }, "message.role"),
  sends("a role of version 0.3", { role: "user" }, "message.role"),
  sends("__proto__ as a member of a message", { ["__proto__"]: {} }, "message.__proto__"),
  [
    "__proto__ as a member of a request",
    JSON.parse(`{"__proto__":{},"message":${JSON.stringify(message)}}`),
    "__proto__",
  ],
  // Where protobuf keeps the last one.
  sendsPart("a part with two members", { text: "a", url: "https://example.com" }, "message.parts[0]"),
  sendsPart("a part with text and data", { text: "a", data: null }, "message.parts[0]"),
  // What is no base64.
  sendsPart("raw that is not base64", { raw: "***" }, "message.parts[0].raw"),
  sendsPart("raw with an impossible length", { raw: "AAAAA" }, "message.parts[0].raw"),
  sendsPart("raw with padding inside", { raw: "QQ==QQ==" }, "message.parts[0].raw"),
  // A number that there is not.
  [
    "a historyLength beyond 32 bits",
    { message, configuration: { historyLength: 2 ** 31 } },
    "configuration.historyLength",
  ],
];

for (const wire of wires) {
  describe(`a bad message over ${wire.name}`, () => {
    for (const [title, json, expected, method = "SendMessage"] of [
      ...rows,
      ...(wire.codec === "json" ? jsonRows : []),
    ]) {
      it(`is refused: ${title}`, async () => {
        const call: Call = { method, json: JSON.stringify(json) };
        const field =
          typeof expected === "string" ? ({ error: "invalidParams", field: expected } as const) : expected;
        await target.refuses(wire, encodeCall(wire, call), field);
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
