import { describe, expect, it } from "vitest";
import { createBaseUrls } from "./base-urls.ts";

const log = () => {};

describe("URLs that proxies tell", () => {
  it.each<[string, readonly string[] | undefined, boolean, boolean]>([
    ["https://a.example", undefined, false, true],
    ["https://a.example", undefined, true, false],
    ["https://a.example", [], false, false],
    ["https://a.example", ["a.example"], false, true],
    ["https://a.example/below", ["a.example"], false, false],
  ])("%s with the list %j, signed %s: %s", (url, hosts, signed, expected) => {
    const own = "http://localhost";
    expect(createBaseUrls({ forwardedHosts: hosts, log }).find({ forwardedUrl: url }, signed)).toBe(
      expected ? url : own,
    );
  });

  it.each<[entry: string, url: string, listed: boolean]>([
    ["A.Example", "https://a.example", true],
    ["a.example", "http://a.example", false],
    ["a.example", "https://a.example/~mallory", false],
    ["a.example", "https://a.example:8443", false],
    ["a.example", "https://b.a.example", false],
    ["a.example", "https://a.example.evil", false],
    ["a.example:443", "https://a.example", true],
    ["a.example:8443", "https://a.example:8443", true],
    ["a.example:8443", "https://a.example:8444", false],
    ["a.example:8443", "http://a.example:8443", false],
    ["münchen.example", "https://xn--mnchen-3ya.example", true],
    ["[2001:db8::1]", "https://[2001:db8::1]", true],
    ["localhost:8080", "http://localhost:8080", true],
    ["localhost:8080", "https://localhost:8080", true],
    ["localhost:80", "http://localhost", true],
    ["localhost", "http://localhost:8080", false],
    ["127.0.0.1", "http://127.0.0.1", true],
    ["[::1]:81", "http://[::1]:81", true],
    ["a.localhost", "http://a.localhost", true],
    ["https://a.example:8443", "https://a.example:8443", true],
    ["https://a.example:8443/", "https://a.example:8443", true],
    ["https://a.example:8443", "https://a.example:8443/a2a", false],
    ["https://a.example:8443", "https://a.example", false],
    ["https://a.example:8443", "http://a.example:8443", false],
    ["HTTP://a.example:80", "http://a.example", true],
    ["http://a.example", "https://a.example", false],
    ["*.b.example", "https://a.b.example", true],
    ["*.b.example", "https://c.a.b.example", true],
    ["*.b.example", "https://b.example", false],
    ["*.b.example", "https://evilb.example", false],
    ["*.b.example", "http://a.b.example", false],
    ["*.b.example", "https://a.b.example:81", false],
    ["*.b.example", "https://a.b.example/~mallory", false],
    ["*.b.example:81", "https://a.b.example:81", true],
    ["https://*.b.example:81", "https://a.b.example:81", true],
    ["https://*.b.example:81", "https://a.b.example", false],
  ])("%s lists %s: %s", (entry, url, listed) => {
    const hosts = ["other.example", entry];
    expect(createBaseUrls({ forwardedHosts: hosts, log }).find({ forwardedUrl: url }, true)).toBe(
      listed ? url : "http://localhost",
    );
  });

  it.each([
    "",
    "*",
    "*.",
    "a.*.example",
    "*a.example",
    "a.example/below",
    "https://a.example/below",
    "ftp://a.example",
    "https://",
    "https://me@a.example",
    "me@a.example",
    "https://a.example?",
    "https://a.example/#",
    "a.example:99999",
    "a b.example",
  ])("are never listed as %j", (entry) => {
    expect(() => createBaseUrls({ forwardedHosts: [entry], log })).toThrow("forwardedHosts");
  });

  it("are what responses depend on wherever proxies are trusted and the public URL is not fixed", () => {
    const varyBy = (fixed: boolean, trustsProxies?: boolean) =>
      createBaseUrls({
        publicUrl: fixed ? "https://own.example" : undefined,
        forwardedHosts: ["a.example"],
        log,
      })
        .varyBy(trustsProxies === undefined ? {} : { trustsProxies })
        .includes("x-forwarded-host");
    expect([varyBy(false, true), varyBy(true, true), varyBy(false, false), varyBy(false)]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it("say nothing where the public URL is fixed, or nobody has said anything", () => {
    const fixed = createBaseUrls({ publicUrl: "https://own.example", forwardedHosts: ["a.example"], log });
    const open = createBaseUrls({ log });
    expect([fixed.find({ forwardedUrl: "https://a.example" }, false), open.find({}, false)]).toEqual([
      "https://own.example",
      "http://localhost",
    ]);
  });

  it("are warned of once when none is listed and cards are signed", () => {
    const lines: string[] = [];
    const hosts = createBaseUrls({ log: ({ message }) => lines.push(message) });
    hosts.find({ forwardedUrl: "https://a.example" }, false);
    hosts.find({ forwardedUrl: "https://a.example" }, true);
    hosts.find({ forwardedUrl: "https://b.example" }, true);
    expect(lines).toEqual([
      'a proxy says that this server is https://a.example, but a card is signed only for hosts that "forwardedHosts" lists',
    ]);
  });

  it("are warned of once when they are not listed", () => {
    const lines: string[] = [];
    const hosts = createBaseUrls({
      forwardedHosts: ["a.example"],
      log: ({ message }) => lines.push(message),
    });
    hosts.find({ forwardedUrl: "https://a.example" }, true);
    expect(lines).toEqual([]);
    hosts.find({ forwardedUrl: "http://a.example" }, true);
    hosts.find({ forwardedUrl: "https://b.example" }, false);
    expect(lines).toEqual([
      'a proxy says that this server is http://a.example, which "forwardedHosts" does not list: cards do not name it',
    ]);
  });
});
