// The client in a real browser: a page built with Vite, of another origin, against the reference agent.

import { fileURLToPath } from "node:url";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startAgent, temporaryDirectory } from "../faults/agent-process.ts";
import { inChromium, launchChromium } from "./launch-chromium.ts";
import { type ServedPage, servePage } from "./serve-page.ts";

const interfaces = [
  ["Connect", "urn:a2a-connect:binding:connect:v1", "1.0"],
  ["gRPC-Web", "urn:a2a-connect:binding:grpc-web:v1", "1.0"],
  ["JSON-RPC", "JSONRPC", "1.0"],
  ["HTTP+JSON", "HTTP+JSON", "1.0"],
  ["JSON-RPC of A2A 0.3", "JSONRPC", "0.3"],
  ["HTTP+JSON of A2A 0.3", "HTTP+JSON", "0.3"],
] as const;

describe("the client in a browser", inChromium, () => {
  let served: ServedPage;
  let browser: Browser;
  beforeAll(async () => {
    const root = fileURLToPath(new URL("client-page", import.meta.url));
    [served, browser] = await Promise.all([servePage(root), launchChromium()]);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    served.close();
  });

  describe.each(interfaces)("over %s", (_, binding, version) => {
    it("discovers the agent, answers its question and reads the result", async () => {
      const agent = await startAgent(temporaryDirectory());
      const page = await openPage(browser, served.url);
      const asked: string[] = [];
      await page.exposeFunction("answer", (question: string) => {
        asked.push(question);
        return "blue";
      });
      const asking = [agent.url, binding, version] as const;
      const found = await page.evaluate((given) => clientPage.connect(...given), asking);
      expect(found).toEqual({ name: "a2a-connect reference agent", binding, version });
      expect(await page.evaluate(() => clientPage.run("ask Which colour?"))).toContain("blue");
      expect(asked).toEqual(["Which colour?"]);
    });

    it("loses nothing of a stream when the server is killed and started again", async () => {
      const dataDir = temporaryDirectory();
      let agent = await startAgent(dataDir);
      const { port } = new URL(agent.url);
      const page = await openPage(browser, served.url);
      const events: JsonValue[] = [];
      await page.exposeFunction("delivered", async (event: JsonValue) => {
        events.push(event);
        if (events.length === 5) {
          agent.signal("SIGKILL");
          await agent.ended;
          agent = await startAgent(dataDir, "--port", port);
        }
      });
      const asking = [agent.url, binding, version] as const;
      await page.evaluate((given) => clientPage.connect(...given), asking);
      // A durable command: the restarted agent goes on with it.
      await page.evaluate(() => clientPage.stream("stream 20 10"));
      expect(events.map(kindOf)).toEqual([
        "task",
        ...Array.from({ length: 20 }, () => "artifactUpdate"),
        "statusUpdate",
      ]);
      expect(new Set(events.map((event) => JSON.stringify(event))).size).toBe(events.length);
    });
  });
});

/** A page of the served origin; what goes wrong in it fails the test. */
async function openPage(browser: Browser, url: string): Promise<Page> {
  const page = await browser.newPage();
  const errors: unknown[] = [];
  page.on("pageerror", (error) => errors.push(error));
  onTestFinished(async () => {
    await page.close();
    expect(errors).toEqual([]);
  });
  await page.goto(url);
  return page;
}

function kindOf(event: JsonValue): string | undefined {
  return Object.keys(event as JsonObject)[0]; // a StreamResponse is an object
}
