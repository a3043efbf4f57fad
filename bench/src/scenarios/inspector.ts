import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { type AimVerdict, judgeLimit } from "../report/aim.ts";
import { median } from "../report/statistics.ts";
import { formatBytes } from "../report/table.ts";
import type { BenchContext, Scenario } from "../scenario.ts";

/** Tasks of the main thread below this are not reported by the browser, in milliseconds. */
const longTaskMs = 50;

/** The page that an agent serves at its address, in a real browser. */
export const inspector: Scenario = {
  name: "inspector",
  summary:
    "The inspector in Chromium, at the address of our server: from the navigation to the first paint (median of loads without a cache), the longest task of the main thread while events come in, the time until a log is open, and what stays in memory.",
  async run(context) {
    await using server = await context.start("ours");
    await using browser = await launchChromium();
    const url = `http://localhost:${server.target.httpPort}`;
    const events = context.quick ? 1_000 : 10_000;
    context.progress("the page is built");
    await fetch(url, { headers: { accept: "text/html" } });
    const figures = [
      await measureFirstPaint(context, browser, url),
      ...(await measureStream(context, browser, url, events)),
      await measureHour(context, browser, url),
      await measureLog(context, browser, url, events * 10),
    ];
    return {
      table: {
        columns: ["what", "wanted", "measured", ""],
        rows: figures.map(({ what, aim, measured, verdict }) => [what, aim, measured, verdict]),
      },
      aims: [],
      measurements: figures,
    };
  },
};

/** The Chromium that `CHROMIUM` names, else the machine's. */
async function launchChromium(): Promise<Browser> {
  const find = "command -v chromium chromium-browser google-chrome | head -1";
  const executablePath =
    process.env["CHROMIUM"] || execFileSync("sh", ["-c", find], { encoding: "utf8" }).trim();
  if (executablePath === "") {
    throw new Error("There is no Chromium. Install one, or name it with CHROMIUM=path.");
  }
  return await chromium.launch({ executablePath, args: ["--headless", "--no-sandbox", "--disable-gpu"] });
}

async function measureFirstPaint(context: BenchContext, browser: Browser, url: string): Promise<AimVerdict> {
  const elapsedMs: number[] = [];
  for (let load = 0; load < (context.quick ? 2 : 7); load += 1) {
    context.progress(`load ${load + 1} of the page`);
    await using visitor = await browser.newContext();
    const page = await visitor.newPage();
    await page.goto(url);
    await page.getByRole("heading", { level: 1 }).waitFor();
    elapsedMs.push(
      await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0),
    );
  }
  return judgeLimit("first paint", 1_000, median(elapsedMs), " ms");
}

/** A stream that comes in, as a conversation and as the page of its task, which reads all events again. */
async function measureStream(
  context: BenchContext,
  browser: Browser,
  url: string,
  events: number,
): Promise<readonly AimVerdict[]> {
  const count = events.toLocaleString("en");
  await using visitor = await browser.newContext();
  const page = await visitor.newPage();
  await page.goto(url);
  await page.getByRole("textbox", { name: /to the agent$/ }).fill(`stream ${events}`);
  await watchTasks(page);
  context.progress(`${count} events in a conversation`);
  await page.getByRole("textbox", { name: /to the agent$/ }).press("Enter");
  await page.getByText("completed", { exact: true }).waitFor({ timeout: 120_000 });
  const talk = await readLongest(page);
  await watchTasks(page);
  context.progress(`${count} events on the page of their task`);
  const link = page.getByRole("link", { name: /open task$/ });
  const [total = ""] = ((await link.textContent()) ?? "").split(" ");
  await link.click();
  await page.getByText(`event ${total} of ${total}`).waitFor({ timeout: 120_000 });
  await page.getByText(`after event ${total.replaceAll(",", "")} `).waitFor();
  const task = await readLongest(page);
  return [
    judgeTask(`longest task while ${count} events come in, Talk`, talk),
    judgeTask(`longest task while ${count} events are read again, the task's page`, task),
  ];
}

