import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { inChromium, launchChromium } from "../browser/launch-chromium.ts";
import { servePage } from "../browser/serve-page.ts";
import { startAgentProcess } from "../interop/agent-process.ts";
import { readCodeBlocks } from "./code-blocks.ts";

const here = dirname(fileURLToPath(import.meta.url));

describe("README", inChromium, () => {
  it("shows a page that streams in a browser", { timeout: 60_000 }, async () => {
    const block = readCodeBlocks(join(here, "..", "..", "README.md")).find(({ name }) => name === "browser");
    const directory = mkdtempSync(join(here, ".tmp-"));
    const [agent, browser] = await Promise.all([startAgentProcess(), launchChromium()]);
    writeFileSync(
      join(directory, "main.ts"),
      (block?.code ?? "").replaceAll("http://localhost:4000", agent.url),
    );
    writeFileSync(
      join(directory, "index.html"),
      '<!doctype html><body><script type="module" src="main.ts"></script></body>',
    );
    const served = await servePage(directory);
    try {
      const page = await browser.newPage();
      await page.goto(served.url);
      await page.waitForFunction(() => document.body.textContent.trim().split("\n").length === 5);
      const events = await page.evaluate(() => document.body.textContent.trim().split("\n"));
      expect(events).toEqual(["task", "artifactUpdate", "artifactUpdate", "artifactUpdate", "statusUpdate"]);
    } finally {
      await browser.close();
      served.close();
      rmSync(directory, { recursive: true });
      await agent.stop();
    }
  });
});
