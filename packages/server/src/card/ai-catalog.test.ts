import type { HttpResponse } from "@a2a-connect/bindings";
import { type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import { createFakeClock } from "@a2a-connect/testing";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { createBaseUrls } from "../reach/base-urls.ts";
import {
  type CatalogAgent,
  type CatalogHost,
  type CatalogOptions,
  createCatalogHandler,
  formatCatalog,
} from "./ai-catalog.ts";

const card = (name: string, organization?: string) =>
  create(AgentCardSchema, {
    name,
    version: "1.0.0",
    ...(organization === undefined ? {} : { provider: { organization, url: "https://example.org" } }),
  });

describe("a catalog names as its host", () => {
  for (const [what, organizations, host, expected] of [
    ["what it is told", ["One"], { displayName: "Told", identifier: "example.org" }, "Told"],
    ["the provider of all agents", ["One", "One"], undefined, "One"],
    ["the URL's host when the providers differ", ["One", "Two"], undefined, "a.example:8080"],
    ["the URL's host when one has none", ["One", undefined], undefined, "a.example:8080"],
  ] satisfies [string, (string | undefined)[], CatalogHost | undefined, string][]) {
    it(what, () => {
      const agents = organizations.map((organization, index) => ({
        cards: { card: card(`${index}`, organization), signed: false },
        path: `/agents/${index}`,
      }));
      expect(JSON.parse(formatCatalog("https://a.example:8080", agents, host)).host.displayName).toBe(
        expected,
      );
    });
  }
});

describe("an entry of a catalog", () => {
  it("has each tag of the agent's skills once, in order, and no list when there are none", () => {
    const skills = [["b", "a"], ["a", "c"], []].map((tags, id) => ({ id: `${id}`, tags }));
    const agents = [create(AgentCardSchema, { name: "tagged", skills }), card("plain")].map((card) => ({
      cards: { card, signed: false },
      path: "",
    }));
    const { entries } = JSON.parse(formatCatalog("https://a.example", agents, undefined));
    expect(entries[0].tags).toEqual(["b", "a", "c"]);
    expect(entries[1]).not.toHaveProperty("tags");
  });
});

describe("a catalog is served", () => {
  /** An agent that counts how often it is listed. */
  class Listed implements CatalogAgent {
    readonly cards: { card: AgentCard; signed: boolean };
    listings = 0;

    constructor(name: string, signed: boolean) {
      this.cards = { card: card(name), signed };
    }

    get path(): string {
      this.listings += 1;
      return `/agents/${this.cards.card.name}`;
    }
  }

  function serveCatalog({ signed = false, ...options }: Partial<CatalogOptions> & { signed?: boolean } = {}) {
    const clock = createFakeClock();
    const agents = [new Listed("first", false), new Listed("second", signed)] as const;
    const handler = createCatalogHandler({
      agents,
      baseUrls: baseUrlsOf(["https://known.example:8443"]),
      host: undefined,
      maxAgeSeconds: 60,
      clock,
      ...options,
    });
    const get = (forwardedUrl?: string, trustsProxies = true): Promise<HttpResponse> =>
      handler({
        httpVersion: "1.1",
        url: "http://localhost/.well-known/ai-catalog.json",
        method: "GET",
        header: new Headers(),
        body: { async *[Symbol.asyncIterator]() {} },
        signal: new AbortController().signal,
        trustsProxies,
        forwardedUrl,
      });
    return { clock, agents, get };
  }

  it("with URLs by which its callers reach it, where a trusted proxy tells", async () => {
    const { get } = serveCatalog();
    const told = [undefined, "https://known.example:8443", "https://known.example", "https://evil.example"];
    const seen = await Promise.all(told.map((url) => get(url)));
    expect(seen.map(urlOf)).toEqual([
      "https://own.example/agents/first",
      "https://known.example:8443/agents/first",
      "https://own.example/agents/first",
      "https://own.example/agents/first",
    ]);
    expect(new Set(seen.map(({ header }) => header?.get("vary")))).toEqual(
      new Set(["accept-encoding, forwarded, x-forwarded-host, x-forwarded-proto"]),
    );
    expect((await get(undefined, false)).header?.get("vary")).toBe("accept-encoding");
  });

  it("with its own URLs where the cards are signed and nothing is listed", async () => {
    const baseUrls = baseUrlsOf(undefined);
    const urls = [false, true].map(async (signed) =>
      urlOf(await serveCatalog({ baseUrls, signed }).get("https://a.example")),
    );
    expect(await Promise.all(urls)).toEqual([
      "https://a.example/agents/first",
      "https://own.example/agents/first",
    ]);
  });

  it("with the date and the tag that it got when it last changed", async () => {
    const { clock, agents, get } = serveCatalog();
    const tagsOf = ({ header }: HttpResponse) => [header?.get("etag"), header?.get("last-modified")];
    const first = tagsOf(await get());
    await clock.advance(5_000);
    expect(tagsOf(await get())).toEqual(first);
    agents[0].cards.card = card("first"); // another object that says the same
    expect(tagsOf(await get())).toEqual(first);
    agents[1].cards.card = card("third");
    const [etag, modified] = tagsOf(await get());
    expect(etag).not.toBe(first[0]);
    expect(Date.parse(modified ?? "")).toBe(Date.parse(first[1] ?? "") + 5_000);
  });

  it("without being made anew for each request", async () => {
    const { agents, get } = serveCatalog();
    for (let n = 0; n < 3; n += 1) await get();
    expect(agents.map(({ listings }) => listings)).toEqual([1, 1]);
  });
});

function baseUrlsOf(forwardedHosts: readonly string[] | undefined) {
  const baseUrls = createBaseUrls({ forwardedHosts, log: () => {} });
  baseUrls.moveTo("https://own.example");
  return baseUrls;
}

function urlOf({ body }: HttpResponse): string {
  const text =
    body instanceof Uint8Array ? new TextDecoder().decode(body) : expect.unreachable("it has bytes");
  return JSON.parse(text).entries[0].identifier;
}
