// What a page of another site can do, in a real browser, to an agent that is served on localhost.

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Listener, listen } from "@a2a-connect/node";
import {
  type AgentServer,
  type AgentServerOptions,
  createAgentServer,
  defineAgent,
} from "@a2a-connect/server";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { inChromium, launchChromium } from "./launch-chromium.ts";

const foreignHost = "evil.example";

/** What a page tries, at a base URL: the name of each try, and what the page got to see of it. */
async function attack(agentUrl: string): Promise<Record<string, string>> {
  const version = { "a2a-version": "1.0" };
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "from a page" }] };
  const body = JSON.stringify({ message });
  const call = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } });
  const json = { "content-type": "application/json" };
  const rpc = `${agentUrl}/lf.a2a.v1.A2AService`;
  const configs = `${agentUrl}/rest/tasks/t/pushNotificationConfigs/c`;
  const tries: Record<string, [url: string, init: RequestInit]> = {
    "reads the card": [`${agentUrl}/.well-known/agent-card.json`, {}],
    "reads the front page": [`${agentUrl}/`, {}],
    "reads tasks": [`${agentUrl}/rest/tasks?A2A-Version=1.0`, {}],
    "reads tasks with headers": [`${agentUrl}/rest/tasks`, { headers: version }],
    "asks without CORS": [`${agentUrl}/rest/tasks?A2A-Version=1.0`, { mode: "no-cors" }],
    "sends over HTTP+JSON": [
      `${agentUrl}/rest/message:send`,
      { method: "POST", headers: { ...json, ...version }, body },
    ],
    "sends over JSON-RPC": [
      `${agentUrl}/rpc`,
      { method: "POST", headers: { ...json, ...version }, body: call },
    ],
    "sends over Connect": [
      `${rpc}/SendMessage`,
      { method: "POST", headers: { ...json, ...version, "connect-protocol-version": "1" }, body },
    ],
    "sends over gRPC-Web": [
      `${rpc}/SendMessage`,
      {
        method: "POST",
        headers: { "content-type": "application/grpc-web+json", ...version },
        body: "\0\0\0\0\0",
      },
    ],
    "sends without CORS": [
      `${agentUrl}/rpc?A2A-Version=1.0`,
      { method: "POST", mode: "no-cors", headers: { "content-type": "text/plain" }, body: call },
    ],
    deletes: [configs, { method: "DELETE", headers: version }],
  };
  const seen: Record<string, string> = {};
  for (const [name, [url, init]] of Object.entries(tries)) {
    seen[name] = await fetch(url, init).then(
      (response) => (response.type === "opaque" ? "opaque" : String(response.status)),
      () => "failed",
    );
  }
  seen["subscribes"] = await new Promise((resolve) => {
    const source = new EventSource(`${agentUrl}/rest/tasks/t:subscribe?A2A-Version=1.0`);
    const end = (how: string) => () => {
      source.close();
      resolve(how);
    };
    source.onopen = end("opened");
    source.onerror = end("failed");
  });
  return seen;
}

describe("an agent on localhost, and a page", inChromium, () => {
  const turns: string[] = [];
  const agent = defineAgent({
    card: { name: "Local" },
    async *execute(turn) {
      turns.push(turn.text);
      yield turn.artifact({ text: turn.text });
    },
  });
  let server: AgentServer;
  let served: Listener;
  let pages: Server;
  let browser: Browser;
  let page: Page;
  /** Of each answer of the agent its status: that of gRPC-Web where it is one. */
  const answers: string[] = [];
  const start = async (options: Pick<AgentServerOptions, "cors"> = {}): Promise<[AgentServer, Listener]> => {
    const agentServer = createAgentServer({ agent, ...options });
    await agentServer.start();
    const listener = await listen(async (request) => {
      const response = await agentServer.handle(request);
      answers.push(response.header?.get("grpc-status") ?? String(response.status));
      return response;
    });
    agentServer.moveTo(listener.url);
    return [agentServer, listener];
  };
  beforeAll(async () => {
    pages = createServer((_, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>A page</title>");
    }).listen(0, "127.0.0.1");
    [[server, served], browser] = await Promise.all([
      start(),
      launchChromium([foreignHost, `*.${foreignHost}`]),
      once(pages, "listening"),
    ]);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    pages.closeAllConnections();
    pages.close();
    await served.close({ graceMs: 0 });
    await server.close();
  });
  beforeEach(async () => {
    page = await browser.newPage();
    turns.length = 0;
    answers.length = 0;
    return () => page.close();
  });
  const pageAt = (host: string) => `http://${host}:${(pages.address() as AddressInfo).port}/`; // a TCP server's

  it("of this machine may do everything: the tries are what a page does", async () => {
    await page.goto(pageAt("localhost"));
    expect(await page.evaluate(attack, served.url)).toEqual({
      "reads the card": "200",
      "reads the front page": "200",
      "reads tasks": "200",
      "reads tasks with headers": "200",
      "asks without CORS": "opaque",
      "sends over HTTP+JSON": "200",
      "sends over JSON-RPC": "200",
      "sends over Connect": "200",
      "sends over gRPC-Web": "200",
      "sends without CORS": "opaque",
      deletes: "400", // it has no push notifications
      subscribes: "failed",
    });
    expect(turns).toEqual(Array(3).fill("from a page"));
  });

  it.each([foreignHost, `localhost.${foreignHost}`])(
    "of %s neither reads nor sends nor deletes, and gets 403 for all of it",
    async (host) => {
      await page.goto(pageAt(host));
      for (const [name, how] of Object.entries(await page.evaluate(attack, served.url))) {
        expect(how, name).toBe(name.endsWith("without CORS") ? "opaque" : "failed");
      }
      expect(answers).toEqual(Array(12).fill("403")); // each try, or the question whether it may
      expect(turns).toEqual([]);
    },
  );

  it("in a frame without an origin does not, either", async () => {
    await page.goto(pageAt("localhost"));
    await page.setContent(`<iframe sandbox="allow-scripts" src="${pageAt("localhost")}"></iframe>`);
    const frame = page.frames()[1] ?? expect.unreachable("the page has a frame");
    await frame.waitForLoadState();
    expect(await frame.evaluate(() => origin)).toBe("null");
    await frame.evaluate(attack, served.url);
    expect(answers).toEqual(Array(12).fill("403"));
    expect(turns).toEqual([]);
  });

  it("that has pointed its own name at this machine gets 421 for all of it", async () => {
    const url = `http://${foreignHost}:${served.port}`;
    // The page itself would have come from elsewhere, before its name was pointed here: a refused answer has the same origin.
    expect((await page.goto(url))?.status()).toBe(421);
    answers.length = 0;
    expect(Object.values(await page.evaluate(attack, url)).toSorted()).toEqual([
      "200", // gRPC-Web has a status of its own
      ...Array(10).fill("421"),
      "failed",
    ]);
    expect(new Set(answers)).toEqual(new Set(["421", "7"])); // Chromium asks again after 421, on another connection
    expect(turns).toEqual([]);
  });

  it("may call when the operator says so", async () => {
    const [open, listener] = await start({ cors: { origins: [new URL(pageAt(foreignHost)).origin] } });
    onTestFinished(async () => {
      await listener.close({ graceMs: 0 });
      await open.close();
    });
    await page.goto(pageAt(foreignHost));
    expect(await page.evaluate(attack, listener.url)).toMatchObject({
      "reads tasks": "200",
      "sends over JSON-RPC": "200",
    });
  });
});
