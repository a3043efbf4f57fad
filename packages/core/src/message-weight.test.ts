import {
  AgentExtensionSchema,
  ClientCredentialsOAuthFlowSchema,
  MessageSchema,
  PartSchema,
  Role,
} from "@a2a-connect/proto";
import {
  create,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  toBinary,
  toJsonString,
} from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { decodeMessage } from "./binary/decode.ts";
import { encodeMessage } from "./binary/encode.ts";
import { isLarge, sizeOfJson, sizeOfValue } from "./message-weight.ts";
import { json } from "./parts.ts";

describe("the size of metadata", () => {
  it("is found by one visit, for the weight of its message and for its memory", () => {
    let visits = 0;
    const metadata = new Proxy<JsonObject>(
      { one: [1, 2], two: "three".repeat(100) },
      {
        ownKeys(target) {
          visits += 1;
          return Reflect.ownKeys(target);
        },
      },
    );
    const message = { ...create(MessageSchema, { messageId: "m", role: Role.USER }), metadata };
    expect(isLarge(message)).toBe(false);
    expect(isLarge(message, 8)).toBe(true);
    expect(sizeOfJson(metadata)).toEqual({ values: 9, texts: "onetwo".length + 500, wide: 0 });
    expect(visits).toBe(1);
  });

  it("is not kept for thousands of small objects, at each of which a garbage collector would look", () => {
    const known = vi.spyOn(WeakMap.prototype, "set");
    onTestFinished(() => known.mockRestore());
    const parts = Array.from({ length: 998 }, () => ({ ...json({}), metadata: {} }));
    const message = create(MessageSchema, { messageId: "m", role: Role.USER, parts });
    expect(isLarge(message)).toBe(false);
    for (const { content, metadata } of message.parts) {
      expect(sizeOfJson(metadata ?? {})).toEqual({ values: 3, texts: 0, wide: 0 });
      expect(content.case === "data" && sizeOfValue(content.value)).toEqual({ values: 3, texts: 0, wide: 0 });
    }
    expect(known).not.toHaveBeenCalled();
  });
});

describe("a message with one list in thousands of places", () => {
  it("is found to be large by the places that weigh as much, and by all that it weighs if it is not", () => {
    let visits = 0;
    const list = new Proxy<JsonValue[]>(Array(100).fill(0), {
      get(target, name, receiver) {
        visits += 1;
        return Reflect.get(target, name, receiver);
      },
    });
    const metadata: JsonObject = { lists: Array(1_000).fill(list) };
    const message = { ...create(MessageSchema, { messageId: "m", role: Role.USER }), metadata };
    expect(isLarge(message, 8_000)).toBe(true);
    expect(visits).toBeLessThan(3_000); // not 100,000
    expect(isLarge(message, 1_000_000)).toBe(false);
    expect(sizeOfJson(metadata).values).toBe(3 + 3 + 1_000 * 103);
  });
});

describe("what takes little memory", () => {
  const name = "n".repeat(16 * 1024);
  const rows = (size: number): JsonObject[] =>
    Array.from({ length: size }, (_, at) => ({ $typeName: "a", [name]: at }));
  const params: JsonObject = { rows: rows(20) };
  const flow = { tokenUrl: "https://a.test", scopes: { [name]: "" } };

  it.each<[string, DescMessage, Message]>([
    ["a name in the objects of a data part", PartSchema, json(rows(20))],
    ["a name in the objects of a Struct", StructSchema, fromJson(StructSchema, params)],
    ["a name in JSON that is not metadata", AgentExtensionSchema, create(AgentExtensionSchema, { params })],
    ["a name of a map", ClientCredentialsOAuthFlowSchema, create(ClientCredentialsOAuthFlowSchema, flow)],
    ["a list of empty texts", MessageSchema, create(MessageSchema, { extensions: Array(200_000).fill("") })],
  ])(
    "weighs as much as half of its encoding, and no more than what it is in JSON: %s",
    (_, desc, message) => {
      const { length } = toBinary(desc, message);
      expect(isLarge(message, length / 2)).toBe(true);
      expect(isLarge(message, 2 * toJsonString(desc, message).length)).toBe(false);
    },
  );
});

describe("the weight of a message that was read from its encoding", () => {
  const read = (names: number) => {
    const metadata = Object.fromEntries(Array.from({ length: names }, (_, index) => [`k${index}`, 0]));
    const bytes = encodeMessage(MessageSchema, create(MessageSchema, { messageId: "m", metadata }));
    return decodeMessage(MessageSchema, bytes);
  };

  it.each([
    ["is known when it is large: nothing in it is visited", 20_000, true],
    ["is found by a visit when it is not", 1_000, false],
  ])("%s", (_title, names, expected) => {
    let visits = 0;
    const message = read(names);
    const { metadata } = message;
    Object.defineProperty(message, "metadata", {
      enumerable: true,
      get: () => {
        visits += 1;
        return metadata;
      },
    });
    expect(isLarge(message)).toBe(expected);
    expect(visits).toBe(expected ? 0 : 1);
  });
});
