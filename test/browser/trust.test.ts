// Signed cards in a real browser: a page built with Vite, of another origin, with Web Crypto of its own.

import { fileURLToPath } from "node:url";
import { serve } from "@a2a-connect/node";
import { createMemoryTaskStore, defineAgent } from "@a2a-connect/server";
import { generateSigningKey } from "@a2a-connect/signing";
import type { SignatureAlgorithm } from "@a2a-connect/signing/internal";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inChromium, launchChromium } from "./launch-chromium.ts";
import { type ServedPage, servePage } from "./serve-page.ts";
import type { PagePolicy } from "./trust-page/page-api.ts";

const algorithms: readonly SignatureAlgorithm[] = ["ES256", "ES384", "EdDSA", "RS256", "PS256"];

describe("a page that trusts some signers", inChromium, () => {
  let served: ServedPage;
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    const root = fileURLToPath(new URL("trust-page", import.meta.url));
    [served, browser] = await Promise.all([servePage(root), launchChromium()]);
    page = await browser.newPage();
    await page.goto(served.url);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    served.close();
  });

  const connect = (url: string, policy: PagePolicy) =>
    page.evaluate(([agentUrl, trusted]) => trustPage.connect(agentUrl, trusted), [url, policy] as const);

  for (const alg of algorithms) {
    it(`verifies ${alg}, by a key that it has and by the agent's own key set`, async () => {
      const { privateJwk, publicJwk } = await generateSigningKey({ alg });
      const { publicJwk: other } = await generateSigningKey({ alg });
      const agent = defineAgent({ card: { name: "Signed" }, async *execute() {} });
      const store = createMemoryTaskStore();
      await using server = await serve(agent, { store, signing: { keys: [{ key: privateJwk }] } });
      expect(await connect(server.url, { keys: [publicJwk] })).toBe("Signed");
      expect(await connect(server.url, { jku: {} })).toBe("Signed");
      expect(await connect(server.url, { keys: [other] })).toBe("key-unknown");
      expect(await connect(server.url, { keys: [{ ...other, kid: publicJwk.kid }] })).toBe(
        "signature-mismatch",
      );
    });
  }
});
