import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

/** Texts of all lengths of characters in UTF-8, with halves of surrogate pairs that stand alone. */
const text = fc
  .record({
    before: fc.nat(4),
    times: fc.constantFrom(1, 5_000, 16_380),
    unit: mixedText(),
    after: mixedText(),
  })
  .map(({ before, times, unit, after }) => "x".repeat(before) + unit.repeat(times) + after);

function mixedText(): fc.Arbitrary<string> {
  return fc.string({ unit: fc.constantFrom("a", "é", "漢", "🙂", "\ud83d", "\ude42"), maxLength: 6 });
}

describe.each([
  ["with Node's count", Buffer],
  ["without it", undefined],
])("long texts, %s", (_, buffer) => {
  let room: typeof import("./long-text.ts");

  beforeAll(async () => {
    vi.resetModules();
    vi.stubGlobal("Buffer", buffer);
    room = await import("./long-text.ts");
    vi.unstubAllGlobals();
  });
  afterAll(() => {
    vi.resetModules();
  });

  it("have as many bytes as TextEncoder makes of them", () => {
    fc.assert(fc.property(text, (text) => room.utf8Length(text) === new TextEncoder().encode(text).length));
  });

  it("are written as TextEncoder writes them", () => {
    fc.assert(
      fc.property(text, (text) => {
        const expected = new TextEncoder().encode(text);
        const bytes = new Uint8Array(expected.length + 8);
        expect(room.writeUtf8(text, bytes.subarray(4, expected.length + 4))).toBe(expected.length);
        expect(Buffer.compare(bytes.subarray(4, -4), expected)).toBe(0);
        expect([...bytes.subarray(0, 4), ...bytes.subarray(-4)]).toEqual(Array(8).fill(0));
      }),
    );
  });

  it("are divided between characters", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 5 }), (text, some) => {
        const length = text.length > 100 ? 1_000 * some : some;
        const slices = [...room.divideText(text, length)];
        expect(slices.join("") === text).toBe(true);
        expect(Buffer.concat(slices.map((slice) => Buffer.from(slice))).equals(Buffer.from(text))).toBe(true);
        expect(slices.every((slice) => slice.length <= length + 1)).toBe(true);
      }),
    );
  });
});
