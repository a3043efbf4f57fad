import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scanJson } from "./scan-json.ts";

function scan(text: string, maxDepth = 3) {
  return scanJson(new TextEncoder().encode(text), maxDepth);
}

describe("scanJson", () => {
  for (const [text, want] of [
    ["", undefined],
    ["[[[]]]", undefined],
    ["[[[[", "too-deep"],
    ['{"a":{"b":{"c":{}}}}', "too-deep"],
    ["[[],[],[],[],[]]", undefined],
    ['["[[[[[[", "\\"[[[[[["]', undefined],
    ['["\\\\", [[[]]]]', "too-deep"],
    ['"unclosed [[[[[', undefined],
    ['{"a":1,"b":2}', undefined],
    ['{"a":1,"a":2}', "duplicate-member"],
    ['{"a":1, "\\u0061" : 2}', "duplicate-member"],
    ['{"a":"a","b":"a"}', undefined],
    ['{"a":{"a":1,"a":2}}', undefined],
    ['["a","a"]', undefined],
  ] as const) {
    it(`finds ${want ?? "nothing wrong"} in ${text}`, () => expect(scan(text)).toBe(want));
  }

  it("agrees with the parser on the depth of any JSON", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.integer({ min: 0, max: 8 }), (text, maxDepth) => {
        expect(scan(text, maxDepth) === "too-deep").toBe(depthOf(JSON.parse(text)) > maxDepth);
      }),
    );
  });
});

function depthOf(value: unknown): number {
  return typeof value === "object" && value !== null
    ? 1 + Math.max(0, ...Object.values(value).map(depthOf))
    : 0;
}
