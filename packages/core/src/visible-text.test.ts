import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCharacter } from "../test-support/any-character.ts";
import { escapeInvisible, isShowable, shownText, visibleText } from "./visible-text.ts";

const esc = "\x1b";
const bel = "\x07";

/** What a terminal obeys, or a reader is deceived by; joiners and selectors stay where they make one picture. */
const forbidden = /(?!\t|\n|\u200d|\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]/u;

describe("visibleText", () => {
  for (const [what, text, want] of [
    ["a colour", `${esc}[1;31mred${esc}[0m`, "red"],
    ["a colour in its 8-bit form", "\x9b31mred\x9b0m", "red"],
    ["a cursor movement with an intermediate", `a${esc}[2 qb`, "ab"],
    ["a private mode", `${esc}[?1049hscreen`, "screen"],
    ["a sequence that ends in the middle", `a${esc}[31`, "a"],
    ["a window title", `${esc}]0;owned${bel}text`, "text"],
    ["a window title ended by ST", `${esc}]0;owned${esc}\\text`, "text"],
    ["a window title in its 8-bit form", "\x9d0;owned\x9ctext", "text"],
    ["a link, not its words", `${esc}]8;;https://evil.example${bel}words${esc}]8;;${bel}`, "words"],
    ["the clipboard", `a${esc}]52;c;cm0gLXJmIC8=${bel}b`, "ab"],
    ["a title that never ends, up to its line's end", `a${esc}]0;owned\nnext`, "a\nnext"],
    ["a title that another sequence breaks off", `${esc}]0;owned${esc}[31mred`, "red"],
    ["a device control string", `a${esc}P1$r0m${esc}\\b`, "ab"],
    ["an application command", `a${esc}_Gf=100;AAAA${esc}\\b`, "ab"],
    ["a privacy message", `a${esc}^secret${esc}\\b`, "ab"],
    ["a start of string", `a${esc}Xsecret${esc}\\b`, "ab"],
    ["a reset", `a${esc}cb`, "ab"],
    ["a character set", `a${esc}(0b`, "ab"],
    ["an escape at the end", `a${esc}`, "a"],
    ["a carriage return that overwrites", "approve: no\rapprove: yes", "approve: noapprove: yes"],
    ["backspaces, bells and DEL", `a\b\b${bel}\x7fb`, "ab"],
    ["a reversed file name", "annex\u202efdp.exe", "annexfdp.exe"],
    ["isolates", "a\u2066b\u2069", "ab"],
    ["zero-width characters", "pay\u200bload\u200c\u2060\ufeff\u00ad", "payload"],
    ["words in tag characters", "hello\u{e0001}\u{e0072}\u{e006d}\u{e007f}", "hello"],
    ["words in variation selectors", "a\ufe0f\ufe01\u{e0100}\u{e01ef}", "a"],
    ["a joiner between letters", "a\u200db", "ab"],
    ["a joiner at the end of a picture", "👩\u200d", "👩"],
    ["a second selector", "❤\ufe0f\ufe0f", "❤\ufe0f"],
    ["fillers", "a\u3164b\u115fc", "abc"],
    ["lone surrogates", "a\ud800b", "ab"],
  ] as const) {
    it(`removes ${what}`, () => expect(visibleText(text)).toBe(want));
  }

  for (const text of [
    "",
    "plain\ttext\nof two lines",
    "größer 日本語 👩‍👩‍👧 עברית",
    "👩🏽‍🚀 ❤️‍🔥 1️⃣ 🇩🇪 ☺︎",
    "[31m is no sequence",
    "a\\b",
  ]) {
    it(`leaves ${JSON.stringify(text)} alone`, () => expect(visibleText(text)).toBe(text));
  }

  it("leaves nothing that a terminal obeys, and nothing to do a second time", () => {
    const pieces = fc.constantFrom(
      esc,
      "[",
      "]",
      "P",
      "\\",
      bel,
      "\x9b",
      "\x9c",
      "\x9d",
      ";",
      "0",
      "m",
      "\n",
      "\r",
      "é",
      "x",
      " ",
    );
    const hostile = fc.oneof(fc.string({ unit: pieces }), fc.string({ unit: anyCharacter }));
    fc.assert(
      fc.property(hostile, (text) => {
        const stripped = visibleText(text);
        expect(stripped).not.toMatch(forbidden);
        expect(visibleText(stripped)).toBe(stripped);
      }),
    );
  });

  it("changes no text without such characters", () => {
    const harmless = fc
      .string({ unit: "grapheme" })
      .filter((text) => !/\u200d|\ufe0e|\ufe0f/.test(text) && !forbidden.test(text));
    fc.assert(
      fc.property(harmless, (text) => {
        expect(visibleText(text)).toBe(text);
      }),
    );
  });

  it("takes time in proportion to the text, however hostile", () => {
    const length = 1_000_000;
    const started = performance.now();
    for (const unit of [
      `${esc}]`,
      `${esc}[`,
      `${esc}[0;`,
      `${esc}P\n`,
      "\x9d",
      `${esc}]0;${bel}`,
      `${esc} `,
      esc,
    ]) {
      expect(visibleText(unit.repeat(length / unit.length))).not.toMatch(forbidden);
      expect(visibleText(unit + "0;".repeat(length / 2))).not.toMatch(forbidden);
    }
    // Quadratic time would be days; a busy machine is given three orders of magnitude.
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});

describe("visibleText", () => {
  it("ends lines where a separator does, so that no words grow together", () => {
    expect(visibleText("a\u2028b\u2029c")).toBe("a\nb\nc");
  });
});

describe("escapeInvisible", () => {
  it("leaves a value the same, and nothing of it unseen", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const escaped = escapeInvisible(JSON.stringify({ text }));
        expect(JSON.parse(escaped)).toEqual({ text });
        expect(escaped).not.toMatch(forbidden);
      }),
    );
  });

  it("writes what has two units as two", () => {
    expect(escapeInvisible('"\u{e0061}"')).toBe('"\\udb40\\udc61"');
  });
});

describe("shownText", () => {
  for (const [text, want] of [
    [" a\n\u2028b\tc ", "a b c"],
    ["x".repeat(200), `${"x".repeat(160)}…`],
    ["\u200b".repeat(1_000), "…"],
  ] as const) {
    it(`makes ${JSON.stringify(want.slice(0, 20))} of ${JSON.stringify(text.slice(0, 20))}`, () =>
      expect(shownText(text)).toBe(want));
  }
});

describe("isShowable", () => {
  for (const [text, want] of [
    ["key-1", true],
    ["key\n1", false],
    ["key\u200b", false],
    ["key\u{e0061}", false],
    ["x".repeat(21), false],
  ] as const) {
    it(`is ${want} for ${JSON.stringify(text)}`, () => expect(isShowable(text, 20)).toBe(want));
  }
});
