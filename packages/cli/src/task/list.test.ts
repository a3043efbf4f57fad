import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { runCommand } from "../../test-support/run-command.ts";
import { createOutput } from "../output.ts";
import { Listing } from "./listing.ts";

/** An agent whose lists have no end: each page has a new token. */
async function startEndlessAgent(items: readonly object[]) {
  let pages = 0;
  const server = createServer(async (request, response) => {
    response.setHeader("content-type", "application/json");
    if (request.method === "GET") {
      response.end(JSON.stringify(cardOf(`http://${request.headers.host}`)));
      return;
    }
    const { id, method } = (await json(request)) as { id: unknown; method: string }; // JSON-RPC
    pages += 1;
    const list = method === "ListTasks" ? { tasks: items, totalSize: 1, pageSize: 1 } : { configs: items };
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: { ...list, nextPageToken: `page-${pages}` } }));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    get pages() {
      return pages;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function cardOf(url: string) {
  return {
    name: "endless",
    description: "Has lists without an end.",
    version: "1.0.0",
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: { pushNotifications: true },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [{ id: "lists", name: "Lists", description: "Lists.", tags: [] }],
  };
}

const taskList = ["task", "list"];
const configList = ["task", "push-config", "list", "t"];

describe("a list without an end", { timeout: 30_000 }, () => {
  it.each([[[...taskList, "--all"]], [[...taskList, "--limit", "5", "-o", "json"]], [configList]])(
    "whose pages are empty is read for 1,000 of them: %s",
    async (words) => {
      await using agent = await startEndlessAgent([]);
      const { exitCode, stdout, stderr } = await runCommand([...words, "-a", agent.url]);
      expect(agent.pages).toBe(1_000);
      expect(exitCode).not.toBe(0);
      expect(stdout + stderr).toContain("1,000 empty pages");
    },
  );

  const text = "x".repeat(4 * 1024 * 1024);
  const message = { role: "ROLE_AGENT", messageId: "m", parts: [{ text }] };
  const status = { state: "TASK_STATE_WORKING", message };
  it.each([
    [[...taskList, "--all"], { id: "t", contextId: "c", status }, "--limit"],
    [configList, { id: "c", taskId: "t", url: "https://example.org/", token: text }, "--stream"],
  ])("is not kept whole for one JSON document: %s", async (words, item, hint) => {
    await using agent = await startEndlessAgent([item]);
    const { exitCode, stdout } = await runCommand([...words, "-o", "json", "-a", agent.url]);
    expect(agent.pages).toBe(16);
    expect(exitCode).toBe(2);
    const { error } = JSON.parse(stdout);
    expect(error).toMatchObject({ code: "A2ACLI_ERR_USAGE", message: expect.stringContaining("64 MiB") });
    expect(error.hint).toContain("--stream");
    expect(error.hint).toContain(hint);
  });
});

describe("a long list", () => {
  /** What stderr says while so many pages come, each a quarter of a second after the last. */
  async function noteOn(pages: number, page: readonly object[], settings: object): Promise<string[]> {
    const notes: string[] = [];
    const sink = { isTerminal: false, write: async () => {} };
    const stderr = { isTerminal: false, write: async (line: string) => void notes.push(line) };
    const output = createOutput(
      { stdout: sink, stderr },
      { verbose: false, stream: false, output: "text", ...settings },
    );
    let now = 0;
    const listing = new Listing(output, { name: "tasks", hint: "" }, () => now);
    for (let at = 1; at <= pages; at += 1) {
      now += 250;
      await listing.add(page);
    }
    expect(listing.count).toBe(pages * page.length);
    return notes;
  }

  const says = (pages: number, tasks: number) =>
    `the list goes on: ${pages} pages with ${tasks} tasks so far; Ctrl-C ends it\n`;

  it("is told of on stderr, ever less often, where nothing else shows that it goes on", async () => {
    expect(await noteOn(20, [], {})).toEqual([says(4, 0), says(8, 0), says(16, 0)]);
    expect(await noteOn(20, [{}, {}], { output: "json" })).toEqual([says(4, 8), says(8, 16), says(16, 32)]);
  });

  it("is not told of where its tasks are printed as they come, nor when it is short", async () => {
    expect(await noteOn(20, [{}], {})).toEqual([]);
    expect(await noteOn(20, [{}], { output: "json", stream: true })).toEqual([]);
    expect(await noteOn(3, [], { output: "json" })).toEqual([]);
  });
});
