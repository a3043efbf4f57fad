import { type Principal, principalKey } from "@a2a-connect/core";
import { protocolVersionKey } from "@a2a-connect/core/internal";
import { A2AService, SendMessageRequestSchema } from "@a2a-connect/proto";
import { say } from "@a2a-connect/testing";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { createContextValues, createHandlerContext, type HandlerContext } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import type { AgentDefinition } from "../agent/agent-definition.ts";
import { readRequestKey } from "./idempotency-key.ts";

const agent: AgentDefinition = { card: { name: "Agent" }, execute: () => [] };
const alice: Principal = { id: "alice", anonymous: false };
const nobody: Principal = { id: "anonymous", anonymous: true };

/** A call as the operations see it; each value is a header line of its own. */
function call(keys: readonly string[], principal: Principal = alice, version = "1.0"): HandlerContext {
  const requestHeader = new Headers();
  for (const key of keys) requestHeader.append("idempotency-key", key);
  return createHandlerContext({
    service: A2AService,
    method: A2AService.method.sendMessage,
    protocolName: "test",
    requestMethod: "POST",
    url: "test:",
    requestHeader,
    contextValues: createContextValues().set(principalKey, principal).set(protocolVersionKey, version),
  });
}

type RequestInit = MessageInitShape<typeof SendMessageRequestSchema>;

const request = (init: RequestInit = say("hi")) => create(SendMessageRequestSchema, init);

const read = (context: HandlerContext, definition = agent, init?: RequestInit) =>
  readRequestKey(request(init), context, definition);

describe("Idempotency-Key", () => {
  const sixteen = "0123456789abcdef";
  for (const [what, keys, principal] of [
    ["one character", ["k"], alice],
    ["every printable character", ["!\"#$%&'()*+,-./0123456789:;<=>?@AZ[\\]^_`az{|}~"], alice],
    ["spaces inside", ["order 17 of monday"], alice],
    ["commas inside", ["1,2,3"], alice],
    ["a quoted string", ['"8e03978e-40d5-43dd-bc93-6894a57f9324"'], alice],
    ["255 characters", ["k".repeat(255)], alice],
    ["16 characters of an anonymous caller", [sixteen], nobody],
  ] as const) {
    it(`takes ${what}`, async () => {
      expect(await read(call(keys, principal))).toMatchObject({
        key: JSON.stringify(["Agent", "key", keys[0]]),
      });
    });
  }

  for (const [what, keys, principal, problem] of [
    ["an empty one", [""], alice, "1 to 255 printable ASCII characters"],
    ["256 characters", ["k".repeat(256)], alice, "1 to 255 printable ASCII characters"],
    ["a tab", ["a\tb"], alice, "1 to 255 printable ASCII characters"],
    ["what is not ASCII", ["schlüssel"], alice, "1 to 255 printable ASCII characters"],
    ["DEL", ["a\x7f"], alice, "1 to 255 printable ASCII characters"],
    ["two", ["one", "two"], alice, "must be given once"],
    ["the same one twice", ["one", "one"], alice, "must be given once"],
    ["one and an empty one", ["one", ""], alice, "must be given once"],
    ["15 characters of an anonymous caller", [sixteen.slice(1)], nobody, "at least 16 characters"],
  ] as const) {
    it(`refuses ${what}`, async () => {
      await expect(read(call(keys, principal))).rejects.toMatchObject({
        rawMessage: expect.stringMatching(new RegExp(`^Idempotency-Key: .*${problem}`)),
        details: [{}, { value: { fieldViolations: [{ field: "Idempotency-Key" }] } }],
      });
    });
  }

  it("is another one for another agent, which may share the store", async () => {
    const other = { ...agent, card: { name: "Another" } };
    expect((await read(call(["k"])))?.key).not.toBe((await read(call(["k"]), other))?.key);
  });

  it("is not needed", async () => {
    expect(await read(call([]))).toBeUndefined();
  });
});

