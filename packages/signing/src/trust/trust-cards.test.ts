import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { makeKey, plainCard, signText, type TestKey } from "../../test-support/signed-card.ts";
import { canonicalCard } from "../canonical/canonical-card.ts";
import { thumbprintOf } from "../keys/key.ts";
import type { CardAlarm } from "../verify/verdict.ts";
import { createCardMemory } from "./card-memory.ts";
import { CardNotTrustedError, trustCards } from "./trust-cards.ts";

const url = "https://agents.example.org/.well-known/agent-card.json";
const k1 = await makeKey("k1");
const k2 = await makeKey("k2");
const stranger = await makeKey("k1");
const policy = { keys: [k1.public, k2.public] };

/** A card as its server writes it. */
async function sign(card: JsonObject, ...keys: TestKey[]): Promise<string> {
  const payload = canonicalCard(JSON.stringify(card));
  return JSON.stringify({
    ...card,
    signatures: await Promise.all(keys.map((key) => signText(payload, key))),
  });
}

const good = await sign(plainCard, k1);
const forged = await sign(plainCard, stranger);
const { securityRequirements: _, ...forEverybody } = plainCard;

/** What refused a card. */
async function findRefusal(judging: Promise<void>): Promise<CardNotTrustedError | undefined> {
  try {
    await judging;
    return undefined;
  } catch (error) {
    if (error instanceof CardNotTrustedError) return error;
    throw error;
  }
}

describe("trustCards", () => {
  it("lets a card pass that a trusted key has signed", async () => {
    const verify = trustCards(policy);
    await verify({ url, text: good });
    await verify({ url: undefined, text: good });
  });

  for (const [what, text, reason] of [
    ["is not signed", JSON.stringify(plainCard), "no-signature"],
    ["was changed", good.replace("rpc", "evil"), "signature-mismatch"],
    ["another key of that name has signed", forged, "signature-mismatch"],
    ["is no card", "<html>", "not-json"],
  ] as const) {
    it(`refuses a card that ${what}`, async () => {
      const refusal = await findRefusal(trustCards(policy)({ url: `${url}?token=secret`, text }));
      expect(refusal).toMatchObject({ name: "CardNotTrustedError", code: "card-not-trusted", reason, url });
      expect(refusal?.message).toMatch(
        /^The card at https:\/\/agents\.example\.org\/\.well-known\/agent-card\.json is refused\. [A-Z].*\.$/s,
      );
      expect(refusal?.hint).toMatch(/\.$/);
      expect(refusal?.message).not.toContain(refusal?.hint);
      expect(refusal?.message).not.toContain("secret");
      expect(refusal?.verification.reason).toBe(reason);
    });
  }

  it("says nothing of an address that it does not know", async () => {
    const refusal = await findRefusal(trustCards(policy)({ url: undefined, text: "" }));
    expect(refusal?.url).toBeUndefined();
    expect(refusal?.message).toMatch(/^The card is refused\. /);
  });

  it("tells the alarms before it refuses", async () => {
    const told: unknown[] = [];
    const verify = trustCards(
      { ...policy, memory: createCardMemory() },
      { onAlarm: ({ kind, paths }, from) => told.push([kind, paths, from]) },
    );
    await verify({ url, text: good });
    const refusal = await findRefusal(verify({ url, text: await sign(forEverybody, k1) }));
    expect(told).toEqual([
      ["first-use", [], url],
      ["downgrade", ["securityRequirements"], url],
    ]);
    expect(refusal?.message).toContain("The agent no longer asks for credentials.");
    expect(refusal?.hint).toMatch(/^Ask the operator of the agent, through a separate channel/);
  });

  it("follows a rotation of keys, and nobody else", async () => {
    const alarms: string[] = [];
    const memory = createCardMemory();
    let now = 0;
    const listen = { onAlarm: ({ kind }: CardAlarm) => alarms.push(kind), now: () => now };
    const verify = trustCards({ ...policy, memory }, listen);
    await verify({ url, text: good });
    expect(await findRefusal(verify({ url, text: await sign(plainCard, k2) }))).toMatchObject({
      reason: "pin-changed",
    });
    await verify({ url, text: await sign(plainCard, k1, k2) });
    await verify({ url, text: await sign(plainCard, k2) });
    now = 24 * 60 * 60 * 1_000;
    await verify({ url, text: await sign(plainCard, k2) }); // the policy still names the old one: it stays known
    await trustCards(
      { ...policy, keys: [k2.public], memory },
      listen,
    )({
      url,
      text: await sign(plainCard, k2),
    });
    expect(await findRefusal(verify({ url, text: good }))).toMatchObject({ reason: "pin-changed" });
    expect(alarms).toEqual(["first-use", "pin-changed", "signer-missing", "signer-missing", "pin-changed"]);
    expect((await memory.read("https://agents.example.org"))?.thumbprints).toEqual([
      await thumbprintOf(k2.public),
    ]);
  });

  it("counts no key that has signed something else", async () => {
    const verify = trustCards({ ...policy, memory: createCardMemory() });
    await verify({ url, text: good });
    const [ofAnother] = JSON.parse(await sign(forEverybody, k1)).signatures;
    const { signatures, ...card } = JSON.parse(await sign(plainCard, k2));
    const text = JSON.stringify({ ...card, signatures: [ofAnother, ...signatures] });
    expect(await findRefusal(verify({ url, text }))).toMatchObject({ reason: "pin-changed" });
  });

  it("remembers a card by the URL that was asked for, wherever that led", async () => {
    const verify = trustCards({ ...policy, memory: createCardMemory() });
    const elsewhere = "https://agents.example.org/elsewhere";
    await verify({ url, text: good });
    const swapped = { url: elsewhere, text: await sign(plainCard, k2) };
    expect(await findRefusal(verify({ ...swapped, asked: url }))).toMatchObject({ reason: "pin-changed" });
    await verify(swapped);
  });

  it("demands the public card's keys of the extended one, and compares no more", async () => {
    const verify = trustCards({ ...policy, memory: createCardMemory() });
    await verify({ url, text: good });
    await verify({ url, text: await sign(forEverybody, k1), extended: true });
    await verify({ url, text: good });
    const refusal = await findRefusal(verify({ url, text: await sign(plainCard, k2), extended: true }));
    expect(refusal).toMatchObject({ reason: "pin-changed" });
  });

  it("uses the clock that it is given", async () => {
    const expiring = { ...k1.public, exp: 1_000 };
    await trustCards({ keys: [expiring] }, { now: () => 999_000 })({ url, text: good });
    const refusal = await findRefusal(trustCards({ keys: [expiring] })({ url, text: good }));
    expect(refusal).toMatchObject({ reason: "key-expired" });
  });

  it("refuses a policy that means nothing, at once", () => {
    expect(() => trustCards({ minSigners: 0 })).toThrow(TypeError);
    expect(() => trustCards({ newKeyDelayMs: -1 })).toThrow(TypeError);
  });
});
