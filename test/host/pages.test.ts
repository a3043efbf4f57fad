// What several agents show at the root: their cards by name, the AI Catalog, health, and where to look for everything else.
import { type ServedAgents, serve } from "@a2a-connect/node";
import { Health, HealthCheckResponse_ServingStatus } from "@a2a-connect/proto/grpc/health/v1";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Name, namedAgent, names, serveBoth } from "./hosted-agents.ts";

const card = "/.well-known/agent-card.json";
const catalog = "/.well-known/ai-catalog.json";

let served: ServedAgents<Name>;
let withDefault: ServedAgents<Name>;
beforeAll(async () => {
  [served, withDefault] = await Promise.all([
    serveBoth(),
    serveBoth({
      default: "beta",
      publicUrl: "https://agents.example.org/a2a/",
      catalogHost: { displayName: "Example", identifier: "example.org" },
    }),
  ]);
});
afterAll(() => Promise.all([served, withDefault].map((each) => each.close({ graceMs: 0 }))));

const get = (path: string, init?: RequestInit) => fetch(served.url + path, init);
const getJson = async (path: string) => (await get(path)).json();

describe("the card of one of several agents", () => {
  it.each(names)("is below its path: %s", async (name) => {
    const { host } = new URL(served.url);
    expect(await getJson(`/agents/${name}${card}`)).toMatchObject({
      name,
      supportedInterfaces: [
        { protocolBinding: "JSONRPC", url: `${served.url}/agents/${name}/rpc` },
        { protocolBinding: "HTTP+JSON", url: `${served.url}/agents/${name}/rest` },
        { protocolBinding: "GRPC", url: host, tenant: name },
        { url: served.url, tenant: name },
        { url: served.url, tenant: name },
      ],
    });
  });

  it("names a tenant only where no path tells the agents apart (P-1)", async () => {
    const { supportedInterfaces } = await getJson(`/agents/alpha${card}`);
    expect(supportedInterfaces.map((each: object) => "tenant" in each)).toEqual([
      false,
      false,
      true,
      true,
      true,
    ]);
  });

  it("is nowhere at the root without a default, and the answer says where they are", async () => {
    const response = await get(card);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      error: {
        code: 404,
        message: expect.stringContaining(catalog),
        details: [
          {
            "@type": "type.googleapis.com/google.rpc.Help",
            links: [{ url: `/agents/alpha${card}` }, { url: `/agents/beta${card}` }],
          },
        ],
      },
    });
  });

  it("is at the root, too, for the default", async () => {
    const [root, own] = await Promise.all(
      [card, `/agents/beta${card}`].map((path) => fetch(withDefault.url + path)),
    );
    expect(root?.headers.get("etag")).toBe(own?.headers.get("etag"));
    const text = await own?.text();
    expect(await root?.text()).toBe(text);
    expect(text).toContain('"https://agents.example.org/a2a/agents/beta/rpc"');
  });
});

