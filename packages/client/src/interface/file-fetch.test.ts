import { describe, expect, it } from "vitest";
import type { FetchOptions } from "./agent-fetch.ts";
import { fileFetch } from "./file-fetch.ts";

const here = "http://localhost:4000";
const there = "https://files.example";

/** Two fetches that answer by this map, whose redirects begin with `->`, and note who was asked for what. */
function createWeb(pages: Readonly<Record<string, string>>) {
  const asked: string[] = [];
  const named =
    (name: string): typeof fetch =>
    async (input, init) => {
      const url = String(input);
      asked.push(`${name} ${url}`);
      expect(init?.redirect).toBe("manual");
      const page = pages[url] ?? "";
      return page.startsWith("->")
        ? new Response("moved", { status: 307, headers: { location: page.slice(2) } })
        : new Response(page);
    };
  const options: FetchOptions = {
    untrusted: true,
    platform: { fetch: named("plain"), guardedFetch: named("guard") },
  };
  return { asked, options };
}

const textOf = async (fetch: typeof globalThis.fetch, url: string) => await (await fetch(url)).text();

describe("the fetch for files that an agent names", () => {
  it("keeps to the guard once a redirect has left the origin, also on the way back", async () => {
    const { asked, options } = createWeb({
      [`${here}/a`]: "->/b",
      [`${here}/b`]: `->${there}/c`,
      [`${there}/c`]: `->${here}/d`,
      [`${here}/d`]: "content",
    });
    expect(await textOf(fileFetch(options, here), `${here}/a`)).toBe("content");
    expect(asked).toEqual([`plain ${here}/a`, `plain ${here}/b`, `guard ${there}/c`, `guard ${here}/d`]);
  });

  it("takes the guard for another port of this machine, too", async () => {
    const { asked, options } = createWeb({ [`${here}/a`]: "->http://localhost:9200/" });
    await textOf(fileFetch(options, here), `${here}/a`);
    expect(asked).toEqual([`plain ${here}/a`, "guard http://localhost:9200/"]);
  });

  it("takes no guard where the agent is trusted", async () => {
    const { asked, options } = createWeb({ [`${here}/a`]: `->${there}/b`, [`${there}/b`]: "content" });
    expect(await textOf(fileFetch({ ...options, untrusted: false }, here), `${here}/a`)).toBe("content");
    expect(asked).toEqual([`plain ${here}/a`, `plain ${there}/b`]);
  });

  it("is never the caller's own, whose credentials are for the agent", async () => {
    const { asked, options } = createWeb({ [`${there}/a`]: "content" });
    const own = () => Promise.reject(new Error("with credentials"));
    const fetch = fileFetch({ ...options, untrusted: false, fetch: own }, here);
    expect(await textOf(fetch, `${there}/a`)).toBe("content");
    expect(asked).toEqual([`plain ${there}/a`]);
  });

  it("passes on what it is told, at each hop", async () => {
    const signals: unknown[] = [];
    const fetch = fileFetch(
      {
        platform: {
          fetch: async (input, init) => {
            signals.push(init?.signal);
            return String(input).endsWith("/a")
              ? new Response(null, { status: 302, headers: { location: "b" } })
              : new Response();
          },
        },
      },
      here,
    );
    const { signal } = new AbortController();
    await fetch(`${there}/a`, { signal });
    expect(signals).toEqual([signal, signal]);
  });

  for (const [what, location, says] of [
    ["in a circle", "/a", /more than 3 times/],
    ["to a file of this machine", "file:///etc/passwd", /no http or https URL/],
    ["to what is no address", "http://", /no http or https URL/],
  ] as const) {
    it(`rejects what redirects ${what}`, async () => {
      const { asked, options } = createWeb({ [`${here}/a`]: `->${location}` });
      await expect(fileFetch(options, here)(`${here}/a`)).rejects.toThrow(says);
      expect(asked.length).toBeLessThanOrEqual(4);
    });
  }

  it("lets a browser follow what it keeps to itself, unless the agent is not trusted", async () => {
    const followed: (string | undefined)[] = [];
    const browser: typeof fetch = async (_, init) => {
      followed.push(init?.redirect);
      const response = new Response("content");
      return init?.redirect === "manual"
        ? Object.defineProperty(response, "type", { value: "opaqueredirect" })
        : response;
    };
    const platform = { fetch: browser, guardedFetch: browser };
    expect(await textOf(fileFetch({ platform }, there), `${there}/a`)).toBe("content");
    expect(followed).toEqual(["manual", "follow"]);
    await expect(fileFetch({ platform, untrusted: true }, there)(`${there}/a`)).rejects.toThrow(/redirects/);
  });
});
