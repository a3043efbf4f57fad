import { type Message, MessageSchema, PartSchema } from "@a2a-connect/proto";
import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { jsonCodec, protoCodec } from "./codec.ts";

const parts = Array.from({ length: 2_000 }, () =>
  create(PartSchema, { content: { case: "text", value: "x".repeat(500) } }),
);
const message: Message = create(MessageSchema, { messageId: "m", parts });
const limits = { maxJsonDepth: 100, maxValues: 100_000 };

describe.each([
  [protoCodec, toBinary(MessageSchema, message)],
  [jsonCodec, new TextEncoder().encode(toJsonString(MessageSchema, message))],
] as const)("large messages in $name", ({ decode }, bytes) => {
  it("are decoded in turns of their callers, however many one of them has sent", async () => {
    const done: string[] = [];
    const one = async (caller: string): Promise<void> => {
      await decode(MessageSchema, bytes, limits, caller);
      done.push(caller);
    };
    await Promise.all([...Array.from({ length: 20 }, () => one("greedy")), one("other")]);
    expect(done).toHaveLength(21);
    expect(done.indexOf("other")).toBeLessThan(10);
  });
});

it("large answers are encoded in turns of their callers, too", async () => {
  const done: string[] = [];
  const one = async (caller: string): Promise<void> => {
    await protoCodec.encodeEvent(MessageSchema, message, caller);
    done.push(caller);
  };
  await Promise.all([...Array.from({ length: 60 }, () => one("greedy")), one("other")]);
  expect(done.indexOf("other")).toBeLessThan(30);
});
