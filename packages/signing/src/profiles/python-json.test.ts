import type { JsonValue } from "@bufbuild/protobuf";
import { describe, expect, it, vi } from "vitest";
import { writePythonJson } from "./python-json.ts";

// What Python 3.11 printed for these values.
describe("JSON as Python writes it", () => {
  for (const [value, text] of [
    [0, "0.0"],
    [-0, "-0.0"],
    [1, "1.0"],
    [-1.5, "-1.5"],
    [1e15, "1000000000000000.0"],
    [1e16, "1e+16"],
    [123456789012345680, "1.2345678901234568e+17"],
    [1e-4, "0.0001"],
    [1e-5, "1e-05"],
    [1.5e-5, "1.5e-05"],
    [1e21, "1e+21"],
    [1e-7, "1e-07"],
    [1e100, "1e+100"],
    [5e-324, "5e-324"],
    [Number.MAX_VALUE, "1.7976931348623157e+308"],
    [333333333.3333333, "333333333.3333333"],
    [2 ** 53, "9007199254740992.0"],
    [0.1, "0.1"],
    [-1e-10, "-1e-10"],
    [null, "null"],
    [true, "true"],
    ['a"\\/\n\u0001\u007fé\u2028\u{1F600}', '"a\\"\\\\/\\n\\u0001\\u007f\\u00e9\\u2028\\ud83d\\ude00"'],
    [[1, []], "[1.0,[]]"],
    [
      { "\u{1F600}b": 1, "\u{1F600}a": 2, "\u{1F601}": 3, "\u{1F600}": 4, "\uE000": 5, "\uD7FF": 6, "": 7 },
      '{"":7.0,"\\ud7ff":6.0,"\\ue000":5.0,"\\ud83d\\ude00":4.0,"\\ud83d\\ude00a":2.0,"\\ud83d\\ude00b":1.0,"\\ud83d\\ude01":3.0}',
    ],
    [
      { "\u{1F600}": 1, "\uFB33": 2, b: {}, a: 3, ab: 4 },
      '{"a":3.0,"ab":4.0,"b":{},"\\ufb33":2.0,"\\ud83d\\ude00":1.0}',
    ],
  ] as readonly (readonly [JsonValue, string])[]) {
    it(`is ${text}`, () => expect(writePythonJson(value)).toBe(text));
  }

  it("orders many names without a list of the characters of each", () => {
    const names = Array.from({ length: 100 }, (_, at) => [`${at}`.padStart(3, "0"), at] as const).reverse();
    const characters = vi.spyOn(Array, "from");
    const text = writePythonJson(Object.fromEntries(names));
    const made = characters.mock.calls.length;
    characters.mockRestore();
    expect(text).toMatch(/^\{"000":0.0,"001":1.0,/);
    expect(made).toBe(0);
  });
});
