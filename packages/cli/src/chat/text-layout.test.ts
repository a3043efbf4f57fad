import { describe, expect, it } from "vitest";
import { fit, layOut, textWidth } from "./text-layout.ts";

describe("text in rows", () => {
  for (const [what, row, text, complete, rest] of [
    ["goes on in the row it stands in", "one ", "two", [], "one two"],
    ["ends a row at a line feed", "one", "\ntwo", ["one"], "two"],
    ["keeps empty rows", "", "a\n\nb\n", ["a", "", "b"], ""],
    ["breaks at a space before the last column", "", "one two three", ["one two"], "three"],
    ["breaks a row that was begun before", "one two", " three", ["one two"], "three"],
    ["breaks a word that has no row to itself", "", "abcdefghijklm", ["abcdefghi"], "jklm"],
    ["breaks wide characters by their width", "", "日本語日本語", ["日本語日"], "本語"],
    [
      "keeps what belongs together",
      "",
      "👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧",
      ["👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧"],
      "👩‍👩‍👧",
    ],
  ] as const) {
    it(what, () => expect(layOut(row, text, 10)).toEqual({ complete, row: rest }));
  }

  it("ends whatever the width", () => {
    for (const columns of [0, 1, 2]) {
      const { complete, row } = layOut("", "日本語 abc", columns);
      expect([...complete, row].join("").replaceAll(" ", "")).toBe("日本語abc");
    }
  });
});

describe("the width of text", () => {
  for (const [text, width] of [
    ["", 0],
    ["abc", 3],
    ["é", 1],
    ["e\u0301", 1],
    ["日本", 4],
    ["한", 2],
    ["🎉", 2],
    ["█░", 2],
  ] as const) {
    it(`${JSON.stringify(text)} takes ${width}`, () => expect(textWidth(text)).toBe(width));
  }
});

describe("text in one row", () => {
  for (const [text, fitted] of [
    ["", ""],
    ["123456789", "123456789"],
    ["1234567890", "12345678…"],
    ["日本語日本語", "日本語日…"],
  ] as const) {
    it(`${JSON.stringify(text)} leaves the last of 10 columns free`, () =>
      expect(fit(text, 10)).toBe(fitted));
  }
});
