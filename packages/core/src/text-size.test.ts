import { describe, expect, it, vi } from "vitest";
import { bytesBeyondUtf8, TextSizes, textBytes } from "./text-size.ts";

describe("the sizes of texts", () => {
  const texts = [
    "",
    "a",
    "é",
    "漢",
    "a".repeat(600),
    `${"a".repeat(600)}漢`,
    "漢".repeat(600),
    "é".repeat(600),
  ];

  it("are those of each, in any order", () => {
    const sizes = new TextSizes();
    for (const text of [...texts, ...texts.toReversed(), ...texts]) {
      expect(sizes.bytesOf(text)).toBe(textBytes(text));
      expect(sizes.beyondUtf8(text)).toBe(bytesBeyondUtf8(text));
    }
  });

  it("are found once for a few long texts that occur in turn", () => {
    const test = vi.spyOn(RegExp.prototype, "test");
    const sizes = new TextSizes();
    const few = ["1", "2", "3", "4"].map((end) => `${"a".repeat(1_000)}${end}`);
    for (let at = 0; at < 1_000; at += 1) for (const text of few) sizes.bytesOf(text);
    const { length } = test.mock.calls;
    test.mockRestore();
    expect(length).toBe(4);
  });
});