describe("the fingerprint of a request", () => {
  const pushTo = (
    init: NonNullable<NonNullable<RequestInit["configuration"]>["taskPushNotificationConfig"]>,
  ): RequestInit => ({ ...say("hi"), configuration: { taskPushNotificationConfig: init } });
  const url = "https://example.com/hook";
  const fingerprint = async (init: RequestInit, version?: string) =>
    (await read(call(["k"], alice, version), agent, init))?.fingerprint;

  const alike: readonly (readonly [string, RequestInit, RequestInit])[] = [
    ["push credentials", pushTo({ url, token: "1" }), pushTo({ url, token: "2" })],
    [
      "the webhook's own",
      pushTo({ url, authentication: { scheme: "Bearer", credentials: "1" } }),
      pushTo({ url, authentication: { scheme: "Bearer", credentials: "2" } }),
    ],
    [
      "how it is answered",
      say("hi"),
      { ...say("hi"), configuration: { returnImmediately: true, historyLength: 3 } },
    ],
    [
      "what A2A 1.0 does not know",
      { ...say("hi"), configuration: {} },
      { ...say("hi"), configuration: { ifGenerationMatch: 4n } },
    ],
    [
      "the order of metadata",
      { ...say("hi"), metadata: { a: 1, b: { c: [{ d: 1, e: 2 }] } } },
      { ...say("hi"), metadata: { b: { c: [{ e: 2, d: 1 }] }, a: 1 } },
    ],
  ];
  for (const [what, one, other] of alike) {
    it(`is the same whatever ${what} says`, async () => {
      expect(await fingerprint(one)).toEqual(await fingerprint(other));
      expect(await fingerprint(one)).toHaveLength(32);
    });
  }

  for (const [what, one, other, version] of [
    ["text", say("one"), say("two"), "1.0"],
    ["message id", say("hi", { messageId: "1" }), say("hi", { messageId: "2" }), "1.0"],
    ["tenant", { ...say("hi"), tenant: "a" }, { ...say("hi"), tenant: "b" }, "1.0"],
    ["metadata", { ...say("hi"), metadata: { a: 1 } }, { ...say("hi"), metadata: { a: "1" } }, "1.0"],
    ["webhook", pushTo({ url }), pushTo({ url: `${url}/2` }), "1.0"],
    [
      "condition (R-4)",
      { ...say("hi"), configuration: { ifGenerationMatch: 4n } },
      { ...say("hi"), configuration: { ifGenerationMatch: 5n } },
      "1.1",
    ],
  ] as const) {
    it(`is another one for another ${what}`, async () => {
      expect(await fingerprint(one, version)).not.toEqual(await fingerprint(other, version));
    });
  }
});

describe("dedupeMessageIds (A-11)", () => {
  const deduping = { ...agent, dedupeMessageIds: true };
  const id = "8e03978e-40d5-43dd-bc93-6894a57f9324";

  it("is off by default", async () => {
    expect(await read(call([]), agent, say("hi", { messageId: id }))).toBeUndefined();
  });

  it("takes context id and message id for a key", async () => {
    const keyOf = async (contextId: string, messageId: string) =>
      (await read(call([]), deduping, say("hi", { contextId, messageId })))?.key;
    expect(await keyOf("c", id)).toBe(JSON.stringify(["Agent", "message-id", "c", id]));
    expect(await keyOf("a", "b:c")).not.toBe(await keyOf("a:b", "c"));
  });

  it("never compares short ids of anonymous callers, who share a principal", async () => {
    expect(await read(call([], nobody), deduping, say("hi", { messageId: "1" }))).toBeUndefined();
    expect(await read(call([], nobody), deduping, say("hi", { messageId: id }))).toBeDefined();
  });

  it("leaves the choice to a caller that sends a key", async () => {
    expect(await read(call(["k"]), deduping, say("hi", { messageId: id }))).toMatchObject({
      key: JSON.stringify(["Agent", "key", "k"]),
    });
  });
});
