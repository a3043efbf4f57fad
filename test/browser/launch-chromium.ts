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
 * What Chromium goes without. Playwright has such a list, and Chromium knows only the last one: of Playwright's these are what a
 * page, or its requests, could be changed by. The two at the end are pages of the address bar, which Chromium loads with every
 * window, also where no screen shows them: two thirds of a second of CPU each time.
 */
const disabledFeatures = [
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "ThirdPartyStoragePartitioning",
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
];

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
      `--disable-features=${disabledFeatures.join(",")}`,
      `--host-resolver-rules=${hosts.map((host) => `MAP ${host} 127.0.0.1`).join(",")}`,
    ],
  });
}
