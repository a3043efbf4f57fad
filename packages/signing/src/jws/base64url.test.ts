import fc from "fast-check";
import { base64url } from "jose";
import { describe, expect, it } from "vitest";
import { decodeBase64url } from "./jws-text.ts";

describe("base64url", () => {
  it("reads what jose writes of any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(decodeBase64url(base64url.encode(bytes))).toEqual(bytes);
      }),
    );
  });

  it("has one spelling for each sequence of bytes", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.base64String({ maxLength: 12 }), (any, base64) => {
        for (const text of [any, base64]) {
          const bytes = decodeBase64url(text);
          if (bytes !== undefined) expect(base64url.encode(bytes)).toBe(text);
        }
      }),
    );
  });

  for (const [text, bytes] of [
    ["", []],
    ["AA", [0]],
    ["_-8", [255, 239]],
    ["Zm9v", [102, 111, 111]],
  ] as const) {
    it(`reads ${JSON.stringify(text)}`, () => {
      expect(decodeBase64url(text)).toEqual(Uint8Array.from(bytes));
    });
  }

  for (const [what, text] of [
    ["padding", "AA=="],
    ["the other alphabet", "+/8"],
    ["a length no bytes have", "A"],
    ["a length no bytes have, after full groups", "AAAAA"],
    ["trailing bits after one byte", "AB"],
    ["trailing bits after two bytes", "AAB"],
    ["a line break", "AA\n"],
    ["a blank within", "Zm 9v"],
    ["a letter beyond ASCII", "Zm9\u{ff56}"],
    ["a NUL", "Zm9\0"],
  ] as const) {
    it(`refuses ${what}`, () => {
      expect(decodeBase64url(text)).toBeUndefined();
    });
  }
});
