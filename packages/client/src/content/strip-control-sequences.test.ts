import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stripControlSequences } from "./strip-control-sequences.ts";

const esc = "\x1b";
const bel = "\x07";

/** What a terminal obeys, or a reader is deceived by. */
const forbidden = /[\u202a-\u202e\u2066-\u2069]|(?![\t\n])\p{Cc}/u;

describe("stripControlSequences", () => {
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
  ] as const) {
    it(`removes ${what}`, () => expect(stripControlSequences(text)).toBe(want));
  }

  for (const text of [
    "",
    "plain\ttext\nof two lines",
    "größer 日本語 👩‍👩‍👧 עברית",
    "[31m is no sequence",
    "a\\b",
  ]) {
    it(`leaves ${JSON.stringify(text)} alone`, () => expect(stripControlSequences(text)).toBe(text));
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
    const hostile = fc.oneof(fc.string({ unit: pieces }), fc.string({ unit: "binary" }));
    fc.assert(
      fc.property(hostile, (text) => {
        const stripped = stripControlSequences(text);
        expect(stripped).not.toMatch(forbidden);
        expect(stripControlSequences(stripped)).toBe(stripped);
      }),
    );
  });

  it("changes no text without control characters", () => {
    const harmless = fc.string({ unit: "grapheme" }).filter((text) => !forbidden.test(text));
    fc.assert(
      fc.property(harmless, (text) => {
        expect(stripControlSequences(text)).toBe(text);
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
      expect(stripControlSequences(unit.repeat(length / unit.length))).not.toMatch(forbidden);
      expect(stripControlSequences(unit + "0;".repeat(length / 2))).not.toMatch(forbidden);
    }
    // Quadratic time would be days; a busy machine is given three orders of magnitude.
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});
