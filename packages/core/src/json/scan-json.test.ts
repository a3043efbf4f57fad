import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ScanJsonOptions, scanJson } from "./scan-json.ts";

function scan(text: string, options: Partial<ScanJsonOptions> = {}) {
  return scanJson(text, { maxDepth: 3, ...options });
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
    it(`finds ${want ?? "nothing wrong"} in ${text}`, () => expect(scan(text)?.kind).toBe(want));
  }

  for (const [text, path] of [
    ['{"a":{"b":1,"b":2}}', "a.b"],
    ['[{"a":1},{"a":[0,{"b":1,"b":2}]}]', "[1].a[1].b"],
    ['[[1,2],{"a":1,"b":{},"a":2}]', "[1].a"],
    ['{"a":{"c":1},"b":{"c":1}}', undefined],
    ['{"a":[{"b":1},{"b":1}]}', undefined],
    ['{"a":{"b":["b","b"]}}', undefined],
    ['{"a":{"b c":1,"b c":2}}', 'a["b c"]'],
  ] as const) {
    it(`finds ${path ?? "nothing"} twice anywhere in ${text}`, () =>
      expect(scan(text, { maxDepth: 9, duplicates: "everywhere" })).toEqual(
        path === undefined ? undefined : { kind: "duplicate-member", path },
      ));
  }

  it("agrees with the parser on whether any name occurs twice", () => {
    const tree = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        fc.constantFrom("1", '"a"', '"\\""'),
        fc.array(tie("value")).map((values) => `[${values.join(",")}]`),
        fc
          .array(fc.tuple(fc.constantFrom("a", "b", "c", "\\u0061"), tie("value")), { maxLength: 3 })
          .map((members) => `{${members.map(([name, value]) => `"${name}": ${value}`).join(",")}}`),
      ),
    })).value;
    fc.assert(
      fc.property(tree, (text) => {
        const json = String(text);
        const twice = scan(json, { maxDepth: 50, duplicates: "everywhere" })?.kind === "duplicate-member";
        // What was dropped by the parser is missing when it is written again.
        const names = (of: string) => of.match(/"[^"]*"(?=\s*:)/g)?.length ?? 0;
        expect(twice).toBe(names(json) !== names(JSON.stringify(JSON.parse(json))));
      }),
    );
  });

  it("agrees with the parser on the depth of any JSON", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.integer({ min: 0, max: 8 }), (text, maxDepth) => {
        expect(scan(text, { maxDepth })?.kind === "too-deep").toBe(depthOf(JSON.parse(text)) > maxDepth);
      }),
    );
  });
});

function depthOf(value: unknown): number {
  return typeof value === "object" && value !== null
    ? 1 + Math.max(0, ...Object.values(value).map(depthOf))
    : 0;
}
