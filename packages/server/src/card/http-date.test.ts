import { describe, expect, it } from "vitest";
import { formatHttpDate, parseHttpDate } from "./http-date.ts";

const sample = Date.UTC(1994, 10, 6, 8, 49, 37);

describe("an HTTP date", () => {
  it.each<[string, number | undefined]>([
    ["Sun, 06 Nov 1994 08:49:37 GMT", sample],
    ["Sunday, 06-Nov-94 08:49:37 GMT", sample],
    ["Sun Nov  6 08:49:37 1994", sample],
    ["Sun Nov 16 08:49:37 1994", sample + 10 * 86_400_000],
    ["Fri, 01-Jan-27 00:00:00 GMT", Date.UTC(2027, 0, 1)],
    ["sun, 06 nov 1994 08:49:37 gmt", sample],
    ["1994-11-06T08:49:37Z", undefined],
    ["Sun, 06 Nov 1994 08:49:37 +0100", undefined],
    ["Sun, 06 Nov 1994", undefined],
    ["Sun, 06 Foo 1994 08:49:37 GMT", undefined],
    ["0", undefined],
    ["784111777", undefined],
    ["", undefined],
  ])("%s is %s", (text, expected) => expect(parseHttpDate(text)).toBe(expected));

  it("is written as it is read", () => {
    expect(formatHttpDate(sample)).toBe("Sun, 06 Nov 1994 08:49:37 GMT");
  });
});
