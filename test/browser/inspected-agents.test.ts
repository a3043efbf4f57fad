// Each view of the inspector in a real browser, for each kind of agent that it meets.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { apiKey, hashApiKey } from "@a2a-connect/auth";
import { type ServedAgent, serve } from "@a2a-connect/node";
import { createReferenceAgent } from "@a2a-connect/reference-agent";
import { createMemoryTaskStore } from "@a2a-connect/server";
import { createSelfSignedCertificate } from "@a2a-connect/testing";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCommand } from "../../packages/cli/test-support/run-command.ts";
import { startJsSdk03Server } from "../client/js-sdk-03-server.ts";
import { startJsSdkServer } from "../client/js-sdk-server.ts";
import { findFaults } from "./find-faults.ts";
import { inChromium, launchChromium } from "./launch-chromium.ts";

/** An agent, and what it does on which words. */
interface InspectedAgent {
  readonly what: string;
  readonly url: () => string;
  readonly name: string;
  /** The key that it asks for. */
  readonly key?: string;
  /** Words on which it makes a task, and what is in its artifact. */
  readonly work: readonly [words: string, made: string];
  /** Words on which it asks, and the answers that it takes. */
  readonly ask: readonly [words: string, ...answers: string[]];
  /** What the Tasks view says. */
  readonly tasks: RegExp;
  /** What the page of a task says of its events. */
  readonly events: RegExp;
  readonly version: "1.0" | "0.3";
  readonly signature: RegExp;
  /** Whether pictures of it are made in the dark and for a phone, too. */
  readonly isInAllLooks?: boolean;
  /** What an examination without messages comes to. */
  readonly examined: RegExp;
  /** Wires over which a call is made. */
  readonly wires: readonly string[];
}

const ours = {
  name: "a2a-connect reference agent",
  work: ["stream 3 1", "chunk 3"],
  ask: ["ask Which colour?", "blue"],
  tasks: /^stream 3 1$/,
  events: /^event 5 of 5$/,
  version: "1.0",
  signature: /^The card has no signature/,
  wires: ["JSON-RPC"],
  examined: /(\d{3,}) of \1 checks, 0 failed$/,
} as const;
const ofSdk = {
  name: "Contract agent",
  work: ["work", "ein Wort."],
  ask: ["ask", "Ada", "blue"],
  events: /^The agent does not number its events\./,
} as const;

