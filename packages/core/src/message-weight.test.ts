import { MessageSchema, Role } from "@a2a-connect/proto";
import { create, type JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
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
