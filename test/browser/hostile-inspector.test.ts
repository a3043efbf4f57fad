// The inspector of an agent that wants to harm the person who looks at it.
import { serve } from "@a2a-connect/node";
import { createMemoryTaskStore } from "@a2a-connect/server";
import { expect, it } from "vitest";
import { hostileAgent } from "./hostile-agent.ts";
import { inChromium, launchChromium } from "./launch-chromium.ts";

it("shows what a hostile agent sends, and does nothing of it", inChromium, async () => {
  await using agent = await serve(hostileAgent, { store: createMemoryTaskStore(), log: () => {} });
  const browser = await launchChromium(["evil.example"]);
  try {
    const page = await browser.newPage();
    const complaints: string[] = [];
    const elsewhere: string[] = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    page.on("dialog", (dialog) => {
      complaints.push(dialog.message());
      void dialog.dismiss();
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(agent.url) && !/^(?:blob|data):/.test(request.url())) {
        elsewhere.push(request.url());
      }
    });
    await page.goto(agent.url);
    await page
      .getByText(/Nice\\u202e <script>/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "attack" }).click();
    await page.locator(".badge.is-failed").waitFor();
    await page.getByText(/invoice\\u202egpj\.exe\\u0007\\u001b/).waitFor();
    await page.getByRole("link", { name: "https://evil.example/login" }).waitFor();
    const box = page.getByRole("textbox", { name: /to the agent$/ });
    await box.fill("ask");
    await box.press("Enter");
    await page.getByRole("button", { name: "invoicegpj.exe" }).waitFor();

    await page
      .getByRole("link", { name: /open task/ })
      .first()
      .click();
    await page.getByText(/^after event /).waitFor();
    for (const [view, shown] of [
      ["Tasks", page.getByRole("columnheader", { name: "Last word" })],
      ["Wires", page.getByLabel("Request")],
      ["Card", page.getByRole("heading", { name: "Interfaces" })],
    ] as const) {
      await page.getByRole("link", { name: view, exact: true }).first().click();
      await shown.waitFor();
      const found = await page.evaluate(() => ({
        stolen: "stolen" in globalThis,
        scripts: document.querySelectorAll(
          "body script, iframe, object, embed, body style, link[rel=icon][href^=http]",
        ).length,
        handlers: [...document.querySelectorAll("*")].flatMap((element) =>
          element.getAttributeNames().filter((name) => name.startsWith("on")),
        ),
        addresses: [...document.querySelectorAll("a")].map(({ protocol }) => protocol),
      }));
      expect(found, view).toMatchObject({ stolen: false, scripts: 0, handlers: [] });
      expect(found.addresses.filter((each) => each !== "http:" && each !== "https:")).toEqual([]);
    }
    expect(complaints.filter((each) => !each.includes("blob:"))).toEqual([]);

    // Were there a hole, the policy would still close it.
    const refused = await page.evaluate(async () => {
      const tries: [name: string, attempt: () => unknown][] = [
        ["html", () => (document.body.innerHTML = "<b>html</b>")],
        ["script", () => (document.createElement("script").textContent = "globalThis.stolen = true")],
        ["elsewhere", () => fetch("http://evil.example/")],
      ];
      const names: string[] = [];
      for (const [name, attempt] of tries) {
        try {
          await attempt();
        } catch {
          names.push(name);
        }
      }
      return names;
    });
    expect(refused).toEqual(["html", "script", "elsewhere"]);
    expect(elsewhere).toEqual([]);
  } finally {
    await browser.close();
  }
});