describe("the inspector", inChromium, () => {
  const stack = new AsyncDisposableStack();
  let browser: Browser;
  let [open, guarded, inspected] = ["", "", ""];
  beforeAll(async () => {
    const certificate = createSelfSignedCertificate();
    const keys = { alice: { hash: await hashApiKey("alices-key") } };
    const auth = { gates: { key: apiKey({ header: "X-Guest", keys }) } };
    const begin = (options: Parameters<typeof serve>[1]): Promise<ServedAgent> =>
      serve(createReferenceAgent("full"), { store: createMemoryTaskStore(), shutdown: false, ...options });
    const [own, secured, sdk, old] = await Promise.all([
      begin({}),
      begin({ tls: certificate, auth }),
      startJsSdkServer(),
      startJsSdk03Server({ rows: [1] }),
    ]);
    for (const each of [own, secured, sdk, old]) stack.use(each);
    browser = stack.use(await launchChromium());
    const command = startCommand(["inspect", sdk.url, old.url, "--port", "0"]);
    stack.defer(async () => {
      command.interrupt();
      await command.result;
    });
    const [, url = ""] = await command.waitFor(/^Inspector: (.*)$/m);
    [open, guarded, inspected] = [`${own.url}/`, `${secured.url}/`, url];
  }, 60_000);
  afterAll(() => stack.disposeAsync());

  it.each<InspectedAgent>([
    { what: "our agent", url: () => open, isInAllLooks: true, ...ours },
    { what: "our agent, over TLS, with a key", url: () => guarded, key: "alices-key", ...ours },
    {
      what: "an agent of @a2a-js/sdk",
      url: () => `${inspected}agents/0/`,
      ...ofSdk,
      tasks: /^work$/,
      version: "1.0",
      signature: /^The card has no signature/,
      wires: ["JSON-RPC", "gRPC"],
      examined: /^\d+ requirements$/,
    },
    {
      what: "an agent of A2A 0.3",
      url: () => `${inspected}agents/1/`,
      ...ofSdk,
      tasks: /^ListTasks came with A2A 1.0, and this agent speaks an older one/,
      version: "0.3",
      signature: /^This is a card of A2A 0.3/,
      wires: ["HTTP+JSON"],
      examined: /declares no interface of version 1.0 that can be examined/,
    },
  ])("shows $what in every view", { timeout: 120_000 }, async (agent) => {
    await using page = await browser.newPage({ ignoreHTTPSErrors: true });
    const complaints: string[] = [];
    page.on("pageerror", ({ message }) => complaints.push(message));
    await page.goto(agent.url());
    await page.getByRole("heading", { name: agent.name }).waitFor();
    const names = await page.locator(".switcher option").allTextContents();
    expect(names).toEqual([...new Set(names)]);
    await look(page, agent, "start");

    const [words, made] = agent.work;
    await write(page, words);
    if (agent.key !== undefined) {
      await page.getByRole("link", { name: "Enter credentials" }).click();
      await page.getByLabel("API key (X-Guest)").fill(agent.key);
      await page.getByRole("button", { name: "Use" }).click();
      await goTo(page, "Talk");
      await page.getByRole("button", { name: "Send again" }).click();
    }
    await page.locator(".artifact").getByText(made).first().waitFor();
    await page.getByText("completed", { exact: true }).waitFor();
    const [question, ...answers] = agent.ask;
    await write(page, question);
    for (const answer of answers) {
      await page.getByText("needs input", { exact: true }).waitFor();
      await write(page, answer);
      await page.locator(".bubble.is-mine").getByText(answer, { exact: true }).waitFor();
    }
    await page.getByText("completed", { exact: true }).nth(1).waitFor();
    await look(page, agent, "talk");

    await page
      .getByRole("link", { name: /open task$/ })
      .first()
      .click();
    await page.getByText(agent.events).waitFor();
    await page.locator(".moment .artifact").getByText(made).first().waitFor();
    await look(page, agent, "task");

    await goTo(page, "Tasks");
    await page.getByText(agent.tasks).first().waitFor();
    await page.getByRole("status", { name: "Loading tasks" }).waitFor({ state: "detached" });
    await look(page, agent, "tasks");

    await goTo(page, "Wires");
    await page.getByLabel("Operation").selectOption("SendMessage");
    const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "echo hello" }] };
    await page.getByLabel("Request").fill(JSON.stringify({ message }));
    for (const wire of agent.wires) {
      await page.getByRole("button", { name: wire, exact: true }).click();
      await page.getByRole("button", { name: `Call over ${wire}` }).click();
      const call = page.getByRole("region", { name: `SendMessage over ${wire}`, exact: true });
      await call.locator(".wire-exchange summary").click();
      await call
        .locator(".side")
        .nth(1)
        .getByText(/"hello"/)
        .waitFor();
    }
    await look(page, agent, "wires");

    await goTo(page, "Card");
    await page.getByRole("row", { name: new RegExp(`^JSON-RPC ${agent.version}`) }).waitFor();
    await page.getByText(agent.signature).waitFor();
    await look(page, agent, "card");
    await page.getByRole("tab", { name: "Conformance" }).click();
    await page.getByRole("button", { name: "Examine the agent" }).click();
    await page.getByText(agent.examined).waitFor();
    await look(page, agent, "conformance");
    expect(complaints).toEqual([]);
  });

  it("talks with an agent that offers gRPC alone, through `a2a inspect`", async () => {
    await using page = await browser.newPage();
    await page.route("**/agent-card.json", async (route) => {
      const card = await (await route.fetch()).json();
      const isGrpc = (each: { readonly protocolBinding: string }): boolean => each.protocolBinding === "GRPC";
      await route.fulfill({
        json: { ...card, supportedInterfaces: card.supportedInterfaces.filter(isGrpc) },
      });
    });
    await page.goto(`${inspected}agents/0/`);
    await write(page, ofSdk.work[0]);
    await page.locator(".artifact").getByText(ofSdk.work[1]).first().waitFor();
    await page.getByText("completed", { exact: true }).waitFor();
    await goTo(page, "Tasks");
    await page.getByRole("row").filter({ hasText: ofSdk.work[0] }).first().waitFor();
  });

  it("asks for credentials in place of tasks, and calls no more until it has some", async () => {
    await using page = await browser.newPage({ ignoreHTTPSErrors: true });
    let calls = 0;
    page.on("request", (request) => {
      if (request.postData()?.includes('"ListTasks"')) calls += 1;
    });
    await page.clock.install();
    await page.goto(`${guarded}#/tasks`);
    await page.getByText("the call needs credentials").waitFor();
    await page.clock.runFor(20_000);
    expect(calls).toBe(1);
    await page.goto(`${guarded}#/task/any`);
    await page.getByText("the call needs credentials").waitFor();
    expect(await page.getByRole("listbox").count()).toBe(0);
  });
});

async function goTo(page: Page, view: string): Promise<void> {
  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: view }).click();
}

async function write(page: Page, text: string): Promise<void> {
  const box = page.getByRole("textbox", { name: /to the agent$/ });
  await box.fill(text);
  await box.press("Enter");
}

const phone = { width: 390, height: 844 };
const desk = { width: 1_280, height: 800 };
const looks = [
  { name: "light", colorScheme: "light", size: desk },
  { name: "dark", colorScheme: "dark", size: desk },
  { name: "phone", colorScheme: "light", size: phone },
] as const;

/** Where pictures of the views are kept for people; none are made when it is not set. */
const pictures = process.env["A2A_PICTURES"];

/** What every view must be: usable with every sense, and no wider than a phone. */
async function look(page: Page, { what, isInAllLooks = false }: InspectedAgent, view: string): Promise<void> {
  expect(await findFaults(page), view).toEqual([]);
  for (const { name, colorScheme, size } of looks) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(size);
    if (pictures === undefined || !(isInAllLooks || name === "light")) continue;
    mkdirSync(pictures, { recursive: true });
    const path = join(pictures, `${what.replaceAll(/[^\w.]+/g, "-")}-${view}-${name}.png`);
    await page.screenshot({ path, animations: "disabled" });
  }
  expect(await page.evaluate(findWide), `${view} on a phone`).toEqual([]);
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(desk);
}

/** In the page: what is wider than its place. */
function findWide(): readonly string[] {
  return [...document.querySelectorAll("main, .page, .column, .panel")]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
    .map(({ outerHTML }) => outerHTML.slice(0, 100));
}
