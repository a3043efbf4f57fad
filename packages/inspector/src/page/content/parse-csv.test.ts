import { describe, expect, it } from "vitest";
import { parseCsv } from "./parse-csv.ts";

describe("parseCsv", () => {
  for (const [text, rows] of [
    [
      "a,b\n1,2\r\n3,4\n",
      [
        { a: "1", b: "2" },
        { a: "3", b: "4" },
      ],
    ],
    ['a,b\n"1,""\n2",3', [{ a: '1,"\n2', b: "3" }]],
    ["a,b\n\n1", [{ a: "1", b: "" }]],
    ['a,b\n1,"still coming', [{ a: "1", b: "still coming" }]],
    ["a,b", undefined],
    ["one\ncolumn", undefined],
  ] as const) {
    it(`reads ${JSON.stringify(text)}`, () => expect(parseCsv(text)).toEqual(rows));
  }

  it("reads every quote once, however many there are", () => {
    const quotes = '"'.repeat(1_000_000);
    expect(parseCsv(`a,b\n1,${quotes}x`)).toEqual([{ a: "1", b: `${quotes.slice(0, 499_999)}x` }]);
  });
});
