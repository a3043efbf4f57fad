import { listen, serve } from "@a2a-connect/node";
import { A2AService } from "@a2a-connect/proto";
import { createMemoryTaskStore, defineAgent } from "@a2a-connect/server";
import { createRouterTransport } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { plainCard } from "../../test-support/sick-server.ts";
import { createInspectHandler, type InspectedAgent } from "./inspect-handler.ts";

const agent = defineAgent({
  card: { name: `Agent"><script>` },
  async *execute(turn) {
    yield turn.artifact({ text: turn.text });
  },
});

describe("what a2a inspect serves", () => {
  let base: string;
  let agentUrl: string;
  const stack = new AsyncDisposableStack();
  beforeAll(async () => {
    const served = stack.use(await serve(agent, { store: createMemoryTaskStore(), cors: false }));
    agentUrl = served.url;
    const cardUrl = new URL(`${served.url}/.well-known/agent-card.json`);
    const inspected = {
      name: served.card.name,
      cardUrl,
      card: await (await fetch(cardUrl)).text(),
      fetch,
      guardedFetch: () => Promise.reject(new Error("no other server is to be called")),
      openGrpc: () => {
        throw new Error("gRPC is tried in test/browser");
      },
    };
    const page = { html: "<head><title>Page</title></head>", files: new Map() };
    const listener = stack.use(await listen(createInspectHandler([inspected], async () => page)));
    base = `${listener.url}/agents/0`;
  });
  afterAll(() => stack.disposeAsync());

  const forwarded = (path: string, origin = agentUrl): string =>
    `${base}/forward/${encodeURIComponent(origin)}${path}`;
  const asPage = { origin: "", "sec-fetch-site": "same-origin", "sec-fetch-dest": "empty" };

  it("is the page, which knows where calls are forwarded, and the agent's own card", async () => {
    const page = await fetch(`${base}/`, { headers: { accept: "text/html" } });
    const html = await page.text();
    expect(html).toContain('<meta name="a2a-forward" content="forward/">');
    expect(html).not.toContain("<script>");
    const card = await (await fetch(`${base}/.well-known/agent-card.json`)).text();
    expect(card).toBe(await (await fetch(`${agentUrl}/.well-known/agent-card.json`)).text());
  });

  it("forwards calls with their headers and bodies, and streams the answers", async () => {
    const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "through" }] };
    const response = await fetch(forwarded("/rest/message:stream"), {
      method: "POST",
      headers: {
        ...asPage,
        origin: new URL(base).origin,
        "a2a-version": "1.0",
        "content-type": "application/json",
      },
      body: JSON.stringify({ message }),
    });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(response.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
    expect(await response.text()).toContain("through");
  });

  it.each<[what: string, url: () => string, headers: Record<string, string>]>([
    ["calls of other sites' pages", () => forwarded("/healthz"), { origin: "https://evil.example" }],
    ["requests that other sites cause", () => forwarded("/healthz"), { "sec-fetch-site": "cross-site" }],
    ["an answer that is opened as a page", () => forwarded("/healthz"), { "sec-fetch-dest": "document" }],
    ["servers that the card does not name", () => forwarded("/", "http://192.0.2.1"), {}],
    ["other ports of the agent's machine", () => forwarded("/", "http://localhost:1"), {}],
  ])("refuses %s", async (_, url, headers) => {
    expect((await fetch(url(), { headers })).status).toBe(403);
  });
});

describe("an agent that means harm to a2a inspect", () => {
  const cardUrl = new URL("http://agent.example/.well-known/agent-card.json");
  const interfaces = [
    { url: "http://agent.example", protocolBinding: "GRPC", protocolVersion: "1.0" },
    ...Array.from({ length: 5_000 }, (_, index) => ({
      ...{ url: `http://h${index}.example`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
    })),
  ];
  const card = JSON.stringify({ ...plainCard, supportedInterfaces: interfaces });
  const inspect = async (agent: Partial<InspectedAgent>, stack: AsyncDisposableStack): Promise<string> => {
    const openGrpc = (): never => {
      throw new Error("it has no gRPC");
    };
    const inspected = { name: "Agent", card, cardUrl, fetch, guardedFetch: fetch, openGrpc, ...agent };
    const listener = stack.use(await listen(createInspectHandler([inspected], async () => undefined)));
    return `${listener.url}/agents/0`;
  };

  it("cannot fill the memory with a card that does not end", async () => {
    await using stack = new AsyncDisposableStack();
    let sent = 0;
    const pull = (controller: ReadableStreamDefaultController): void => {
      sent += 2 ** 16;
      if (sent > 2 ** 23) controller.close();
      else controller.enqueue(new Uint8Array(2 ** 16).fill(0x20));
    };
    const endless = async () => new Response(new ReadableStream({ pull }));
    const base = await inspect({ fetch: endless }, stack);
    const response = await fetch(`${base}/.well-known/agent-card.json`);
    expect([response.status, await response.text()]).toEqual([502, expect.stringContaining("1048576 bytes")]);
    expect(sent).toBeLessThan(2 ** 21);
  });

  it("is not followed to another server for its card", async () => {
    await using stack = new AsyncDisposableStack();
    const asked: unknown[] = [];
    const moved: typeof fetch = async (url, init) => {
      asked.push([String(url), init?.redirect]);
      return new Response("{}", { status: 302, headers: { location: "http://127.0.0.1:1/" } });
    };
    const base = await inspect({ fetch: moved }, stack);
    expect(await (await fetch(`${base}/.well-known/agent-card.json`)).text()).toBe(card);
    expect(asked).toEqual([[cardUrl.href, "manual"]]);
  });

  it("has its card read once, however many calls there are", async () => {
    await using stack = new AsyncDisposableStack();
    const base = await inspect({ guardedFetch: async () => new Response("{}") }, stack);
    const parse = vi.spyOn(JSON, "parse");
    for (let call = 0; call < 5; call++) {
      const response = await fetch(`${base}/forward/${encodeURIComponent("http://h4999.example")}/`);
      expect(response.status).toBe(200);
    }
    expect(parse.mock.calls.filter(([text]) => text === card)).toEqual([]);
    parse.mockRestore();
  });

  it("sets no cookies for this machine over gRPC", async () => {
    await using stack = new AsyncDisposableStack();
    const openGrpc = () =>
      createRouterTransport(({ service }) =>
        service(A2AService, {
          getTask: (_, { responseHeader, responseTrailer }) => {
            responseHeader.set("set-cookie", "session=theirs");
            responseHeader.set("x-agent", "agent");
            responseTrailer.set("clear-site-data", "*");
            return { id: "t" };
          },
        }),
      );
    const base = await inspect({ openGrpc }, stack);
    const response = await fetch(`${base}/grpc/lf.a2a.v1.A2AService/GetTask`, {
      method: "POST",
      headers: { "content-type": "application/grpc-web+proto" },
      body: new Uint8Array(5),
    });
    expect(response.headers.get("x-agent")).toBe("agent");
    expect(response.headers.get("set-cookie")).toBeNull();
    expect(await response.text()).not.toContain("clear-site-data");
  });
});
