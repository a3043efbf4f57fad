import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findMemberText } from "./member-text.ts";

describe("the text of a result", () => {
  for (const [response, result] of [
    ['{"jsonrpc":"2.0","id":1,"result":{"a":1}}', '{"a":1}'],
    ['{ "result" :\n{ "a" : 1.50, "a" : [ ] } , "id" : "r" }', '{ "a" : 1.50, "a" : [ ] }'],
    ['{"x":"\\"result\\":1","result":"},\\"{"}', '"},\\"{"'],
    ['{"x":"a\\\\","result":true}', "true"],
    ['{"x":{"result":1},"y":["result",2]}', undefined],
    ['{"r\\u0065sult":null}', "null"],
    ['{"result":1,"result":2}', "2"],
    ["{}", undefined],
    ['["result"]', undefined],
    ['"result"', undefined],
    ["null", undefined],
  ] as const) {
    it(`of ${response} is ${result}`, () => expect(findMemberText(response, "result")).toBe(result));
  }

  it("is what JSON.parse finds there, whatever stands around it", () => {
    const spaced = fc.tuple(fc.jsonValue(), fc.constantFrom(undefined, 1, "\t"));
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        spaced,
        fc.boolean(),
        (others, [result, space], last) => {
          const response = last ? { ...others, result } : { result, ...others };
          const text = JSON.stringify(response, undefined, space);
          // `others` may have a result of its own.
          expect(JSON.parse(findMemberText(text, "result") ?? "")).toEqual(JSON.parse(text).result);
        },
      ),
    );
  });

  it("is not looked for behind a name without a colon: each further one would look for it up to the end", () => {
    const text = `{"id":1,"x":2,${'"a",'.repeat(200_000)}"y":3}`;
    expect(findMemberText(text, "id")).toBe("1");
  });
});
