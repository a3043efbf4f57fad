import { type Browser, chromium } from "playwright-core";
import { findChromium } from "./find-chromium.ts";

const executablePath = findChromium();

/** For tests that need a browser. */
export const inChromium = {
  skip: executablePath === undefined,
  meta: {
    skipReason:
      "no Chromium; install chromium, chromium-browser or google-chrome, or name one with CHROMIUM=path",
  },
} as const;

/**
 * A browser with a fresh profile that talks to our servers only.
 *
 * @param hosts names that it takes for this machine, against DNS
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
