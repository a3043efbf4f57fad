import { type Message, MessageSchema, PartSchema } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { protoCodec } from "./codec.ts";

const parts = Array.from({ length: 2_000 }, () =>
  create(PartSchema, { content: { case: "text", value: "x".repeat(500) } }),
);
const message: Message = create(MessageSchema, { messageId: "m", parts });

it("large answers are encoded in turns of their callers", async () => {
  const done: string[] = [];
  const one = async (caller: string): Promise<void> => {
    await protoCodec.encodeEvent(MessageSchema, message, caller);
    done.push(caller);
  };
  await Promise.all([...Array.from({ length: 20 }, () => one("greedy")), one("other")]);
  expect(done.indexOf("other")).toBeLessThan(10);
});
