import { describe, expect, it } from "vitest";
import { agentFetch, type FetchOptions } from "./agent-fetch.ts";

/** A fetch that answers with its own name. */
const named =
  (name: string): typeof fetch =>
  async () =>
    new Response(name);
const nameOf = async (options: FetchOptions, card: string | undefined, url: string) =>
  await (await agentFetch(options, card)(url)).text();

const platform = { fetch: named("platform"), guardedFetch: named("guard") };
const far = "https://clerk.example/rpc";

describe("the fetch for what a card names", () => {
  for (const [options, card, url, name] of [
    [{ fetch: named("own"), platform }, far, far, "own"],
    [{ platform }, far, far, "platform"],
    [{ platform, untrusted: true }, far, far, "guard"],
    [{ platform, untrusted: true }, undefined, "http://localhost:4000/rpc", "guard"],
    [{ platform, untrusted: true }, far, "http://127.0.0.1:4000/rpc", "guard"],
    [{ platform, untrusted: true }, "http://localhost:4000/", "http://127.0.0.1:4000/rpc", "platform"],
    [{ platform, untrusted: true }, "http://127.0.0.1/", "http://[::1]:4000/rpc", "platform"],
    [{ platform, untrusted: true }, "http://localhost:4000/", "http://192.168.1.4/rpc", "guard"],
    [{ platform, untrusted: true }, "http://localhost.example/", "http://localhost.example/rpc", "guard"],
  ] satisfies [FetchOptions, string | undefined, string, string][]) {
    it(`is the ${name}'s for ${url} of a card at ${card}${options.untrusted ? ", untrusted" : ""}`, async () => {
      expect(await nameOf(options, card, url)).toBe(name);
    });
  }

  it("sees the address of a request as well", async () => {
    const fetch = agentFetch({ platform, untrusted: true }, "http://localhost/");
    expect(await (await fetch(new Request("http://localhost/x"))).text()).toBe("platform");
    expect(await (await fetch(new Request(far))).text()).toBe("guard");
  });

  it("is not to be had untrusted without a guard", () => {
    expect(() => agentFetch({ untrusted: true }, far)).toThrow(/guard/);
  });

  it("is not to be had untrusted with the caller's own, for which no guard can vouch", () => {
    for (const card of [far, "http://localhost:4000/", undefined]) {
      expect(() => agentFetch({ fetch: named("own"), platform, untrusted: true }, card)).toThrow(
        /cannot be combined with a `fetch` of your own/,
      );
    }
  });
});
