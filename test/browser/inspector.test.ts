// The inspector in a real browser, at the address of an agent that it is served by.
import { type ServedAgent, serve } from "@a2a-connect/node";
import { createReferenceAgent, profileOptions } from "@a2a-connect/reference-agent";
import { createMemoryTaskStore } from "@a2a-connect/server";
import axe, { type AxeResults } from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { inChromium, launchChromium } from "./launch-chromium.ts";

describe("the inspector", inChromium, () => {
  let agent: ServedAgent;
  let browser: Browser;
  let page: Page;
  /** What the page reported: errors, and what its Content-Security-Policy has refused. */
  const complaints: string[] = [];
  /** Where its requests went. */
  const origins = new Set<string>();
  beforeAll(async () => {
    [agent, browser] = await Promise.all([
      serve(createReferenceAgent("full"), { ...profileOptions("full"), store: createMemoryTaskStore() }),
      launchChromium(),
    ]);
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
    expect([...origins].filter((origin) => origin !== "null")).toEqual([agent.url]);
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

  it("shows every kind of part, and loads nothing that a URL names", async () => {
    await write(page, "parts");
    await page.getByText("bytes.bin").waitFor();
    expect(await page.getByRole("link", { name: "https://example.com/file.txt" }).count()).toBe(1);
    await page.getByText("nested:").waitFor();
    expect([...origins]).not.toContain("https://example.com");
  });

  it("shows the card, for people and as JSON", async () => {
    await page.getByRole("link", { name: "Card" }).click();
    await page.getByRole("cell", { name: "gRPC-Web" }).first().waitFor();
    await page.getByRole("tab", { name: "JSON" }).click();
    await page.getByText("supportedInterfaces:").waitFor();
  });

  it.each(["light", "dark"] as const)(
    "has no accessibility fault that axe-core calls serious, %s",
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      await page.getByRole("heading", { name: "a2a-connect reference agent" }).waitFor();
      expect(await findFaults(page)).toEqual([]);
      await write(page, "ask Which colour?");
      await page.getByText("needs input", { exact: true }).waitFor();
      expect(await findFaults(page)).toEqual([]);
      await page.getByRole("link", { name: "Card" }).click();
      await page.getByRole("heading", { name: "Interfaces" }).waitFor();
      expect(await findFaults(page)).toEqual([]);
    },
  );
});

async function write(page: Page, text: string): Promise<void> {
  const box = page.getByRole("textbox", { name: /to the agent$/ });
  await box.fill(text);
  await box.press("Enter");
}

/** What axe-core calls serious or critical, one line each. */
async function findFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>("axe.run()");
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
}
