import { type AgentDefinition, createMemoryTaskStore } from "@a2a-connect/server";
import { startAgentHarness, wires } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { get, httpVersions } from "../test-support/get.ts";
import { serve } from "./serve.ts";
import type { ServeOptions } from "./serve-options.ts";

const agent: AgentDefinition = { card: { name: "Agent" }, execute: () => [] };

const allFields = "accept-encoding, forwarded, x-forwarded-host, x-forwarded-proto";

const told = { "x-forwarded-proto": "https", "x-forwarded-host": "public.example" };

const trusting = { trustedProxies: ["loopback"] };

async function start(options: ServeOptions) {
  const served = await serve(agent, { store: createMemoryTaskStore(), ...options });
  return {
    url: served.url,
    async cardFor(headers: Record<string, string>, version: (typeof httpVersions)[number] = "HTTP/1.1") {
      const got = await get(`${served.url}/.well-known/agent-card.json`, { version, headers });
      const { supportedInterfaces } = JSON.parse(got.body.toString());
      return { ...got, urls: supportedInterfaces.map(({ url }: { url: string }) => url) };
    },
    [Symbol.asyncDispose]: () => served.close({ graceMs: 0 }),
  };
}

describe.each(httpVersions)("a card behind a proxy, over %s", (version) => {
  it("names the URLs that a trusted proxy tells", async () => {
    await using server = await start(trusting);
    const { urls, headers } = await server.cardFor(told, version);
    expect(urls).toEqual([
      "https://public.example/rpc",
      "https://public.example/rest",
      "public.example:443",
      "https://public.example",
      "https://public.example",
    ]);
    expect(headers.vary).toBe(allFields);
    const forwarded = await server.cardFor({ forwarded: "proto=https;host=public.example" }, version);
    expect(forwarded.urls[0]).toBe("https://public.example/rpc");
  });

  it.each<[string, ServeOptions, Record<string, string>]>([
    ["nobody is trusted", {}, told],
    ["somebody else is trusted", { trustedProxies: ["192.0.2.1", "10.0.0.0/8"] }, told],
    ["what is told is no host", trusting, { ...told, "x-forwarded-host": "evil.example/x?" }],
    ["what is told is no scheme", trusting, { ...told, "x-forwarded-proto": "evil" }],
    ["two proxies contradict each other", trusting, { ...told, forwarded: "host=evil.example" }],
    ["the host is none of those listed", { ...trusting, forwardedHosts: ["*.other.example"] }, told],
    ["the host is listed with another port", { ...trusting, forwardedHosts: ["public.example:8443"] }, told],
    ["nothing is told", trusting, {}],
  ])("names its own URLs when %s", async (_when, options, headers) => {
    await using server = await start(options);
    const got = await server.cardFor(headers, version);
    expect(got.urls[0]).toBe(`${server.url}/rpc`);
    // A cache must not give to others what depends on fields that were looked at and not taken.
    expect(got.headers.vary).toBe(options.trustedProxies === undefined ? "accept-encoding" : allFields);
    expect(got.body.toString()).not.toMatch(/evil|public\.example/);
  });

  it("names the public URL when that is fixed, whatever is told", async () => {
    await using server = await start({
      ...trusting,
      publicUrl: "https://fixed.example/below",
    });
    const { urls, headers } = await server.cardFor(told, version);
    expect([urls[0], headers.vary]).toEqual(["https://fixed.example/below/rpc", "accept-encoding"]);
  });
});

describe("cards behind proxies", () => {
  it("have an ETag for each base URL, and keep it as long as they are kept", async () => {
    await using server = await start(trusting);
    const etagOf = async (host: string) => {
      const { headers } = await server.cardFor({ "x-forwarded-host": host });
      return headers.etag;
    };
    const [one, other, own] = [await etagOf("one.example"), await etagOf("other.example"), await etagOf("")];
    expect(new Set([one, other, own]).size).toBe(3);
    expect([await etagOf("one.example"), await etagOf("other.example")]).toEqual([one, other]);
    for (let n = 0; n < 40; n += 1) await etagOf(`${n}.example`);
    expect([await etagOf("one.example"), await etagOf("")]).toEqual([one, own]);
  });

  it("are told of by the other pages, too", async () => {
    await using server = await start(trusting);
    const [openApi, page] = await Promise.all(
      ["/openapi.json", "/"].map((path) => get(server.url + path, { headers: told })),
    );
    expect(JSON.parse(openApi?.body.toString() ?? "").servers[0].url).toBe("https://public.example/rest");
    expect(page?.body.toString()).toContain("https://public.example/rpc");
    for (const path of ["/openapi.json", "/"]) {
      for (const headers of [told, {}]) {
        expect((await get(server.url + path, { headers })).headers.vary).toBe(
          allFields.slice("accept-encoding, ".length),
        );
      }
    }
    const catalog = await get(`${server.url}/.well-known/ai-catalog.json`);
    expect(catalog.headers.vary).toBe(allFields);
  });

  it("have other pages that depend on nothing where no proxy is trusted", async () => {
    await using server = await start({});
    for (const path of ["/openapi.json", "/"]) {
      expect((await get(server.url + path, { headers: told })).headers.vary).toBeUndefined();
    }
  });

  it("say once in the log why what a proxy tells does not count", async () => {
    const lines: string[] = [];
    await using server = await start({
      ...trusting,
      log: ({ level, message }) => void lines.push(`${level} ${message}`),
    });
    for (let n = 0; n < 2; n += 1) await server.cardFor({ ...told, forwarded: "host=evil.example" });
    expect(lines).toEqual([
      "warn what a trusted proxy says about the URL of this server does not count: Forwarded and X-Forwarded-Proto or X-Forwarded-Host tell different URLs",
    ]);
  });

  it.each(["proxy.example", "10.0.0.0/40"])("are not served when a trusted proxy is %s", async (proxy) => {
    await expect(start({ trustedProxies: [proxy] })).rejects.toThrow("a trusted proxy is an address");
  });

  it.each(wires)("are the same for the extended card over %s", async (wire) => {
    await using harness = await startAgentHarness({
      agent,
      ...trusting,
      extendedCard: { find: () => ({ name: "Extended" }), open: true },
    });
    const urlOf = async (headers: Record<string, string>) => {
      const { name, supportedInterfaces } = await harness.client(wire, { headers }).getExtendedAgentCard({});
      return [name, supportedInterfaces[0]?.url];
    };
    expect(await urlOf(told)).toEqual(["Extended", "https://public.example/rpc"]);
    expect(await urlOf({})).toEqual(["Extended", `${harness.url}/rpc`]);
  });
});
