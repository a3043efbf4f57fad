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

it.each([
  ["short", 100_000, 100, 16_000],
  ["long", 100, 1_000_000, 3],
])("of %s texts the newest are kept, up to eight million characters in all", (_, count, length, least) => {
  expect(keptOf(least, length)).toBe(least);
  const kept = keptOf(count, length);
  expect(kept).toBeGreaterThanOrEqual(least);
  expect(kept).toBeLessThan((8 * 2 ** 20) / length);
});
