import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, request as startRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { apiKey } from "@a2a-connect/auth";
import { type AgentServerOptions, createAgentServer, defineAgent, type LogRecord } from "@a2a-connect/server";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type NodeHandlerOptions, toNodeHandler } from "./node-handler.ts";
import { loopTurns } from "./port/callers/loop-turns.ts";

const agent = defineAgent({
  card: { name: "Echo" },
  async *execute(turn) {
    if (turn.text !== "wait") return yield turn.reply(turn.text);
    yield turn.working("waiting");
    await once(turn.signal, "abort");
  },
});

const open: Server[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close().closeAllConnections();
});

/** Listens, and removes what `remove` names as Express does. */
async function mount(
  options: NodeHandlerOptions = {},
  given: Partial<AgentServerOptions> = {},
  before: (message: IncomingMessage) => Promise<void> | void = () => {},
) {
  const log: LogRecord[] = [];
  const server = createAgentServer({ agent, log: (record) => log.push(record), ...given });
  const handler = toNodeHandler(server, options);
  const http = createServer(async (message, response) => {
    await before(message);
    handler(message, response);
  });
  open.push(http);
  await once(http.listen(0, "127.0.0.1"), "listening");
  const { port } = http.address() as AddressInfo; // it listens on TCP
  return { server, log, port, url: `http://127.0.0.1:${port}` };
}

/** With any fields: `fetch` sets `Host` itself. */
async function get(port: number, path: string, headers: Record<string, string> = {}) {
  const call = startRequest({ host: "127.0.0.1", port, path, headers }).end();
  const [response] = (await once(call, "response")) as [IncomingMessage]; // what http emits
  const text = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode, text };
}

const cardPath = "/.well-known/agent-card.json";

function interfacesOf(text: string): readonly string[] {
  const { supportedInterfaces } = JSON.parse(text) as { supportedInterfaces: { url: string }[] }; // a card
  return supportedInterfaces.map(({ url }) => url);
}

function send(url: string, text: string, method = "SendMessage"): Promise<Response> {
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] };
  return fetch(`${url}/rpc`, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { message } }),
  });
}

