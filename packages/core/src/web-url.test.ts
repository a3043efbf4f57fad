import { describe, expect, it, onTestFinished, vi } from "vitest";
import { foreignOriginOf, isLoopbackHost, parseForeignUrl, trimEndOf, trimSlashes } from "./web-url.ts";

describe("a URL that another party names", () => {
  const letters = (count: number): string =>
    String.fromCodePoint(...Array.from({ length: count }, (_, index) => 0x4e00 + index));
  const base = new URL("https://agent.example/a");
  const name = `${"a".repeat(61)}.`.repeat(4);

  for (const [title, text, host] of [
    ["a name of 255 characters", `https://${name}example:8080/`, `${name}example:8080`],
    ["a long path", `https://agent.example/${"a".repeat(1_000)}`, "agent.example"],
    ["a long user", `https://${"a".repeat(1_000)}@agent.example/`, "agent.example"],
    ["letters of another script", `https://${letters(2)}.example`, "xn--4gqc.example"],
    ["a relative reference", `/${"a".repeat(1_000)}`, "agent.example"],
    ["a relative reference to another host", "//b.example/c", "b.example"],
    ["an address", "http://[::1]:4000/", "[::1]:4000"],
  ] as const) {
    it(`may have ${title}`, () => expect(parseForeignUrl(text, base)?.host).toBe(host));
  }

  const long = letters(262);
  for (const text of [
    `https://${long}/`,
    `https://${long}:443/`,
    `https://user@${long}`,
    `https://us@er:pass@${long}?x`,
    `https:${long}#x`,
    `https:/\\\\/${long}`,
    `\u0001 ht\ntps:\n/\t/\r/${long}`,
    `https://${encodeURIComponent(letters(30))}/`,
    `//${long}/`,
    ` \\\t\\${long}`,
    `wss://${long}`,
    `ftp://${long}`,
    `file://${long}/x`,
    `grpc://${long}`,
  ]) {
    it(`is not even parsed with a host like that of ${JSON.stringify(text.slice(0, 20))}`, () => {
      const parse = vi.spyOn(URL, "parse");
      onTestFinished(() => parse.mockRestore());
      expect(parseForeignUrl(text, base)).toBeUndefined();
      expect(parse).not.toHaveBeenCalled();
    });
  }

  it("may have no host that is longer than a domain name when it is parsed", () => {
    expect(parseForeignUrl(`https://${letters(200)}/`)).toBeUndefined();
  });
});

describe("the origin of a URL that another party names", () => {
  for (const text of [
    "https://agent.example",
    "HTTP://Agent.Example:80/a:b@c/../d?e:f//g#h",
    "https://user:pass@agent.example:8443/?x",
    "https:agent.example\\a",
    " ht\ntps:\n/\t/\r/agent.\texample:4\n43/a\tb ",
    "https://[::1]:4000#x",
    "https://b\u00fccher.example?//x",
  ]) {
    it(`is that of the whole URL for ${JSON.stringify(text)}`, () => {
      expect(foreignOriginOf(text)).toBe(new URL(text).origin);
    });
  }

  it("is none where there is no host", () => {
    for (const text of ["", "hook", "/hook", "//agent.example", "https://", `https://${"a".repeat(300)}/`])
      expect(foreignOriginOf(text)).toBeUndefined();
  });
});

describe("a host that is this machine", () => {
  for (const host of [
    "localhost",
    "LOCALHOST",
    "localhost.",
    "a.localhost",
    "127.0.0.1",
    "127.8.9.10",
    "127.0.0.1.",
    "[::1]",
  ]) {
    it(`is ${host}`, () => expect(isLoopbackHost(host)).toBe(true));
  }

  for (const host of [
    "",
    "localhost.example",
    "notlocalhost",
    "128.0.0.1",
    "127.0.0.1.example",
    "[::2]",
    "::1",
    "10.0.0.1",
  ]) {
    it(`is not ${host === "" ? "nothing" : host}`, () => expect(isLoopbackHost(host)).toBe(false));
  }
});

describe("trimEndOf", () => {
  for (const [text, want] of [
    ["", ""],
    ["..", ""],
    ["a", "a"],
    ["a..", "a"],
    [".a.b.", ".a.b"],
  ] as const) {
    it(`leaves ${JSON.stringify(want)} of ${JSON.stringify(text)} without dots`, () =>
      expect(trimEndOf(text, (character) => character === ".")).toBe(want));
  }

  it("looks at what it removes and at one character more, however long the text is", () => {
    const looked: string[] = [];
    const isDot = (character: string): boolean => {
      looked.push(character);
      return character === ".";
    };
    expect(trimEndOf(`${".".repeat(1_000)}x..`, isDot)).toBe(`${".".repeat(1_000)}x`);
    expect(looked).toEqual([".", ".", "x"]);
  });
});

describe("trimSlashes", () => {
  for (const [path, want] of [
    ["/", ""],
    ["/a//b//", "/a//b"],
    ["https://clerk.example", "https://clerk.example"],
  ] as const) {
    it(`makes ${JSON.stringify(want)} of ${JSON.stringify(path)}`, () =>
      expect(trimSlashes(path)).toBe(want));
  }
});
