// What a page of another site may do to an agent on localhost: nothing. By its own name it is refused for its origin, by a
// name of its own that it has pointed at this machine (DNS rebinding) for its host.
import { type AgentDefinition, createMemoryTaskStore } from "@a2a-connect/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { get, httpVersions } from "../test-support/get.ts";
import { echo } from "../test-support/handlers.ts";
import { openRawConnection } from "../test-support/raw-connection.ts";
import { listen } from "./port/listen.ts";
import { serve } from "./serve.ts";
import type { ServeAgentsOptions, ServeOptions } from "./serve-options.ts";

const agent: AgentDefinition = { card: { name: "Agent" }, execute: () => [] };

type Options = Pick<
  ServeOptions,
  "allowedHosts" | "cors" | "forwardedHosts" | "host" | "open" | "publicUrl" | "trustedProxies"
>;

/** The agent, on a port of its own, by a URL of this machine. */
async function start(options: Options = {}): Promise<string> {
  const served = await serve(agent, { store: createMemoryTaskStore(), ...options });
  onTestFinished(() => served.close({ graceMs: 0 }));
  return `http://127.0.0.1:${served.port}`;
}

async function statusOf(url: string, headers: Record<string, string>, method = "GET"): Promise<number> {
  const { status } = await get(url, { method, headers: { "a2a-version": "1.0", ...headers } });
  return status;
}

const foreign = "http://evil.example";

/** Every kind of path, called as it is. */
const calls: readonly (readonly [path: string, method: string, headers: Record<string, string>])[] = [
  ["/", "GET", {}],
  ["/healthz", "GET", {}],
  ["/.well-known/agent-card.json", "GET", {}],
  ["/openapi.json", "GET", {}],
  ["/nothing/here", "GET", {}],
  ["/rest/tasks", "GET", {}],
  ["/rest/tasks/t:subscribe", "GET", { accept: "text/event-stream" }],
  ["/rest/tasks/t/pushNotificationConfigs/c", "DELETE", {}],
  ["/rest/message:send", "POST", { "content-type": "application/json" }],
  ["/rpc", "POST", { "content-type": "application/json" }],
];

const rpcPath = "/lf.a2a.v1.A2AService/ListTasks";

