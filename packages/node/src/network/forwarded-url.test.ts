import { beforeEach, describe, expect, it } from "vitest";
import { createForwardedUrlReader } from "./forwarded-url.ts";
import { parseTrustedProxies } from "./trusted-proxies.ts";

const warnings: string[] = [];
const warn = (message: string) => void warnings.push(message);
let read = createForwardedUrlReader([]);
beforeEach(() => {
  warnings.length = 0;
  read = createForwardedUrlReader(["loopback", "10.0.0.0/8", "192.0.2.7"], warn);
});

interface Sent {
  readonly peer?: string;
  readonly fields: Readonly<Record<string, string>>;
}

function readOf({ peer = "127.0.0.1", fields }: Sent): string | undefined {
  return read({ connection: { remoteAddress: peer }, url: "http://inner:4000/path?query", fields });
}

const xHost = { "x-forwarded-proto": "https", "x-forwarded-host": "public.example" };
const withHost = (host: string) => ({ ...xHost, "x-forwarded-host": host });
const long = "a".repeat(3_000);

describe("the forwarded URL", () => {
  it.each<[string, Sent["fields"], string | undefined]>([
    ["nothing that is said", {}, undefined],
    ["scheme and host", xHost, "https://public.example"],
    ["the standard port, which is left out", withHost("public.example:443"), "https://public.example"],
    ["another port", withHost("public.example:8443"), "https://public.example:8443"],
    ["an IPv6 host and a port", withHost("[2001:db8::1]:81"), "https://[2001:db8::1]:81"],
    [
      "the last of the standard list, which the proxy next to us wrote",
      { forwarded: "for=203.0.113.9;host=evil.example, for=198.51.100.1;host=public.example" },
      "http://public.example",
    ],
    [
      "scheme and host, without port and prefix of other fields",
      { ...xHost, "x-forwarded-port": "8443", "x-forwarded-prefix": "/a2a" },
      "https://public.example",
    ],
    ["a host in capitals", { "x-forwarded-host": "Public.Example" }, "http://public.example"],
    [
      "the scheme alone, of the host that was asked for",
      { "x-forwarded-proto": "HTTPS" },
      "https://inner:4000",
    ],
    [
      "the last of a list",
      { "x-forwarded-proto": "http, https", "x-forwarded-host": "evil.example, public.example" },
      "https://public.example",
    ],
    [
      "the standard field",
      { forwarded: "for=198.51.100.1;proto=https;host=public.example" },
      "https://public.example",
    ],
    [
      "quoted strings with separators",
      { forwarded: 'for="_x;,\\"y";Proto=https;HOST="public.example:81"' },
      "https://public.example:81",
    ],
    [
      "both kinds that agree",
      { ...xHost, forwarded: 'proto=HTTPS;host="Public.Example:443"' },
      "https://public.example",
    ],
    [
      "both kinds, where the standard one only says who called",
      { ...xHost, forwarded: "for=192.0.2.1" },
      "https://public.example",
    ],
    [
      "members with blanks and empty places between them",
      { forwarded: ", for=192.0.2.1; proto=https ;;host=public.example\t,," },
      "https://public.example",
    ],
  ])("is read from %s", (_what, fields, expected) => {
    expect(readOf({ fields })).toBe(expected);
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ["a standard field that tells another host", { ...xHost, forwarded: "proto=https;host=evil.example" }],
    ["a standard field that tells another scheme", { ...xHost, forwarded: "proto=http" }],
    [
      "a standard field that tells another port",
      { ...xHost, forwarded: 'proto=https;host="public.example:444"' },
    ],
    [
      "two kinds that each tell a part",
      { forwarded: "for=192.0.2.1;proto=https", "x-forwarded-host": "public.example" },
    ],
    ["a host with a bad port", withHost("public.example:65536")],
    ["an unknown scheme", { ...xHost, "x-forwarded-proto": "javascript" }],
    ["a host with a path", withHost("public.example/evil")],
    ["a host with a user", withHost("me@public.example")],
    ["a host with a quote", withHost('public.example"')],
    ["a host with a line break", withHost("public\r\n.example")],
    ["an empty host", withHost("")],
    ["a host that is too long", withHost(long)],
    ["a member that comes twice", { forwarded: "host=a.example;host=b.example" }],
    ["a quotation that does not end", { forwarded: 'host="public.example' }],
    ["text behind a quotation", { forwarded: 'host="public.example"x' }],
    ["a backslash at the end of a quotation", { forwarded: 'host="public.example\\"' }],
    ["a control character in a quotation", { forwarded: 'host=public.example;by="\u0001"' }],
    ["a member without a value", { forwarded: "host" }],
    ["white space in a member", { forwarded: "host = public.example" }],
    ["a standard field that is too long", { forwarded: `host=${long}` }],
    ["a standard field that is empty", { forwarded: "" }],
    ["a standard field that only says who called", { forwarded: "for=198.51.100.1" }],
  ])("is not taken from %s", (_what, fields) => {
    expect(readOf({ fields })).toBeUndefined();
  });

  it.each<[string | undefined, boolean]>([
    ["127.0.0.1", true],
    ["127.9.9.9", true],
    ["::1", true],
    ["::ffff:127.0.0.1", true],
    ["10.255.0.1", true],
    ["192.0.2.7", true],
    ["192.0.2.8", false],
    ["11.0.0.1", false],
    ["2001:db8::1", false],
    ["::", false],
    [undefined, false],
  ])("counts from %s: %s", (peer, isTrusted) => {
    const url = read({ connection: { remoteAddress: peer }, url: "http://inner/", fields: xHost });
    expect(url).toBe(isTrusted ? "https://public.example" : undefined);
  });
});

