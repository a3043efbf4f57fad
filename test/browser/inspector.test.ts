// The inspector in a real browser, at the address of an agent that it is served by.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { apiKey, hashApiKey } from "@a2a-connect/auth";
import { type ServedAgent, serve } from "@a2a-connect/node";
import { createReferenceAgent, profileOptions } from "@a2a-connect/reference-agent";
import { createMemoryTaskStore } from "@a2a-connect/server";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { startCommand } from "../../packages/cli/test-support/run-command.ts";
import { findFaults } from "./find-faults.ts";
import { inChromium, launchChromium } from "./launch-chromium.ts";

describe("the inspector", inChromium, () => {
  let agent: ServedAgent;
  let browser: Browser;
  let page: Page;
  /** What the page reported: errors, and what its Content-Security-Policy has refused. */
  const complaints: string[] = [];
  /** Where its requests went. */
  const origins = new Set<string>();
  /** Where they may go. */
  const allowed = ["null"];
  beforeAll(async () => {
    [agent, browser] = await Promise.all([
      serve(createReferenceAgent("full"), { ...profileOptions("full"), store: createMemoryTaskStore() }),
      launchChromium(),
    ]);
    allowed.push(agent.url);
    page = await browser.newPage();
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    page.on("request", (request) => origins.add(new URL(request.url()).origin));
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await agent.close({ graceMs: 0 });
    expect(complaints).toEqual([]);
    expect([...origins].filter((origin) => !allowed.includes(origin))).toEqual([]);
  });
  beforeEach(async () => {
    await page.goto("about:blank");
    await page.goto(agent.url);
  });

  it("shows what the agent can do, and sends an example by one click", async () => {
    await page.getByRole("heading", { name: "a2a-connect reference agent" }).waitFor();
    await page.getByRole("button", { name: "task hello", exact: true }).click();
    const conversation = page.getByRole("log", { name: "Conversation" });
    await conversation.getByText("completed", { exact: true }).waitFor();
    expect(await conversation.getByText("hello", { exact: true }).count()).toBe(1);
  });

  it("streams an answer in", async () => {
    await write(page, "stream 3 1");
    await page.getByText("completed", { exact: true }).waitFor();
    await page.getByText("3 updates").waitFor();
    expect(await page.locator(".artifact pre").textContent()).toContain("chunk 3");
  });

  it("passes a question on, and sends the answer to the same task", async () => {
    await write(page, "ask Which colour?");
    await page.getByText("needs input", { exact: true }).waitFor();
    await page.getByRole("textbox", { name: "Answer to the agent" }).waitFor();
    await write(page, "blue");
    await page.getByText("completed", { exact: true }).waitFor();
    expect(await page.locator(".exchange").count()).toBe(1);
    expect(await page.locator(".artifact").textContent()).toContain("blue");
  });

  it("cancels a task", async () => {
    await write(page, "hang");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.locator(".badge.is-canceled").waitFor();
  });

  it("cancels a task also while more streams than a browser has connections are wanted", async () => {
    for (let sent = 1; sent <= 7; sent += 1) {
      await write(page, "until-canceled");
      await page
        .getByRole("button", { name: "Cancel" })
        .nth(sent - 1)
        .waitFor();
    }
    const paused = page.locator(".exchange", { hasText: "Paused while others stream: go on" });
    await paused.nth(1).waitFor();
    for (const exchange of [page.locator(".exchange").last(), page.locator(".exchange").first()]) {
      await exchange.getByRole("button", { name: "Cancel" }).click();
      await exchange.locator(".badge.is-canceled").waitFor();
    }
  });

  it("shows every kind of part, and loads nothing that a URL names", async () => {
    await write(page, "parts");
    await page.getByText("bytes.bin").waitFor();
    expect(await page.getByRole("link", { name: "https://example.com/file.txt" }).count()).toBe(1);
    await page.getByText("nested:").waitFor();
    expect([...origins]).not.toContain("https://example.com");
  });

  it("lists tasks with their counts, and says why one waits", async () => {
    await write(page, "ask Which size?");
    await page.getByText("needs input", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Tasks" }).click();
    const row = page.getByRole("row").filter({ hasText: "ask Which size?" });
    await row
      .getByText(/^It waits for its caller to answer, for .* Without it the agent cancels the task in /)
      .waitFor();
    await page.getByRole("button", { name: /needs input$/ }).click();
    await page.getByRole("row").filter({ hasText: "task hello" }).waitFor({ state: "detached" });
    await row.getByRole("link").click();
    await page.getByRole("link", { name: "Answer" }).click();
    await page.getByRole("textbox", { name: "Answer to the agent" }).waitFor();
    await write(page, "large");
    await page.getByText("completed", { exact: true }).waitFor();
  });

  it("shows a task as of any of its events, exports its log, and opens that without the agent", async () => {
    await write(page, "stream 200 0");
    await page.getByRole("link", { name: "202 events · open task" }).click();
    const events = page.getByRole("listbox", { name: "Events of the task" });
    await page.getByText("event 202 of 202").waitFor();
    await events.press("Home");
    await page.getByText("event 1 of 202").waitFor();
    await page.getByText("after event 1 · 0 artifacts").waitFor();
    await events.press("ArrowDown");
    await page.getByText("after event 2 · 1 artifact").waitFor();
    await page.getByRole("tab", { name: "Event" }).click();
    await page.getByText("artifactUpdate:").waitFor();
    expect(await page.getByRole("option").count()).toBeLessThan(60);
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export log" }).click();
    const file = await (await downloading).path();
    const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
    expect(lines).toHaveLength(203);
    await page.goto(`${agent.url}/#/task`);
    await page.getByLabel("Open a log").setInputFiles(file);
    await page.getByText("event 1 of 202").waitFor();
    await page.locator(".view-bar .is-completed").waitFor();
  });

  it("shows what the code of a durable task did, with what it stored", async () => {
    await write(page, "steps 3 1");
    await page.getByText("completed", { exact: true }).waitFor();
    await page.getByRole("link", { name: /open task$/ }).click();
    const work = page.getByRole("region", { name: "What the agent's code did" });
    await work.getByRole("button", { name: /^step .*#1: / }).waitFor();
    expect(await work.getByRole("button", { name: /^step / }).count()).toBe(3);
    expect(await work.getByRole("button", { name: /^began: / }).count()).toBe(1);
    await work
      .getByRole("button", { name: /^step .*#1: / })
      .first()
      .click();
    await page.getByText(/^event 1 of/).waitFor();
    await work.getByText(/^\d+ notes of the agent's code$/).click();
    const row = work.getByRole("row").filter({ hasText: "result" }).first();
    await row.getByRole("button").click();
    await row.locator("code").nth(1).waitFor();
    expect(await findFaults(page)).toEqual([]);
  });

  it("shows the card, for people and as JSON", async () => {
    await page.getByRole("link", { name: "Card" }).click();
    await page.getByRole("cell", { name: "gRPC-Web" }).first().waitFor();
    await page.getByRole("tab", { name: "JSON" }).click();
    await page.getByText("supportedInterfaces:").waitFor();
  });

  it("examines the agent with the conformance kit", async () => {
    await using visitor = await browser.newPage(); // the console tells every refusal, and here they are wanted
    await visitor.goto(`${agent.url}/#/card`);
    await visitor.getByRole("tab", { name: "Conformance" }).click();
    await visitor.getByLabel("Send it no messages").uncheck();
    await visitor.getByRole("button", { name: "Examine the agent" }).click();
    await visitor.getByRole("button", { name: "Download the report" }).waitFor({ timeout: 60_000 });
    expect(
      await visitor.locator(".panel details", { has: visitor.locator(".badge") }).allTextContents(),
    ).toEqual([]);
    const status = (await visitor.locator(".panel [role=status]").textContent()) ?? "";
    expect(status).toMatch(/^ (\d{3,}) of \1 checks, 0 failed$/);
    expect(await findFaults(visitor)).toEqual([]);
  });

  it("goes on with a stream whose connection was cut, without a gap", async () => {
    await page.getByRole("link", { name: "Wires" }).click();
    await page.getByLabel("Request").fill(JSON.stringify(requestWith("stream 20 150")));
    await page.getByRole("button", { name: "Call over JSON-RPC" }).click();
    const call = page.getByRole("region", { name: "SendStreamingMessage over JSON-RPC" });
    await call.getByText(/the last one is number/).waitFor(); // before the first event there is nothing to resume after
    await page.getByRole("button", { name: "Cut the connection" }).click();
    await call
      .getByText("22 events over 2 connections; the last one is number 22. None is missing, none came twice.")
      .waitFor();
    await call.getByText(/resumes after event/).waitFor();
  });

  it("shows two subscribers of a task side by side, and both get every event", async () => {
    await page.getByRole("link", { name: "Wires" }).click();
    await page.getByLabel("Request").fill(JSON.stringify(requestWith("stream 20 60")));
    await page.getByRole("button", { name: "Call over JSON-RPC" }).click();
    await page.getByRole("button", { name: "Add a subscriber" }).first().click();
    const calls = [
      page.getByRole("region", { name: "SendStreamingMessage over JSON-RPC", exact: true }),
      page.getByRole("region", { name: "SubscribeToTask over HTTP+JSON", exact: true }),
    ];
    for (const call of calls)
      await call.getByText("22 events over 1 connection; the last one is number 22.").waitFor();
    const [left, right] = await Promise.all(calls.map((call) => call.boundingBox()));
    expect([left?.y === right?.y, (left?.x ?? 0) < (right?.x ?? 0)]).toEqual([true, true]);
  });

  it("makes the same call over every wire, and writes commands that make it", async () => {
    await page.getByRole("link", { name: "Wires" }).click();
    await page.getByLabel("Operation").selectOption("SendMessage");
    await page.getByLabel("Request").fill(JSON.stringify(requestWith("echo it's `hello`")));
    await page.getByRole("button", { name: "Call over all 4" }).click();
    for (const wire of ["JSON-RPC", "HTTP+JSON", "Connect", "gRPC-Web"]) {
      const call = page.getByRole("region", { name: `SendMessage over ${wire}`, exact: true });
      await call.locator(".wire-exchange summary").click();
      await call
        .locator(".side")
        .nth(1)
        .getByText(/it's `hello`/)
        .waitFor();
    }
    const [curl] = await page
      .locator(".call", { hasText: "HTTP+JSON" })
      .locator(".command pre")
      .allTextContents();
    const { stdout } = await promisify(execFile)("sh", ["-c", `${curl} -s`]);
    expect(stdout).toContain("it's `hello`");
    await page.getByRole("button", { name: "gRPC", exact: true }).click();
    await page.getByText(/^grpcurl -plaintext -H 'a2a-version: 1.0'/).waitFor();
    await page.getByText("Bytes of the request").click();
    await page.getByText(/^000000 {2}00 00 00 00 /).waitFor();
  });

  it("sends a key in the header that the card names, and shows it nowhere", async () => {
    const keys = { alice: { hash: await hashApiKey("alices-key") } };
    await using guarded = await serve(createReferenceAgent("full"), {
      store: createMemoryTaskStore(),
      auth: { gates: { key: apiKey({ header: "X-Guest", keys }) } },
      shutdown: false,
    });
    await using visitor = await browser.newPage();
    await visitor.goto(guarded.url);
    await visitor.getByRole("link", { name: "Card" }).click();
    await visitor.getByLabel("API key (X-Guest)").fill("alices-key");
    await visitor.getByRole("button", { name: "Use" }).click();
    const shownAtOnce = (await visitor.locator("body").textContent()) ?? "";
    await visitor.getByRole("link", { name: "Wires" }).click();
    await visitor.getByLabel("Operation").selectOption("SendMessage");
    await visitor.getByLabel("Request").fill(JSON.stringify(requestWith("echo hello")));
    await visitor.getByRole("button", { name: "Call over JSON-RPC" }).click();
    const call = visitor.getByRole("region", { name: "SendMessage over JSON-RPC", exact: true });
    await call.locator(".wire-exchange summary").click();
    await call.locator(".side").nth(1).getByText(/hello/).waitFor();
    const seen = shownAtOnce + ((await visitor.locator("body").textContent()) ?? "");
    expect([seen.toLowerCase().includes("x-guest"), seen.includes("alices-key")]).toEqual([true, false]);
  });

  it("is served by `a2a inspect` for agents of other servers", async () => {
    await using other = await serve(createReferenceAgent("full"), {
      store: createMemoryTaskStore(),
      cors: false,
    });
    const command = startCommand(["inspect", other.url, agent.url, "--port", "0"]);
    onTestFinished(async () => {
      command.interrupt();
      await command.result;
    });
    const [, url = ""] = await command.waitFor(/^Inspector: (.*)$/m);
    allowed.push(new URL(url).origin);
    await page.goto(url);
    await write(page, "stream 3 1");
    await page.getByText("completed", { exact: true }).waitFor();
    await page.getByLabel("Agent", { exact: true }).selectOption({ index: 1 });
    await page.waitForURL("**/agents/1/");
    await write(page, "echo hello");
    await page.getByRole("log").getByText("hello", { exact: true }).waitFor();
  });

  it("has no accessibility fault that axe-core calls serious in the dark", async () => {
    await page.emulateMedia({ colorScheme: "dark" });
    await page.getByRole("heading", { name: "a2a-connect reference agent" }).waitFor();
    expect(await findFaults(page)).toEqual([]);
    await write(page, "ask Which colour?");
    await page.getByText("needs input", { exact: true }).waitFor();
    expect(await findFaults(page)).toEqual([]);
    for (const [view, shown] of [
      ["Card", page.getByRole("heading", { name: "Interfaces" })],
      ["Wires", page.getByLabel("Request")],
      ["Tasks", page.getByRole("table")],
    ] as const) {
      await page.getByRole("link", { name: view }).click();
      await shown.waitFor();
      expect(await findFaults(page), view).toEqual([]);
    }
    await page.getByRole("row").nth(1).getByRole("link").click();
    await page.getByText(/^after event /).waitFor();
    expect(await findFaults(page)).toEqual([]);
  });
});

function requestWith(text: string): object {
  return { message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] } };
}

async function write(page: Page, text: string): Promise<void> {
  const box = page.getByRole("textbox", { name: /to the agent$/ });
  await box.fill(text);
  await box.press("Enter");
}
