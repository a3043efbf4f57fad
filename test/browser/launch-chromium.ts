import { type Browser, chromium } from "playwright-core";
import { findChromium } from "./find-chromium.ts";

const executablePath = findChromium();

/**
 * Whether there is a browser to test with. In CI there has to be one; elsewhere the tests are skipped, and say so.
 *
 * @throws Error in CI on a machine without one
 */
export function hasChromium(): boolean {
  if (executablePath !== undefined) {
    return true;
  }
  const missing =
    "no Chromium on this machine: install chromium, chromium-browser or google-chrome, or name one with CHROMIUM=path";
  if (process.env["CI"] === "true") {
    throw new Error(`the browser tests must run in CI, but there is ${missing}`);
  }
  process.stderr.write(`browser tests skipped: ${missing}\n`);
  return false;
}

/**
 * A browser with a fresh profile that talks to nobody but us.
 *
 * @param hosts names that it takes for this machine, whatever DNS says
 */
export function launchChromium(hosts: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: executablePath ?? "",
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      `--host-resolver-rules=${hosts.map((host) => `MAP ${host} 127.0.0.1`).join(",")}`,
    ],
  });
}