describe("the AI Catalog", () => {
  it("lists every agent with its card", async () => {
    const response = await get(catalog);
    expect(response.headers.get("content-type")).toBe("application/ai-catalog+json");
    expect(await response.json()).toEqual({
      specVersion: "1.0",
      host: { displayName: new URL(served.url).host },
      entries: names.map((name) => ({
        identifier: `${served.url}/agents/${name}`,
        displayName: name,
        type: "application/a2a-agent-card+json",
        mediaType: "application/a2a-agent-card+json",
        url: `${served.url}/agents/${name}${card}`,
        description: `Says "${name}".`,
        version: "1.2.3",
        tags: ["echo", name],
      })),
    });
  });

  it("leads to cards that are there", async () => {
    const { entries } = await getJson(catalog);
    const found = await Promise.all(
      entries.map(async ({ url }: { url: string }) => (await (await fetch(url)).json()).name),
    );
    expect(found).toEqual(names);
  });

  it("has the public URL and the host that were given", async () => {
    const { host, entries } = await (await fetch(withDefault.url + catalog)).json();
    expect(host).toEqual({ displayName: "Example", identifier: "example.org" });
    expect(entries[0].url).toBe(`https://agents.example.org/a2a/agents/alpha${card}`);
  });

  it("is kept by clients as long as a card, until an agent's card changes", async () => {
    const first = await get(catalog);
    const etag = first.headers.get("etag") ?? "";
    expect(first.headers.get("cache-control")).toBe("public, max-age=300");
    expect(first.headers.has("last-modified")).toBe(true);
    const again = await get(catalog, { headers: { "if-none-match": etag } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    served.agents.beta.skills.disable("say");
    const changed = await get(catalog, { headers: { "if-none-match": etag } });
    served.agents.beta.skills.enable("say");
    expect(changed.status).toBe(200);
    expect((await changed.json()).entries[1].version).toBe("1.2.3+off.say");
  });

  it("answers HEAD, and nothing but reading", async () => {
    const head = await get(catalog, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const post = await get(catalog, { method: "POST" });
    expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  it("of a server with one agent lists that, at the root", async () => {
    const provider = { organization: "Example", url: "https://example.org" };
    const agent = namedAgent("solo");
    await using one = await serve({ ...agent, card: { ...agent.card, provider } }, { file: ":memory:" });
    expect(await (await fetch(one.url + catalog)).json()).toMatchObject({
      host: { displayName: "Example" },
      entries: [{ identifier: one.url, displayName: "solo", url: one.url + card }],
    });
  });
});

describe("a path that leads nowhere", () => {
  it.each([
    "/agents",
    "/agents/",
    "/agents/gamma",
    `/agents/gamma${card}`,
    "/agents/__proto__/rpc",
    "/agents/constructor/rpc",
    "/agents/ALPHA/rpc",
    "/agents/%61lpha/rpc",
    "/agents//rpc",
    "/agents/alpha/nothing",
    "/agents/alpha.json",
    "/openapi.json",
    "/nothing",
  ])("is 404 in JSON: %s", async (path) => {
    for (const method of ["GET", "POST"]) {
      const response = await get(path, { method });
      expect([path, response.status]).toEqual([path, 404]);
      expect(await response.json()).toMatchObject({ error: { code: 404, status: "NOT_FOUND" } });
    }
  });

  it("says where to look instead", async () => {
    const messageAt = async (path: string) => (await getJson(path)).error.message;
    expect(await messageAt("/nothing")).toContain(catalog);
    expect(await messageAt("/agents/gamma/rpc")).toContain(catalog);
    expect(await messageAt("/agents/alpha/nothing")).toContain(`/agents/alpha${card}`);
  });

  it("is Unimplemented in gRPC", async () => {
    const headers = { "content-type": "application/grpc-web" };
    const response = await get("/agents/gamma/lf.a2a.v1.A2AService/GetTask", { method: "POST", headers });
    expect(response.headers.get("grpc-status")).toBe("12");
  });
});

describe("the health of several agents", () => {
  it("is one entry in gRPC", async () => {
    const transport = createGrpcTransport({ baseUrl: served.url });
    const { statuses } = await createClient(Health, transport).list({});
    const serving = { status: HealthCheckResponse_ServingStatus.SERVING };
    expect(statuses).toMatchObject({ "": serving, "lf.a2a.v1.A2AService": serving });
    expect(Object.keys(statuses)).toHaveLength(2);
  });

  it.each(["/healthz", "/readyz", "/agents/alpha/healthz", "/agents/beta/readyz"])(
    "is told at %s",
    async (path) => {
      expect((await get(path)).status).toBe(200);
    },
  );
});

describe("pages for people", () => {
  it("list the agents, each with a page of its own", async () => {
    const front = await (await get("/")).text();
    expect(front).toContain('<a href="agents/alpha/">alpha</a>');
    expect(front).toContain('rel="ai-catalog"');
    expect(front).toContain("Says &#34;beta&#34;.");
    const own = await get("/agents/alpha");
    expect(own.url).toBe(`${served.url}/agents/alpha/`);
    expect(await own.text()).toContain("<h1>alpha</h1>");
  });

  it("describe the HTTP+JSON interface of each agent", async () => {
    expect((await getJson("/agents/alpha/openapi.json")).servers[0].url).toBe(
      `${served.url}/agents/alpha/rest`,
    );
  });
});
