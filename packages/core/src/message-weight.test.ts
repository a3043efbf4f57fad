import { MessageSchema, Role } from "@a2a-connect/proto";
import { create, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { decodeMessage } from "./binary/decode.ts";
import { encodeMessage } from "./binary/encode.ts";
import { isLarge, sizeOfJson } from "./message-weight.ts";

describe("the size of metadata", () => {
  it("is found by one visit, for the weight of its message and for its memory", () => {
    let visits = 0;
    const metadata = new Proxy<JsonObject>(
      { one: [1, 2], two: "three" },
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
    expect(sizeOfJson(metadata)).toEqual({ values: 9, texts: "onetwothree".length, wide: 0 });
    expect(visits).toBe(1);
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
