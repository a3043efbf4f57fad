import { describe, expect, it } from "vitest";
import { trimEndOf, trimSlashes } from "./trim-end.ts";

describe("trimEndOf", () => {
  for (const [text, want] of [
    ["", ""],
    ["..", ""],
    ["a", "a"],
    ["a..", "a"],
    [".a.b.", ".a.b"],
  ] as const) {
    it(`leaves ${JSON.stringify(want)} of ${JSON.stringify(text)} without dots`, () =>
      expect(trimEndOf(text, (character) => character === ".")).toBe(want));
  }

  it("looks at what it removes and at one character more, however long the text is", () => {
    const looked: string[] = [];
    const isDot = (character: string): boolean => {
      looked.push(character);
      return character === ".";
    };
    expect(trimEndOf(`${".".repeat(1_000)}x..`, isDot)).toBe(`${".".repeat(1_000)}x`);
    expect(looked).toEqual([".", ".", "x"]);
  });
});

describe("trimSlashes", () => {
  for (const [path, want] of [
    ["/", ""],
    ["/a//b//", "/a//b"],
    ["https://clerk.example", "https://clerk.example"],
  ] as const) {
    it(`makes ${JSON.stringify(want)} of ${JSON.stringify(path)}`, () =>
      expect(trimSlashes(path)).toBe(want));
  }
});
