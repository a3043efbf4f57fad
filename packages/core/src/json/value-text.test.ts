import { expect, it, vi } from "vitest";
import { formatString, formatStringInPieces } from "./value-text.ts";

const units = Array.from({ length: 0x1_00 }, (_, code) => String.fromCharCode(code));

it.each([...units, "\u2028", "\ufeff", "\uffff", "\ud800", "\udfff", "\udc00\ud800", "🙂"])(
  "has the text of JSON.stringify for %j among other characters",
  (unit) => {
    for (const text of [`abcdefg${unit}hijklm`, `字bcdefg${unit}hijkl字`]) {
      expect([...formatStringInPieces(text, 4)].join("")).toBe(JSON.stringify(text));
    }
  },
);

it("makes no copies of the slices that need no escapes", () => {
  const stringify = vi.spyOn(JSON, "stringify");
  const pieces = [...formatString(`${"é字🙂".repeat(1_000)}\n${"x".repeat(1_000)}`, 100)];
  expect(pieces.length).toBeGreaterThan(40);
  expect(stringify).toHaveBeenCalledTimes(1);
  stringify.mockRestore();
});
