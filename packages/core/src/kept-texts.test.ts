import { MessageSchema } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { KeptTexts } from "./kept-texts.ts";

/** How many of so many texts of a length are kept at the end. */
function keptOf(count: number, length: number): number {
  const kept = new KeptTexts<string>();
  const messages = Array.from({ length: count }, () => create(MessageSchema));
  for (const message of messages) kept.set(message, "x".repeat(length));
  return messages.filter((message) => kept.get(message) !== undefined).length;
}

it("short texts are kept for as long as their messages are reachable", () => {
  expect(keptOf(20_000, 1_000)).toBe(20_000);
});

it("of long texts the newest are kept, up to eight million characters in all", () => {
  expect(keptOf(100, 10_000)).toBe(100);
  expect(keptOf(100, 1_000_000)).toBeLessThan(9);
  expect(keptOf(100, 1_000_000)).toBeGreaterThan(2);
});