describe("a forwarded URL that is not taken", () => {
  it("is warned of once for each reason, in words of our own", () => {
    const told = [
      { ...xHost, forwarded: "host=evil.example" },
      { ...xHost, forwarded: "host=evil.example, host=more.example" },
      { ...xHost, forwarded: "proto=http" },
      { forwarded: 'host="' },
      withHost("//evil.example"),
    ];
    for (const fields of [...told, ...told]) readOf({ fields });
    expect(warnings.map((line) => line.split(": ")[1])).toEqual([
      "Forwarded and X-Forwarded-Proto or X-Forwarded-Host tell different URLs",
      "Forwarded is malformed",
      "X-Forwarded-Proto or X-Forwarded-Host is malformed",
    ]);
    expect(warnings.join()).not.toContain("evil");
  });

  it("is nothing to warn of where nobody has said anything, or nobody who is trusted", () => {
    readOf({ fields: {} });
    readOf({ fields: { forwarded: "for=192.0.2.1" } });
    readOf({ peer: "203.0.113.1", fields: { forwarded: "?" } });
    expect(warnings).toEqual([]);
  });
});

describe("what reading a forwarded URL costs", () => {
  // Where every quotation mark is the start of a new search for the one that ends it, this takes half a minute.
  it("grows with the length of the field, and no faster", () => {
    const fields = { forwarded: `a="${'\\"'.repeat(1_000)}` };
    for (let n = 0; n < 5_000; n += 1) expect(readOf({ fields })).toBeUndefined();
  });

  it("is taking the address of a connection apart once", () => {
    let asked = 0;
    class Connection {
      get remoteAddress() {
        asked += 1;
        return "10.1.2.3";
      }
    }
    const connection = new Connection();
    for (let n = 0; n < 3; n += 1) {
      expect(read({ connection, url: "http://inner/", fields: xHost })).toBe("https://public.example");
    }
    expect(asked).toBe(1);
  });
});

describe("trusted proxies", () => {
  it.each(["proxy.example", "localhost", "10.0.0.0/33", "", "*", "127.0.0.1:80"])("are never %s", (entry) => {
    expect(() => parseTrustedProxies([entry])).toThrow("a trusted proxy is an address");
  });
});