describe("toNodeHandler", () => {
  it.each([
    ["its path", { path: "/agents/a/" }, () => {}],
    [
      "what a framework has removed",
      {},
      (message: IncomingMessage) => {
        const { url = "" } = message;
        Object.assign(message, { originalUrl: url, url: url.slice("/agents/a".length) || "/" });
      },
    ],
  ] as const)("is at %s", async (_, options, before) => {
    const { port, url } = await mount(options, {}, before);
    const { text } = await get(port, `/agents/a${cardPath}`);
    for (const each of interfacesOf(text)) expect(each).toMatch(`${url}/agents/a`);
    expect((await get(port, "/agents/a")).status).toBe(200);
    expect(await (await send(`${url}/agents/a`, "hello")).json()).toHaveProperty(
      "result.message.parts.0.text",
      "hello",
    );
  });

  it("names the public URL, and no gRPC there either", async () => {
    const { port } = await mount({}, { publicUrl: "https://example.org/a2a" });
    const { text } = await get(port, cardPath);
    expect(new Set(interfacesOf(text))).toEqual(
      new Set(["/rpc", "/rest", ""].map((path) => `https://example.org/a2a${path}`)),
    );
  });

  it("names the URL that a trusted proxy tells, and the path of the mount", async () => {
    const { port } = await mount({ path: "/a2a", trustedProxies: ["loopback"], open: true });
    const headers = { "x-forwarded-proto": "https", "x-forwarded-host": "example.org" };
    const { text } = await get(port, `/a2a${cardPath}`, headers);
    expect(interfacesOf(text)[0]).toBe("https://example.org/a2a/rpc");
  });

  it.each([
    ["another host", { host: "agents.example.org" }],
    ["a host that an attacker's DNS points here", { host: "127.0.0.1.example.org" }],
    ["a forwarding field", { "x-forwarded-for": "127.0.0.1" }],
    ["the field of a proxy", { via: "1.1 proxy" }],
    ["another site's page", { origin: "https://example.org" }],
  ])("without a gate, refuses a request with %s", async (_, headers) => {
    const { port } = await mount();
    expect((await get(port, cardPath)).status).toBe(200);
    expect((await get(port, cardPath, headers)).status).toBe(403);
  });

  it("says in the log, once, what to add", async () => {
    const { port, log } = await mount();
    for (const via of ["a", "b"]) await get(port, cardPath, { via });
    expect(log.map(({ message }) => message)).toEqual([expect.stringContaining("open: true")]);
  });

  it("answers every host when it is open, or has a gate", async () => {
    const gate = apiKey({ header: "x-key", keys: {} });
    const headers = { host: "agents.example.org", via: "1.1 proxy" };
    for (const mounted of [mount({ open: true }), mount({}, { auth: { gates: { key: gate } } })]) {
      const { port } = await mounted;
      expect((await get(port, cardPath, headers)).status).toBe(200);
    }
  });

  it("tells callers of gRPC that there is none", async () => {
    const { url } = await mount();
    const response = await fetch(`${url}/lf.a2a.v1.A2AService/GetTask`, {
      method: "POST",
      headers: { "content-type": "application/grpc" },
      body: new Uint8Array(5),
    });
    expect(response.headers.get("grpc-status")).toBe("12");
  });

  it.each([
    ["rawBody", (text: string) => ({ rawBody: Buffer.from(text), body: {} })],
    ["a text", (text: string) => ({ body: text })],
    ["JSON", (text: string) => ({ body: JSON.parse(text) as unknown })],
  ])("takes a body that was read before from %s", async (_, made) => {
    const { url } = await mount({}, {}, async (message) => {
      Object.assign(message, made(Buffer.concat(await message.toArray()).toString()));
    });
    expect(await (await send(url, "read")).json()).toHaveProperty("result.message.parts.0.text", "read");
  });

  it("says in the log that a body is gone", async () => {
    const { url, log } = await mount({}, {}, async (message) => {
      await message.toArray();
    });
    expect((await send(url, "gone")).status).toBe(500);
    expect(log).toEqual([
      expect.objectContaining({
        error: expect.objectContaining({ message: expect.stringContaining("body") }),
      }),
    ]);
  });

  it("refuses a body that is too large", async () => {
    const { url } = await mount({}, { wires: { maxBodyBytes: 1_000 } });
    expect((await send(url, "x".repeat(2_000))).status).toBe(413);
  });

  it("shares the memory of bodies with mounts of the same limits", async () => {
    const limits = { maxTotalBodyBytes: 100_000 };
    const [first, second] = [await mount(limits), await mount(limits)];
    const other = await mount({ maxTotalBodyBytes: 100_001 });
    const headers = {
      "content-type": "application/json",
      "content-length": "60001",
      "a2a-version": "1.0",
    };
    const held = startRequest({ host: "127.0.0.1", port: first.port, path: "/rpc", method: "POST", headers });
    held.on("error", () => {}).write(" ".repeat(60_000));
    const reasonOf = async ({ url }: typeof first): Promise<unknown> =>
      (await (await send(url, "x".repeat(70_000))).json()).error?.data[0].reason;
    await expect.poll(() => reasonOf(second)).toBe("CAPACITY");
    expect(await reasonOf(other)).toBe(undefined);
    held.destroy();
    await expect.poll(() => reasonOf(second)).toBe(undefined);
  });

  it("ends a call when its caller goes away", async () => {
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    const { url } = await mount(
      {},
      {
        wires: {
          interceptors: [
            (next) => (call) => {
              call.signal.addEventListener("abort", () => resolve());
              return next(call);
            },
          ],
        },
      },
    );
    const response = await send(url, "wait", "SendStreamingMessage");
    await response.body?.cancel();
    await gone;
  });

  it("leaves turns of the event loop to new connections of the server around it, from its first request on", async () => {
    const { port } = await mount();
    const counted = vi.spyOn(loopTurns, "countConnection");
    const call = () => get(port, cardPath, { connection: "close" });
    await call();
    expect(counted).not.toHaveBeenCalled();
    for (let calls = 0; calls < 3; calls += 1) await call();
    expect(counted).toHaveBeenCalledTimes(3);
  });

  it("ends streams when the server has stopped", async () => {
    const { url, server } = await mount();
    const response = await send(url, "wait", "SendStreamingMessage");
    await server.stop(0);
    expect(await response.text()).toContain("data:");
    await server.close();
  });

  it("refuses a path that is none", () => {
    expect(() => toNodeHandler(createAgentServer({ agent }), { path: "a2a" })).toThrow('begins with "/"');
  });
});

it("answers 500 where what a middleware has made of a body is no JSON", async () => {
  const { url, log } = await mount({}, {}, async (message) => {
    await message.toArray();
    Object.assign(message, { body: { number: 1n } }); // as parsers do that keep large numbers
  });
  expect((await send(url, "hello")).status).toBe(500);
  expect(log).toMatchObject([{ message: "a mounted agent could not answer", error: expect.any(TypeError) }]);
});
