import { describe, expect, it } from "vitest";
import { negotiateCoding } from "./json-body.ts";

const ours = [{ name: "br" }, { name: "gzip" }];

describe("the coding of a response (RFC 9110 §12.5.3)", () => {
  it.each<[string | null, string | undefined]>([
    [null, undefined],
    ["", undefined],
    ["gzip", "gzip"],
    ["GZIP ; Q=0.5", "gzip"],
    ["gzip, br", "br"],
    ["gzip, br;q=0.9", "gzip"],
    ["br;q=0.2, gzip;q=0.3", "gzip"],
    ["*", "br"],
    ["br;q=0, *", "gzip"],
    ["gzip;q=0", undefined],
    ["identity", undefined],
    ["identity, gzip", "gzip"],
    ["identity;q=1, gzip;q=0.1", undefined],
    ["identity;q=0.1, gzip;q=0.2", "gzip"],
    ["identity;q=0, gzip;q=0.001", "gzip"],
    ["identity, *;q=0.5", undefined],
    ["gzip;q=0.1", "gzip"],
    ["gzip;q=0.1, br;q=0, *", undefined],
    ["gzip;q=nonsense", "gzip"],
    ["zstd", undefined],
  ])("for Accept-Encoding %j is %s", (header, expected) => {
    expect(negotiateCoding(header, ours)?.name).toBe(expected);
  });

  it("is none where there is none", () => expect(negotiateCoding("gzip", [])).toBeUndefined());
});