/** The page's heap after an hour of ten events a second (each replaces an artifact), against that after six minutes. */
async function measureHour(context: BenchContext, browser: Browser, url: string): Promise<AimVerdict> {
  const events = context.quick ? 3_600 : 36_000;
  await using visitor = await browser.newContext();
  const page = await visitor.newPage();
  const devTools = await visitor.newCDPSession(page);
  const heapBytes: number[] = [];
  for (const updates of [events / 10, events]) {
    context.progress(`${updates.toLocaleString("en")} updates of an artifact`);
    await page.goto("about:blank");
    await page.goto(url);
    const box = page.getByRole("textbox", { name: /to the agent$/ });
    await box.fill(`replace ${updates} 1000`);
    await box.press("Enter");
    await page.getByText("completed", { exact: true }).waitFor({ timeout: 300_000 });
    await devTools.send("HeapProfiler.collectGarbage");
    const { usedSize } = await devTools.send("Runtime.getHeapUsage");
    heapBytes.push(usedSize);
  }
  const [early = 0, late = 0] = heapBytes;
  const what = `heap after ${events.toLocaleString("en")} events, of that after a tenth (${formatBytes(early)})`;
  return judgeLimit(what, 1.2, late / early, "x");
}

async function measureLog(
  context: BenchContext,
  browser: Browser,
  url: string,
  events: number,
): Promise<AimVerdict> {
  const count = events.toLocaleString("en");
  context.progress(`a log of ${count} events`);
  const directory = mkdtempSync(join(tmpdir(), "a2a-bench-"));
  try {
    const file = join(directory, "task.jsonl");
    const text = makeLog(events);
    await writeFile(file, text);
    await using visitor = await browser.newContext();
    const page = await visitor.newPage();
    await page.goto(`${url}/#/task`);
    const input = page.getByLabel("Open a log");
    await input.waitFor();
    const began = performance.now();
    await input.setInputFiles(file);
    await page.getByText(`event 1 of ${count}`).waitFor({ timeout: 60_000 });
    const elapsedMs = performance.now() - began;
    const what = `a log of ${count} events (${formatBytes(text.length)}) is open after`;
    return judgeLimit(what, 2_000, elapsedMs, " ms");
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** A log as the page exports it: a task, and one artifact that grows by 1 kB an event. */
function makeLog(events: number): string {
  const taskId = "00000000-0000-4000-8000-000000000000";
  const names = { taskId, contextId: "bench" };
  const text = "0123456789".repeat(100);
  const lines = [
    { a2aTaskLog: 1, taskId, agent: "Bench", exported: "2026-01-01T00:00:00.000Z" },
    {
      id: 1,
      event: {
        task: {
          id: taskId,
          contextId: "bench",
          status: { state: "TASK_STATE_WORKING", timestamp: "2026-01-01T00:00:00Z" },
        },
      },
    },
    ...Array.from({ length: events - 1 }, (_, index) => ({
      id: index + 2,
      event: {
        artifactUpdate: {
          ...names,
          artifact: { artifactId: "output", parts: [{ text }] },
          ...(index === 0 ? {} : { append: true }),
        },
      },
    })),
  ];
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

/** From now on the page remembers the longest task of its main thread. */
async function watchTasks(page: Page): Promise<void> {
  await page.evaluate(() => {
    const watched = { longestMs: 0 };
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) watched.longestMs = Math.max(watched.longestMs, duration);
    }).observe({ type: "longtask" });
    Object.assign(globalThis, { watched });
  });
}

/** The longest task since then in milliseconds; 0: none was long enough for the browser to tell. */
async function readLongest(page: Page): Promise<number> {
  return await page.evaluate(async () => {
    await new Promise((resolve) => setTimeout(resolve, 100)); // the browser reports when it is idle
    return (globalThis as unknown as { readonly watched: { readonly longestMs: number } }).watched.longestMs;
  });
}

function judgeTask(what: string, longestMs: number): AimVerdict {
  const verdict = judgeLimit(what, longTaskMs, longestMs, " ms");
  return longestMs === 0 ? { ...verdict, measured: `< ${longTaskMs} ms` } : verdict;
}
