import { describe, expect, it } from "vitest";
import { parsePublicUrl } from "./base-urls.ts";

describe("a public URL", () => {
  it.each([
    ["https://a.example", "https://a.example"],
    ["https://a.example/b/", "https://a.example/b"],
    ["https://a.example/b?", "https://a.example/b"],
    ["https://a.example/#", "https://a.example"],
    [" https://a.example/\n", "https://a.example"],
    ["HTTPS://A.example:443/b/../c", "https://a.example/c"],
    ["http://localhost:4000", "http://localhost:4000"],
  ])("%j stands in cards as %s", (given, shown) => {
    expect(parsePublicUrl(given)).toBe(shown);
  });

  it.each([
    "",
    "a.example",
    "ftp://a.example",
    "https://me@a.example",
    "https://:x@a.example",
    "https://a.example?b",
    "https://a.example#b",
  ])("is never %j", (given) => {
    expect(() => parsePublicUrl(given)).toThrow("the public URL is http or https");
  });
});
