import { listen, serve } from "@a2a-connect/node";
import { createMemoryTaskStore, defineAgent } from "@a2a-connect/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createInspectHandler } from "./inspect-handler.ts";

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
      readCard: async () => (await fetch(cardUrl)).text(),
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
