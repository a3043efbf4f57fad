import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { HttpHandler } from "@a2a-connect/bindings";
import ipaddr from "ipaddr.js";
import { describe, expect, it, vi } from "vitest";
import { listen } from "../port/listen.ts";
import { createForwardedForReader, toNetwork } from "./caller-network.ts";

describe("where a caller is", () => {
  for (const [peer, network] of [
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::1", "2001:db8:1:2::/64"],
    ["fe80::1%eth0", "fe80::/64"],
    [undefined, undefined],
  ] as const) {
    it(`is ${network} for ${peer}`, () => expect(toNetwork(peer)).toBe(network));
  }

  for (const [what, trustedProxies, network] of [
    ["against what it says of itself", [], "127.0.0.1"],
    ["against what one that is no trusted proxy says", ["10.0.0.0/8"], "127.0.0.1"],
    ["as a trusted proxy says", ["loopback"], "203.0.113.9"],
  ] as const) {
    it(`is told to the handler ${what}`, async () => {
      const told: (string | undefined)[] = [];
      const handler: HttpHandler = async ({ callerNetwork }) => {
        told.push(callerNetwork);
        return { status: 200 };
      };
      await using listener = await listen(handler, { trustedProxies });
      await fetch(listener.url, { headers: { "x-forwarded-for": "203.0.113.9" } });
      expect(told).toEqual([network]);
    });
  }

  const proxies = ["10.0.0.0/8", "fd00::/8"];
  for (const [what, fields, network] of [
    [
      "the last address that is no proxy",
      { "x-forwarded-for": "203.0.113.9, 192.0.2.7, 10.1.1.1" },
      "192.0.2.7",
    ],
    [
      "the same of Forwarded",
      { forwarded: 'for=203.0.113.9, for="[2001:db8::7]:80", for=10.1.1.1' },
      "2001:db8::/64",
    ],
    ["an IPv6 address without brackets", { "x-forwarded-for": "2001:db8:5::1" }, "2001:db8:5::/64"],
    ["the first, where all are proxies", { "x-forwarded-for": "10.1.1.2, 10.1.1.1" }, "10.1.1.2"],
    ["what both fields say", { "x-forwarded-for": "192.0.2.7", forwarded: "for=192.0.2.7" }, "192.0.2.7"],
    [
      "the proxy, where they say different things",
      { "x-forwarded-for": "192.0.2.7", forwarded: "for=192.0.2.8" },
      "10.2.2.2",
    ],
    ["the proxy, where it says nothing", {}, "10.2.2.2"],
    ["the proxy, for what is malformed", { forwarded: "for=" }, "10.2.2.2"],
    [
      "the proxy, where the last one to add to the field does not say it",
      { forwarded: "for=192.0.2.7, proto=https" },
      "10.2.2.2",
    ],
    ["the proxy, for a name", { forwarded: "for=unknown" }, "10.2.2.2"],
    [
      "the proxy, for a field that is too long",
      { "x-forwarded-for": `${"1".repeat(2_100)}, 192.0.2.7` },
      "10.2.2.2",
    ],
  ] as const) {
    it(`is, behind a trusted proxy, ${what}`, () => {
      const read = createForwardedForReader(proxies);
      const proxy = "10.2.2.2";
      expect(read({ remoteAddress: proxy }, fields) ?? proxy).toBe(network);
      expect(read({ remoteAddress: "192.0.2.50" }, fields)).toBeUndefined();
    });
  }

  it("is read once for each request, and not from what callers have written before it", async () => {
    const told: (string | undefined)[] = [];
    const handler: HttpHandler = async (request) => {
      told.push(request.callerNetwork, request.callerNetwork);
      return { status: 200 };
    };
    await using listener = await listen(handler, { trustedProxies: ["loopback"] });
    const isValid = vi.spyOn(ipaddr, "isValid");
    const readFor = async (field: string): Promise<number> => {
      isValid.mockClear();
      await fetch(listener.url, { headers: { "x-forwarded-for": field } });
      return isValid.mock.calls.filter(([text]) => text !== "127.0.0.1").length;
    };
    const short = await readFor("203.0.113.9");
    const long = await readFor(`${",".repeat(2_000)}203.0.113.9`);
    isValid.mockRestore();
    expect(told).toEqual(Array(4).fill("203.0.113.9"));
    expect(short).toBeLessThan(4);
    expect(long).toBe(short);
  });

  it("is read once, and of 32 addresses at most, where a caller has written those of proxies into the other field", () => {
    const read = createForwardedForReader(proxies);
    const proxy = { remoteAddress: "10.2.2.2" };
    const isValid = vi.spyOn(ipaddr, "isValid");
    const forwarded = Array(90).fill('for="[fd00::1]:1"').join(",");
    const fields = { forwarded, "x-forwarded-for": "192.0.2.7" };
    for (let asked = 0; asked < 3; asked += 1) expect(read(proxy, fields)).toBeUndefined();
    const texts = isValid.mock.calls.map(([text]) => text);
    isValid.mockRestore();
    expect(texts.length).toBeLessThan(40);
    expect(new Set(texts)).toEqual(new Set(["10.2.2.2", "192.0.2.7", "fd00::1"])); // of none with a port, which costs an Error
  });

  it("keeps nothing else in memory of the field that it was read from", () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage = runInNewContext("gc") as () => void; // the flag made it
    const read = createForwardedForReader(proxies);
    const networks = new Set<string | undefined>();
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let caller = 0; caller < 2_000; caller += 1) {
      const field = `${",".repeat(2_000)}100.100.${100 + Math.floor(caller / 100)}.${100 + (caller % 100)}`;
      networks.add(read({ remoteAddress: "10.2.2.2" }, { "x-forwarded-for": Buffer.from(field).toString() }));
    }
    collectGarbage();
    expect(networks.size).toBe(2_000);
    expect((process.memoryUsage().heapUsed - before) / networks.size).toBeLessThan(1_000);
  });

  it("is read without the Errors that ipaddr.js makes for what is no IPv4 address", () => {
    const isValid = vi.spyOn(ipaddr.IPv4, "isValid");
    expect(toNetwork("2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1:2::/64");
    expect(isValid.mock.results.filter(({ value }) => value === false)).toEqual([]);
    isValid.mockRestore();
  });
});
