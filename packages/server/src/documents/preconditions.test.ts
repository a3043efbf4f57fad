import { describe, expect, it } from "vitest";
import { type Condition, evaluatePreconditions, parseHttpDate } from "./preconditions.ts";

const tag = '"a-gzip"';
const modifiedMs = Date.UTC(2026, 0, 2, 3, 4, 5);
const at = (offsetMs: number) => new Date(modifiedMs + offsetMs).toUTCString();

describe("the preconditions of a GET (RFC 9110 §13)", () => {
  it.each<[string, Readonly<Record<string, string>>, Condition]>([
    ["none", {}, "met"],
    ["If-None-Match of what would be sent", { "if-none-match": '"a-gzip"' }, "unchanged"],
    ["If-None-Match of another coding", { "if-none-match": '"a"' }, "met"],
    ["If-None-Match of both", { "if-none-match": '"a", "a-gzip"' }, "unchanged"],
    ["If-None-Match, weak", { "if-none-match": 'W/"a-gzip"' }, "unchanged"],
    ["If-None-Match in a list", { "if-none-match": '"x,y" ,W/"z",, "a-gzip"' }, "unchanged"],
    ["If-None-Match *", { "if-none-match": " * " }, "unchanged"],
    ["If-None-Match of something else", { "if-none-match": '"b"' }, "met"],
    ["If-None-Match of a tag with a comma inside", { "if-none-match": '"x,"a-gzip"' }, "met"],
    ["If-None-Match with something around the tag", { "if-none-match": 'x"a-gzip"y' }, "met"],
    ["If-None-Match with something behind the list", { "if-none-match": '"a-gzip" x' }, "met"],
    ["If-None-Match without quotes", { "if-none-match": "a-gzip" }, "met"],
    ["If-None-Match, empty", { "if-none-match": "" }, "met"],
    ["If-Modified-Since at the time", { "if-modified-since": at(0) }, "unchanged"],
    ["If-Modified-Since later", { "if-modified-since": at(1_000) }, "unchanged"],
    ["If-Modified-Since earlier", { "if-modified-since": at(-1_000) }, "met"],
    ["If-Modified-Since that is no date", { "if-modified-since": "2027-01-01" }, "met"],
    ["If-Modified-Since beside another tag", { "if-none-match": '"b"', "if-modified-since": at(0) }, "met"],
    ["If-Match of what would be sent", { "if-match": '"x", "a-gzip"' }, "met"],
    ["If-Match of another coding", { "if-match": '"a"' }, "failed"],
    ["If-Match *", { "if-match": "*" }, "met"],
    ["If-Match, weak", { "if-match": 'W/"a-gzip"' }, "failed"],
    ["If-Match of something else", { "if-match": '"b"' }, "failed"],
    ["If-Match with something around the tag", { "if-match": 'x"a-gzip"y' }, "failed"],
    [
      "If-Match that fails before If-None-Match",
      { "if-match": '"b"', "if-none-match": '"a-gzip"' },
      "failed",
    ],
    ["If-Match and If-None-Match", { "if-match": '"a-gzip"', "if-none-match": '"a-gzip"' }, "unchanged"],
    ["If-Unmodified-Since at the time", { "if-unmodified-since": at(0) }, "met"],
    ["If-Unmodified-Since earlier", { "if-unmodified-since": at(-1_000) }, "failed"],
    ["If-Unmodified-Since that is no date", { "if-unmodified-since": "yesterday" }, "met"],
    [
      "If-Unmodified-Since beside a tag",
      { "if-match": '"a-gzip"', "if-unmodified-since": at(-1_000) },
      "met",
    ],
  ])("%s", (_what, header, expected) => {
    expect(evaluatePreconditions(new Headers(header), tag, { modifiedMs, sharesSecond: false })).toBe(
      expected,
    );
  });

  it("a date does not tell two documents of the same second apart", () => {
    const document = { modifiedMs, sharesSecond: true };
    const conditionSince = (offsetMs: number) =>
      evaluatePreconditions(new Headers({ "if-modified-since": at(offsetMs) }), tag, document);
    expect([conditionSince(0), conditionSince(1_000)]).toEqual(["met", "unchanged"]);
  });
});

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
});