describe("bound to this machine", () => {
  for (const [path, method, headers] of calls) {
    it(`refuses ${method} ${path} for its host and for its origin`, async () => {
      const url = (await start()) + path;
      const misdirected = await get(url, { method, headers: { ...headers, host: "evil.example:4000" } });
      expect(misdirected.status).toBe(421);
      expect(JSON.parse(misdirected.body.toString())).toMatchObject({
        error: {
          code: 421,
          status: "PERMISSION_DENIED",
          message: expect.stringMatching(/"evil\.example".*"allowedHosts"/),
        },
      });
      const crossing = await get(url, { method, headers: { ...headers, origin: foreign } });
      expect(crossing.status).toBe(403);
      expect(crossing.headers["access-control-allow-origin"]).toBeUndefined();
      expect(JSON.parse(crossing.body.toString())).toMatchObject({
        error: { code: 403, status: "PERMISSION_DENIED", message: expect.stringContaining('"cors"') },
      });
    });
  }

  for (const [contentType, version] of [
    ["application/grpc", "h2"],
    ["application/grpc-web+proto", "HTTP/1.1"],
  ] as const) {
    it(`says so in the words of ${contentType}`, async () => {
      const url = (await start()) + rpcPath;
      for (const [headers, option] of [
        [{ host: "evil.example" }, "allowedHosts"],
        [{ origin: foreign }, "cors"],
      ] as const) {
        const answer = await get(url, {
          version,
          method: "POST",
          headers: { "content-type": contentType, ...headers },
        });
        expect(answer).toMatchObject({ status: 200, headers: { "grpc-status": "7" } });
        expect(decodeURIComponent(String(answer.headers["grpc-message"]))).toContain(`"${option}"`);
      }
    });
  }

  it("says so in the words of Connect", async () => {
    const url = (await start()) + rpcPath;
    const headers = { "content-type": "application/proto", "connect-protocol-version": "1" };
    const answer = await get(url, { method: "POST", headers: { ...headers, host: "evil.example" } });
    expect(answer.status).toBe(421);
    expect(JSON.parse(answer.body.toString())).toEqual({
      code: "permission_denied",
      message: expect.stringContaining('"allowedHosts"'),
    });
  });

  it("refuses before any of the body is there", async () => {
    const { port } = new URL(await start());
    using connection = await openRawConnection(Number(port));
    await connection.write(
      "POST /rpc HTTP/1.1\r\nHost: evil.example\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n",
    );
    expect(await connection.until("allowedHosts")).toMatch(/^HTTP\/1\.1 421 /);
  });

  it.each<[why: string, status: number, headers: Record<string, string>]>([
    ["no page at all", 200, {}],
    ["localhost, any port", 200, { host: "localhost:1" }],
    ["a name below localhost", 200, { host: "agent.localhost" }],
    ["another address of this machine", 200, { host: "127.9.9.9" }],
    ["IPv6", 200, { host: "[::1]:4000" }],
    ["an address that is not only this machine", 421, { host: "0.0.0.0" }],
    ["an address of the network", 421, { host: "192.168.0.7" }],
    ["a name that begins like localhost", 421, { host: "localhost.evil.example" }],
    ["a page of this machine", 200, { origin: "http://localhost:5173" }],
    ["a page of this machine by https", 200, { origin: "https://127.0.0.1:5173" }],
    ["a page without an origin of its own", 403, { origin: "null" }],
    ["a page that begins like localhost", 403, { origin: "http://localhost.evil.example" }],
    ["an image in a foreign page", 403, { "sec-fetch-site": "cross-site", "sec-fetch-dest": "image" }],
    ["a link in a foreign page", 200, { "sec-fetch-site": "cross-site", "sec-fetch-dest": "document" }],
    ["an image in a page of its own", 200, { "sec-fetch-site": "same-origin", "sec-fetch-dest": "image" }],
  ])("%s: %i", async (_, status, headers) => {
    expect(await statusOf(`${await start()}/rest/tasks`, headers)).toBe(status);
  });

  it.each(httpVersions)("looks at the authority of each request over %s", async (version) => {
    const url = `${await start()}/healthz`;
    const statuses: number[] = [];
    for (const host of ["localhost", "evil.example", "localhost", "evil.example"]) {
      statuses.push((await get(url, { version, headers: { host } })).status);
    }
    expect(statuses).toEqual([200, 421, 200, 421]);
  });

  it("lets pages of this machine read, and tells them so before they call", async () => {
    const url = await start();
    const origin = "http://localhost:5173";
    const preflight = { origin, "access-control-request-method": "POST" };
    const asked = await get(`${url}/rpc`, { method: "OPTIONS", headers: preflight });
    expect(asked).toMatchObject({ status: 204, headers: { "access-control-allow-origin": "*" } });
    const read = await get(`${url}/healthz`, { headers: { origin } });
    expect(read.headers["access-control-allow-origin"]).toBe("*");
    const refused = { ...preflight, origin: foreign };
    expect(await statusOf(`${url}/rpc`, refused, "OPTIONS")).toBe(403);
  });

  it("lets pages send the API key that the card asks for, of one agent and of several", async () => {
    const scheme = {
      case: "apiKeySecurityScheme",
      value: { name: "X-Api-Key", location: "header" },
    } as const;
    const secured = { ...agent, card: { ...agent.card, securitySchemes: { key: { scheme } } } };
    const several = await serve({ secured: { agent: secured, store: createMemoryTaskStore() } });
    const one = await serve(secured, { store: createMemoryTaskStore() });
    for (const served of [one, several]) {
      onTestFinished(() => served.close({ graceMs: 0 }));
      const headers = { origin: "http://localhost:5173", "access-control-request-method": "POST" };
      const asked = await get(`${served.url}/rpc`, { method: "OPTIONS", headers });
      expect(asked.headers["access-control-allow-headers"]?.toString().split(", ")).toContain("X-Api-Key");
    }
  });

  it("guards several agents as one", async () => {
    const options: ServeAgentsOptions = { directory: "", allowedHosts: ["agents.internal"] };
    const one = { agent, store: createMemoryTaskStore() };
    const served = await serve({ one }, options);
    onTestFinished(() => served.close({ graceMs: 0 }));
    for (const path of ["/", "/agents/one/", "/agents/one/rest/tasks", "/agents/nobody/"]) {
      const url = `http://127.0.0.1:${served.port}${path}`;
      expect(await statusOf(url, { host: "evil.example" })).toBe(421);
      expect(await statusOf(url, { origin: foreign })).toBe(403);
      expect([200, 404]).toContain(await statusOf(url, { host: "agents.internal" }));
    }
  });
});

