import { describe, expect, it } from "vitest";
import { createForwardedHosts } from "./forwarded-hosts.ts";

const log = () => {};

describe("hosts that proxies tell", () => {
  it.each<[string, readonly string[] | undefined, boolean, boolean]>([
    ["https://a.example", undefined, false, true],
    ["https://a.example", undefined, true, false],
    ["https://a.example", [], false, false],
    ["https://a.example", ["a.example"], true, true],
    ["https://a.example/below", ["A.Example"], true, true],
    ["https://a.example:8443", ["a.example"], true, true],
    ["https://a.example:8443", ["a.example:8443"], true, true],
    ["https://a.example:8444", ["a.example:8443"], true, false],
    ["https://a.b.example", ["*.b.example"], true, true],
    ["https://a.b.example:81", ["*.b.example"], true, true],
    ["https://a.b.example:81", ["*.b.example:81"], true, true],
    ["https://b.example", ["*.b.example"], true, false],
    ["https://evilb.example", ["*.b.example"], true, false],
    ["https://a.example.evil", ["a.example", "*.example"], true, false],
    ["https://[2001:db8::1]", ["[2001:db8::1]"], true, true],
  ])("%s with the list %j, signed %s: %s", (url, hosts, signed, expected) => {
    expect(createForwardedHosts({ fixed: false, hosts, log }).accepts(url, signed)).toBe(expected);
  });

  it("say nothing where the public URL is fixed, or nobody has said anything", () => {
    const fixed = createForwardedHosts({ fixed: true, hosts: ["a.example"], log });
    const open = createForwardedHosts({ fixed: false, hosts: undefined, log });
    expect([fixed.accepts("https://a.example", false), open.accepts(undefined, false)]).toEqual([
      false,
      false,
    ]);
  });

  it("are warned of once when none is listed and cards are signed", () => {
    const lines: string[] = [];
    const hosts = createForwardedHosts({
      fixed: false,
      hosts: undefined,
      log: ({ message }) => lines.push(message),
    });
    hosts.accepts("https://a.example", false);
    hosts.accepts("https://a.example", true);
    hosts.accepts("https://b.example", true);
    expect(lines).toEqual([
      'a proxy says that this server is https://a.example, but a card is signed only for hosts that "forwardedHosts" lists',
    ]);
  });
});
