import { describe, expect, it } from "vitest";
import { formatHttpDate } from "./http-date.ts";
import { type Condition, evaluatePreconditions } from "./preconditions.ts";

const tags = { selected: '"a-gzip"', others: ['"a"'] };
const modifiedMs = Date.UTC(2026, 0, 2, 3, 4, 5);
const at = (offsetMs: number) => formatHttpDate(modifiedMs + offsetMs);
const have = (unchanged: string): Condition => ({ unchanged });

describe("the preconditions of a GET (RFC 9110 §13)", () => {
  it.each<[string, Readonly<Record<string, string>>, Condition]>([
    ["none", {}, "met"],
    ["If-None-Match of what would be sent", { "if-none-match": '"a-gzip"' }, have('"a-gzip"')],
    ["If-None-Match of the other coding", { "if-none-match": '"a"' }, have('"a"')],
    ["If-None-Match of both", { "if-none-match": '"a", "a-gzip"' }, have('"a-gzip"')],
    ["If-None-Match, weak", { "if-none-match": 'W/"a"' }, have('"a"')],
    ["If-None-Match in a list", { "if-none-match": '"x,y" ,W/"z", "a"' }, have('"a"')],
    ["If-None-Match *", { "if-none-match": " * " }, have('"a-gzip"')],
    ["If-None-Match of something else", { "if-none-match": '"b"' }, "met"],
    ["If-None-Match of a tag with a comma inside", { "if-none-match": '"x,"a"' }, "met"],
    ["If-None-Match without quotes", { "if-none-match": "a" }, "met"],
    ["If-None-Match, empty", { "if-none-match": "" }, "met"],
    ["If-Modified-Since at the time", { "if-modified-since": at(0) }, have('"a-gzip"')],
    ["If-Modified-Since later", { "if-modified-since": at(1_000) }, have('"a-gzip"')],
    ["If-Modified-Since earlier", { "if-modified-since": at(-1_000) }, "met"],
    ["If-Modified-Since that is no date", { "if-modified-since": "2027-01-01" }, "met"],
    ["If-Modified-Since beside another tag", { "if-none-match": '"b"', "if-modified-since": at(0) }, "met"],
    ["If-Match of what would be sent", { "if-match": '"a-gzip"' }, "met"],
    ["If-Match of the other coding", { "if-match": '"x", "a"' }, "met"],
    ["If-Match *", { "if-match": "*" }, "met"],
    ["If-Match, weak", { "if-match": 'W/"a"' }, "failed"],
    ["If-Match of something else", { "if-match": '"b"' }, "failed"],
    ["If-Match that fails before If-None-Match", { "if-match": '"b"', "if-none-match": '"a"' }, "failed"],
    ["If-Match and If-None-Match", { "if-match": '"a"', "if-none-match": '"a"' }, have('"a"')],
    ["If-Unmodified-Since at the time", { "if-unmodified-since": at(0) }, "met"],
    ["If-Unmodified-Since earlier", { "if-unmodified-since": at(-1_000) }, "failed"],
    ["If-Unmodified-Since that is no date", { "if-unmodified-since": "yesterday" }, "met"],
    ["If-Unmodified-Since beside a tag", { "if-match": '"a"', "if-unmodified-since": at(-1_000) }, "met"],
  ])("%s", (_what, header, expected) => {
    expect(evaluatePreconditions(new Headers(header), tags, { modifiedMs, sharesSecond: false })).toEqual(
      expected,
    );
  });

  it("a date does not tell two documents of the same second apart", () => {
    const document = { modifiedMs, sharesSecond: true };
    const conditionSince = (offsetMs: number) =>
      evaluatePreconditions(new Headers({ "if-modified-since": at(offsetMs) }), tags, document);
    expect([conditionSince(0), conditionSince(1_000)]).toEqual(["met", have('"a-gzip"')]);
  });
});