describe("opened by an option", () => {
  const trusting = { trustedProxies: ["loopback"] };
  const told = {
    "x-forwarded-proto": "https",
    "x-forwarded-host": "public.example",
    host: "evil.example",
  };

  it.each<[why: string, status: number, headers: Record<string, string>, options: Options]>([
    ["a listed host", 200, { host: "agent.internal:80" }, { allowedHosts: ["Agent.Internal"] }],
    ["its pages", 200, { origin: "http://agent.internal" }, { allowedHosts: ["agent.internal"] }],
    ["a name below a listed domain", 200, { host: "a.b.internal" }, { allowedHosts: ["*.internal"] }],
    ["the listed domain itself", 421, { host: "internal" }, { allowedHosts: ["*.internal"] }],
    ["every host", 200, { host: "evil.example" }, { allowedHosts: ["*"] }],
    ["the public URL", 200, { host: "a.example" }, { publicUrl: "https://a.example/x" }],
    ["pages of the public URL", 200, { origin: "https://a.example" }, { publicUrl: "https://a.example" }],
    ["a listed origin", 200, { origin: foreign }, { cors: { origins: [foreign] } }],
    ["an origin that is not listed", 403, { origin: "http://x.example" }, { cors: { origins: [foreign] } }],
    [
      "a loopback origin that is not listed",
      403,
      { origin: "http://localhost:1" },
      { cors: { origins: [] } },
    ],
    ["every origin", 200, { origin: "null" }, { cors: { origins: ["*"] } }],
    [
      "a page of the server itself",
      200,
      { host: "localhost:1", origin: "http://localhost:1" },
      { cors: false },
    ],
    ["another page, without CORS", 403, { origin: "http://localhost:1" }, { cors: false }],
    ["what a trusted proxy forwards", 200, told, trusting],
    [
      "a page of what a trusted proxy forwards",
      200,
      { ...told, origin: "https://public.example" },
      { ...trusting, cors: false },
    ],
    ["what another forwards", 421, told, { trustedProxies: ["192.0.2.1"] }],
    ["what a trusted proxy may not forward", 421, told, { ...trusting, forwardedHosts: ["other.example"] }],
  ])("%s: %i", async (_, status, headers, options) => {
    expect(await statusOf(`${await start(options)}/rest/tasks`, headers)).toBe(status);
  });

  it.each(["http://a.example", "a.example:80", "a.example/x", "", "a b"])(
    "takes no host that is none: %j",
    async (entry) => {
      const starting = serve(agent, { store: createMemoryTaskStore(), allowedHosts: [entry] });
      await expect(starting).rejects.toThrow(/allowedHosts/);
    },
  );
});

describe("bound to the network", () => {
  it.each<[why: string, status: number, headers: Record<string, string>, options: Options]>([
    ["any host", 200, { host: "agents.example" }, {}],
    ["any page", 200, { origin: foreign }, {}],
    ["any host, against the card", 200, { host: "10.0.0.1" }, { publicUrl: "https://a.example" }],
    ["listed hosts only, when some are", 421, { host: "b.example" }, { allowedHosts: ["a.example"] }],
    ["its probes on this machine", 200, { host: "localhost" }, { allowedHosts: ["a.example"] }],
    ["pages that are not listed, which cannot read", 200, { origin: foreign }, { cors: { origins: [] } }],
  ])("%s: %i", async (_, status, headers, options) => {
    expect(
      await statusOf(`${await start({ host: "0.0.0.0", open: true, ...options })}/rest/tasks`, headers),
    ).toBe(status);
  });
});

it("says of each request whether only this machine can have sent it", async () => {
  const seen: (boolean | undefined)[] = [];
  for (const host of ["localhost", "127.0.0.2", "::1", "0.0.0.0"]) {
    await using listener = await listen(
      (request) => {
        seen.push(request.boundToLoopback);
        return echo(request);
      },
      { host },
    );
    await get(host === "127.0.0.2" ? `http://127.0.0.2:${listener.port}` : listener.url);
  }
  expect(seen).toEqual([true, true, true, false]);
});
