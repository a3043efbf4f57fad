import { describe, expect, it } from "vitest";
import {
  formatExtensions,
  parseExtensions,
  parseProtocolVersion,
  readExtensions,
  readProtocolVersion,
  setServiceParameters,
} from "./service-parameters.ts";

describe("parseProtocolVersion", () => {
  for (const [value, want] of [
    ["1.0", "1.0"],
    ["1.0.7", "1.0"],
    [" 1.0 ", "1.0"],
    ["1.0, 1.0.2", "1.0"],
    ["0.3", "0.3"],
    ["99.0", "99.0"],
    ["", "0.3"],
    ["  ", "0.3"],
    [undefined, "0.3"],
    [null, "0.3"],
    ["1", "1"],
    ["v1.0", "v1.0"],
    ["1.0-rc", "1.0-rc"],
    ["1.0, 0.3", "1.0, 0.3"],
    ["x".repeat(10_000), "x".repeat(16)],
  ] as const) {
    it(`reads ${JSON.stringify(value?.slice(0, 20))} as ${want} (F-1, F-4)`, () => {
      expect(parseProtocolVersion(value)).toBe(want);
    });
  }
});

describe("readProtocolVersion", () => {
  for (const [header, query, want] of [
    ["1.0", "", "1.0"],
    [undefined, "A2A-Version=1.0", "1.0"],
    [undefined, "a2a-version=1.0.1", "1.0"],
    ["1.0", "A2A-Version=0.3", "1.0"],
    ["", "A2A-Version=1.0", "1.0"],
    [undefined, "A2A-Version=", "0.3"],
    [undefined, "A2A-Version=1.0&A2A-Version=9.9", "1.0,9.9"],
    [undefined, "", "0.3"],
  ] as const) {
    it(`reads ${want} from header ${header} and query "${query}" (F-3)`, () => {
      const headers = new Headers(header === undefined ? {} : { "a2a-version": header });
      expect(readProtocolVersion(headers, new URLSearchParams(query))).toBe(want);
    });
  }

  it("needs no query", () => expect(readProtocolVersion(new Headers())).toBe("0.3"));
});

describe("parseExtensions", () => {
  for (const [values, want] of [
    ["urn:a,urn:b", ["urn:a", "urn:b"]],
    [" urn:a , , urn:b,urn:a", ["urn:a", "urn:b"]],
    [
      ["urn:a", "urn:b,urn:c"],
      ["urn:a", "urn:b", "urn:c"],
    ],
    ["", []],
    [undefined, []],
    [null, []],
  ] as const) {
    it(`reads ${JSON.stringify(values)} (G-2)`, () => expect(parseExtensions(values)).toEqual(want));
  }
});

describe("readExtensions", () => {
  it("joins repeated headers, and ignores the legacy X-A2A-Extensions (G-2)", () => {
    const headers = new Headers([
      ["A2A-Extensions", "urn:a"],
      ["a2a-extensions", "urn:b"],
      ["X-A2A-Extensions", "urn:old"],
    ]);
    expect(readExtensions(headers)).toEqual(["urn:a", "urn:b"]);
  });

  it("falls back to the query", () => {
    expect(readExtensions(new Headers(), new URLSearchParams("A2A-Extensions=urn:a,urn:b"))).toEqual([
      "urn:a",
      "urn:b",
    ]);
  });
});

describe("setServiceParameters", () => {
  it("sends the version always and extensions when there are some (F-2)", () => {
    const plain = new Headers();
    setServiceParameters(plain);
    expect([...plain]).toEqual([["a2a-version", "1.0"]]);

    const full = new Headers();
    setServiceParameters(full, { protocolVersion: "1.1", extensions: ["urn:a", "urn:b"] });
    expect(readProtocolVersion(full)).toBe("1.1");
    expect(readExtensions(full)).toEqual(["urn:a", "urn:b"]);
  });

  it("has no header value for no extensions", () => expect(formatExtensions([])).toBeUndefined());
});
