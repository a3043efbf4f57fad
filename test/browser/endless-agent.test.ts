// The inspector of an agent that never stops, and never answers as it was asked.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { startCommand } from "../../packages/cli/test-support/run-command.ts";
import { inChromium, launchChromium } from "./launch-chromium.ts";

const contextId = "context";
const status = { state: "TASK_STATE_WORKING", timestamp: "2026-01-01T00:00:00Z" };
const task = { id: "endless", contextId, status };

/** Writes updates of an artifact for as long as there is a reader. */
async function streamWithoutEnd(response: ServerResponse, id: unknown, taskId: string): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (result: object): boolean =>
    response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`);
  send({ task: { ...task, id: taskId } });
  const artifact = { artifactId: "a", parts: [{ text: "0123456789".repeat(10) }] };
  const update = { artifactUpdate: { taskId, contextId, artifact, append: true } };
  while (!response.destroyed) {
    if (!send(update)) await Promise.race([once(response, "drain"), once(response, "close")]);
  }
}

function answer(method: string, id = task.id): object {
  switch (method) {
    case "ListTasks":
      return {
        tasks: Array.from({ length: 10_000 }, (_, index) => ({ ...task, id: `task-${index}` })),
        nextPageToken: "again",
        pageSize: 25,
        totalSize: 2_000_000_000,
      };
    case "CancelTask":
      return { ...task, status: { ...status, state: "TASK_STATE_CANCELED" } };
    default:
      return { ...task, id };
  }
}

it("stays usable with endless streams, endless lists and notes that are none", inChromium, async () => {
  const notes = { notes: [null, 7, { kind: {}, name: [], sequence: {} }], hasMore: true, nextPageToken: 5 };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { port } = server.address() as AddressInfo; // it listens on a port
    const json = (body: object): void => {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    if (request.url?.includes("ListTaskNotes")) return json(notes);
    if (request.url !== "/rpc") {
      const url = `http://127.0.0.1:${port}/rpc`;
      return json({
        name: "Endless",
        description: "It never ends.",
        version: "1",
        capabilities: { streaming: true },
        defaultInputModes: ["text/plain"],
        defaultOutputModes: ["text/plain"],
        skills: [{ id: "s", name: "S", description: "Goes on.", tags: ["s"] }],
        supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
      });
    }
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
    if (/Stream|Subscribe/.test(method)) return await streamWithoutEnd(response, id, params.id ?? task.id);
    json({ jsonrpc: "2.0", id, result: answer(method, params.id) });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const command = startCommand([
    "inspect",
    `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    "--port",
    "0",
  ]);
  const browser = await launchChromium();
  onTestFinished(async () => {
    await browser.close();
    server.closeAllConnections();
    server.close();
    command.interrupt();
    await command.result;
  });
  const [, url = ""] = await command.waitFor(/^Inspector: (.*)$/m);
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(url);
  const box = page.getByRole("textbox", { name: /to the agent$/ });
  await box.fill("go");
  await box.press("Enter");
  await page.getByText(/[\d,]{5,} events/).waitFor();
  await page.getByRole("button", { name: "Cancel" }).press("Enter");
  await page.locator(".badge.is-canceled").waitFor();
  await page.locator(".badge.is-canceled").waitFor();

  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Tasks" }).click();
  await page.getByRole("row").nth(1).waitFor();
  expect(await page.getByRole("row").count()).toBeLessThan(30);
  await page.getByRole("row").nth(1).getByRole("link").click();
  await page.getByText(/^event [\d,]{5,} of/).waitFor();
  await page.getByRole("link", { name: "Card" }).click();
  await page.getByRole("heading", { name: "Interfaces" }).waitFor();
  expect(complaints).toEqual([]);
});
