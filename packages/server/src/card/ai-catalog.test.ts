import type { HttpResponse } from "@a2a-connect/bindings";
import { AgentCardSchema } from "@a2a-connect/proto";
import { createFakeClock } from "@a2a-connect/testing";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { type CatalogHost, createCatalogHandler, formatCatalog } from "./ai-catalog.ts";

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
        card: card(`${index}`, organization),
        url: `https://a.example:8080/agents/${index}`,
      }));
      expect(JSON.parse(formatCatalog(agents, host)).host.displayName).toBe(expected);
    });
  }
});

describe("an entry of a catalog", () => {
  it("has each tag of the agent's skills once, in order, and no list when there are none", () => {
    const skills = [["b", "a"], ["a", "c"], []].map((tags, id) => ({ id: `${id}`, tags }));
    const agents = [create(AgentCardSchema, { name: "tagged", skills }), card("plain")].map((card) => ({
      card,
      url: "https://a.example",
    }));
    const { entries } = JSON.parse(formatCatalog(agents, undefined));
    expect(entries[0].tags).toEqual(["b", "a", "c"]);
    expect(entries[1]).not.toHaveProperty("tags");
  });
});

describe("a catalog is served", () => {
  function serveCatalog() {
    const clock = createFakeClock();
    const cards = [card("first")];
    const handler = createCatalogHandler({
      agentsAt: (baseUrl) => cards.map((card) => ({ card, url: `${baseUrl}/agents/${card.name}` })),
      baseUrl: () => "https://own.example",
      dependsOn: (forwardedUrl) => forwardedUrl?.includes("known.example") === true,
      host: undefined,
      maxAgeSeconds: 60,
      clock,
    });
    const get = (forwardedUrl?: string): Promise<HttpResponse> =>
      handler({
        httpVersion: "1.1",
        url: "http://localhost/.well-known/ai-catalog.json",
        method: "GET",
        header: new Headers(),
        body: { async *[Symbol.asyncIterator]() {} },
        signal: new AbortController().signal,
        forwardedUrl,
      });
    return { clock, cards, get };
  }

  it("with URLs by which its callers reach it, where a trusted proxy tells", async () => {
    const { get } = serveCatalog();
    const seen = await Promise.all([undefined, "https://known.example/a2a", "https://evil.example"].map(get));
    expect(seen.map(urlOf)).toEqual([
      "https://own.example/agents/first",
      "https://known.example/a2a/agents/first",
      "https://own.example/agents/first",
    ]);
    expect(seen.map(({ header }) => header?.get("vary")?.includes("x-forwarded-host"))).toEqual([
      false,
      true,
      false,
    ]);
  });

  it("with the date and the tag that it got when it last changed", async () => {
    const { clock, cards, get } = serveCatalog();
    const tagsOf = ({ header }: HttpResponse) => [header?.get("etag"), header?.get("last-modified")];
    const first = tagsOf(await get());
    await clock.advance(5_000);
    expect(tagsOf(await get())).toEqual(first);
    cards[0] = card("first"); // another object that says the same
    expect(tagsOf(await get())).toEqual(first);
    cards.push(card("second"));
    const [etag, modified] = tagsOf(await get());
    expect(etag).not.toBe(first[0]);
    expect(Date.parse(modified ?? "")).toBe(Date.parse(first[1] ?? "") + 5_000);
  });
});

function urlOf({ body }: HttpResponse): string {
  const text =
    body instanceof Uint8Array ? new TextDecoder().decode(body) : expect.unreachable("it has bytes");
  return JSON.parse(text).entries[0].identifier;
}
