import { MessageSchema } from "@a2a-connect/proto";
import { alice } from "@a2a-connect/testing";
import { create } from "@bufbuild/protobuf";
import { expect, it, vi } from "vitest";
import { createMemoryKeys } from "./memory-keys.ts";

it("forgets expired Messages without a look at those that stay", () => {
  const keys = createMemoryKeys(() => {});
  const message = create(MessageSchema, { messageId: "reply" });
  for (let at = 0; at < 5_000; at += 1) {
    keys.putReply(alice, { key: `key-${at}`, fingerprint: new Uint8Array() }, message, 1_000 + at);
  }
  const steps = vi.spyOn(Object.getPrototypeOf(new Map().entries()), "next");
  const expired = keys.expire(1_100, 500);
  const count = steps.mock.calls.length;
  steps.mockRestore();
  expect(expired).toBe(100);
  expect(count).toBe(101);
});
