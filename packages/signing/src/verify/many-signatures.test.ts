import { base64url } from "jose";
import { afterEach, describe, expect, it, vi } from "vitest";
import { encodeHeader, makeKey, plainCard, signText } from "../../test-support/signed-card.ts";
import { canonicalCard } from "../canonical/canonical-card.ts";
import { maxSignatures } from "../signed-card.ts";
import { createCardVerifier } from "./verify-card.ts";

const key = await makeKey("one");
const strict = canonicalCard(JSON.stringify(plainCard));
const verifier = createCardVerifier({ keys: [key.public] });
const wrong = base64url.encode(new Uint8Array(64).fill(7));
const others = Array.from({ length: maxSignatures }, (_, at) => ({
  protected: encodeHeader({ alg: "ES256", kid: key.public.kid, typ: "JOSE", at }),
  signature: wrong,
}));

afterEach(() => {
  vi.restoreAllMocks();
});

/** A card with as many signatures as are looked at, of which only the one at a place is right. */
async function cardOf(right: number): Promise<string> {
  const signature = await signText(strict, key);
  return JSON.stringify({ ...plainCard, signatures: others.with(right, signature) });
}

/** Web Crypto, which answers when it is let go: how many signing inputs it has, of which cards. */
function holdWebCrypto() {
  const verify = crypto.subtle.verify.bind(crypto.subtle);
  const released = Promise.withResolvers<void>();
  const counts = { now: 0, most: 0 };
  vi.spyOn(crypto.subtle, "verify").mockImplementation(async (...input) => {
    counts.now += 1;
    counts.most = Math.max(counts.most, counts.now);
    await released.promise;
    const isRight = await verify(...input);
    counts.now -= 1;
    return isRight;
  });
  return { counts, release: released.resolve };
}

/** So many turns of the event loop that all has begun that need not wait. */
async function passTurns(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
}

describe("the signatures of", () => {
  it.each([
    ["one card", 1, "https://agents.example.org/card.json", 1],
    ["one card that came from nowhere", 1, undefined, 1],
    ["the cards of one origin", 20, "https://agents.example.org/card.json", 1],
    ["cards that came from nowhere", 20, undefined, 2],
    ["the cards of many origins", 20, "https://agent-N.example.org/card.json", 2],
  ])("%s are given to Web Crypto one by one, of few cards at a time", async (_, count, url, most) => {
    const { counts, release } = holdWebCrypto();
    const text = await cardOf(5);
    const cards = Array.from({ length: count }, (_, at) =>
      verifier.verify(text, { url: url?.replace("N", `${at}`) }),
    );
    await expect.poll(() => counts.now).toBe(most);
    await passTurns();
    expect(counts.now).toBe(most);
    release();
    for (const verdict of await Promise.all(cards)) {
      expect(verdict.verified).toBe(true);
      expect(verdict.signatures.map(({ index }) => index)).toEqual(others.map((_, at) => at));
      expect(verdict.signatures.flatMap(({ index, valid }) => (valid ? [index] : []))).toEqual([5]);
    }
    expect(counts.most).toBe(most);
  });

  it("a card whose caller has gone no longer wait, and the others go on", async () => {
    const { counts, release } = holdWebCrypto();
    const url = "https://agents.example.org/card.json";
    const text = await cardOf(0);
    const stop = new AbortController();
    const first = verifier.verify(text, { url });
    const gone = verifier.verify(text, { url, signal: stop.signal });
    await expect.poll(() => counts.now).toBe(1);
    stop.abort(new Error("gone"));
    await expect(gone).rejects.toThrow("gone");
    expect(counts.now).toBe(1);
    release();
    expect((await first).verified).toBe(true);
    expect((await verifier.verify(text, { url })).verified).toBe(true);
  });
});
