import { describe, it, expect as matches } from "vitest";
import { expect } from "./expect.ts";
import { explainFailure } from "./explain.ts";

function thrownBy(act: () => void): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

describe("what a scenario throws is said as", () => {
  for (const [name, act, wanted] of [
    ["what was found and wanted", () => expect(400).toBe(404), "found 400, wanted 404"],
    [
      "the whole of what was compared",
      () => expect({ a: [1, { b: "c" }], d: { e: 1 } }).toStrictEqual({ a: [1, { b: "d" }], d: { e: 1 } }),
      "found { a: [ 1, { b: 'c' } ], d: { e: 1 } }, wanted { a: [ 1, { b: 'd' } ], d: { e: 1 } }",
    ],
    [
      "the matcher's words where more than one value would do",
      () => expect(500).toBeLessThan(500),
      "expected 500 to be less than 500",
    ],
    [
      "what is missing",
      () => expect(undefined, "it").toBeDefined(),
      "expected something, found nothing; about: it",
    ],
    ["a choice", () => expect(5).oneOf([1, 2]), "expected 5 to be one of [ 1, 2 ]"],
    ["what it is about", () => expect(1, "the code").toBe(2), "found 1, wanted 2; about: the code"],
    [
      "the matcher's words where nothing is compared",
      () => expect("text/html").toMatch(/json/),
      "expected 'text/html' to match /json/",
    ],
    [
      "the matcher's words before what they are about",
      () => expect("text/html", "the type").toMatch(/json/),
      "expected 'text/html' to match /json/; about: the type",
    ],
    [
      "what stands for many values",
      () => expect([1]).toEqual(expect.arrayContaining([expect.stringMatching(/^a/)])),
      "found [ 1 ], wanted ArrayContaining [StringMatching /^a/]",
    ],
    [
      "the causes",
      () => {
        throw new Error("fetch failed", { cause: new Error("connect ECONNREFUSED") });
      },
      "fetch failed: connect ECONNREFUSED",
    ],
    [
      "text without what a terminal might act upon",
      () => {
        throw new Error("a\u001b]0;owned\u0007b");
      },
      "ab",
    ],
  ] as const) {
    it(name, () => matches(explainFailure(thrownBy(act))).toBe(wanted));
  }

  it("a bounded text", () => {
    matches(explainFailure(new Error("x".repeat(1_000_000))).length).toBeLessThan(1_600);
    const large = thrownBy(() => expect(["y".repeat(1_000_000)]).toEqual([1]));
    matches(explainFailure(large).length).toBeLessThan(1_600);
  });
});
