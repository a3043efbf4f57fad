import { describe, expect, it, vi } from "vitest";
import { formatUpTo } from "./limited-json.ts";

const maxLength = 64 * 1024;

/** Texts that are written, in characters. */
function countWritten(run: () => void): number {
  let written = 0;
  const stringify = JSON.stringify;
  const spy = vi.spyOn(JSON, "stringify").mockImplementation((...args) => {
    const text = stringify(...(args as Parameters<typeof stringify>));
    written += text.length;
    return text;
  });
  run();
  spy.mockRestore();
  return written;
}

describe("a limited text of a value", () => {
  it.each<[what: string, value: unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["a text", 'a "quoted"\u0001 \ud800 text'],
    ["a long text", "🐚\n".repeat(1_500)],
    ["numbers", [0, -0, 1.5, 1e21, Number.NaN, Number.POSITIVE_INFINITY]],
    ["members that are absent", { a: undefined, b: { c: undefined }, d: [undefined], "": 1 }],
    ["empty ones", [[], {}, [[]], new Map([[1, 2]]), new Set([1]), /a/]],
    ["dates and URLs", [new Date(0), new Date(Number.NaN), new URL("https://example.org/")]],
    [
      "bytes",
      { bytes: Uint8Array.of(1, 2), floats: Float64Array.of(0.5), view: new DataView(new ArrayBuffer(2)) },
    ],
    ["wrappers", [Object("a"), Object(1), Object(true)]],
    ["an array with gaps", Object.assign([], { 3: 1 })],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 })],
    ["a name that is another's", JSON.parse('{"__proto__":{"toJSON":1}}')],
  ])("is what JSON.stringify makes: %s", (_, value) => {
    expect(formatUpTo(value, maxLength).text).toBe(JSON.stringify(value)?.toWellFormed() ?? "");
    const whole = JSON.stringify(value) ?? "";
    for (const length of [2, 7, 20]) {
      expect(formatUpTo(value, length).text).toBe(whole.slice(0, length).toWellFormed());
    }
  });

  it("says when JSON cannot express the value", () => {
    const circle: unknown[] = [];
    circle.push({ circle });
    for (const value of [1n, [Object(1n)], BigInt64Array.of(1n), circle]) {
      expect(formatUpTo(value, maxLength).text).toBe('"a value that JSON cannot express"');
    }
  });

  it("is made of no more than it shows, however often the value has the same parts", () => {
    const text = "\u0001".repeat(2_000);
    const texts = Array<string>(2_000).fill(text);
    let made = "";
    const written = countWritten(() => {
      made = formatUpTo(Array(2_000).fill(texts), maxLength).text;
    });
    expect(made).toHaveLength(maxLength);
    expect(written).toBeLessThan(maxLength + 10_000);
    const long = countWritten(() =>
      formatUpTo({ ["\u0001".repeat(2 ** 20)]: "\u0001".repeat(2 ** 20) }, maxLength),
    );
    expect(long).toBeLessThan(maxLength + 10_000);
  });

  it.each<[what: string, value: unknown]>([
    [
      "members that are absent",
      Array(2_000).fill(Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [at, undefined]))),
    ],
    ["gaps", Object.assign([], { length: 2 ** 32 - 1 })],
    ["bytes", Array(2_000).fill(new Uint8Array(2 ** 20))],
    ["empty lists", Array(2_000).fill(Array(2_000).fill([]))],
  ])("ends where its work does: %s", (_, value) => {
    const { work } = formatUpTo(value, maxLength);
    expect(work).toBeGreaterThanOrEqual(maxLength);
    expect(work).toBeLessThan(3 * maxLength + 10_000);
  });

  it("takes lists in lists, however deep", () => {
    let deep: unknown = [];
    for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
    expect(formatUpTo(deep, maxLength).text).toBe("[".repeat(maxLength));
  });
});
