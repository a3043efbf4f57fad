import { canonicalCard, cardDigest } from "@a2a-connect/signing/canonical";
import { describe, expect, it } from "vitest";
import { agentCard, cardJson } from "../../test-support/cards.ts";
import { CardExpectationError, CardInvalidError } from "../errors.ts";
import type { CardExpectation } from "../options.ts";
import { checkExpectation as checkReceived } from "./expected-card.ts";
import { readCard } from "./read-card.ts";

const received = async (text: string) => ({ text, card: (await readCard(text)).card });

const checkExpectation = async (card: ReturnType<typeof agentCard>, expected: CardExpectation) =>
  checkReceived(await received(canonicalCard(card)), expected);

describe("the version that is expected of a card", () => {
  for (const [version, range] of [
    ["1.2.3", "1.2.3"],
    ["1.2.3", "^1.2"],
    ["1.2.3", "~1.2.0"],
    ["1.9.0", ">=1.2 <2"],
    ["3.0.0", "^1.2 || ^3"],
    ["1.2.3+off.translate", "^1.2"],
    ["2024-10", "2024-10"],
    ["spring release", "spring release"],
  ] as const) {
    it(`fits: ${version} is ${range}`, async () => {
      await expect(checkExpectation(agentCard({ version }), { cardVersion: range })).resolves.toBeUndefined();
    });
  }

  for (const [version, range] of [
    ["1.2.3", "^2"],
    ["2.0.0", "^1.2"],
    ["1.1.9", "^1.2"],
    ["1.3.0", "~1.2.0"],
    ["2024-10", "^2024"],
    ["spring release", "^1.2"],
    ["1.2.3", "spring release"],
  ] as const) {
    it(`does not fit, and both are said: ${version} is not ${range}`, async () => {
      const thrown = await checkExpectation(agentCard({ version }), { cardVersion: range }).catch(
        (error) => error,
      );
      expect(thrown).toBeInstanceOf(CardExpectationError);
      expect(thrown.message).toContain(range);
      if (range !== "spring release") expect(thrown.message).toContain(version);
    });
  }
});

describe("the digest that is expected of a card", () => {
  it("fits in any case of its letters", async () => {
    const digest = await cardDigest(agentCard());
    await expect(
      checkExpectation(agentCard(), { cardDigest: digest.toUpperCase() }),
    ).resolves.toBeUndefined();
  });

  it("does not fit another card, and both are said", async () => {
    const [digest, other] = [await cardDigest(agentCard()), await cardDigest(agentCard({ version: "2" }))];
    const thrown = await checkExpectation(agentCard(), { cardDigest: other }).catch((error) => error);
    expect(thrown).toBeInstanceOf(CardExpectationError);
    expect(thrown.message).toContain(digest);
    expect(thrown.message).toContain(other);
  });
});

describe("the digest of a card that was received", () => {
  for (const [what, card] of [
    ["with members that nobody knows", { ...cardJson, somethingNew: { a: "" } }],
    [
      "of A2A 0.3",
      {
        ...cardJson,
        supportedInterfaces: undefined,
        protocolVersion: "0.3.0",
        url: "https://clerk.example/rpc",
      },
    ],
    ["with modes of an older form", { ...cardJson, defaultInputModes: ["text"] }],
  ] as const) {
    it(`is of its text: ${what}`, async () => {
      const text = JSON.stringify(card, undefined, 2);
      const digest = await cardDigest(text);
      await expect(checkReceived(await received(text), { cardDigest: digest })).resolves.toBeUndefined();
      const otherwise = await cardDigest((await readCard(text)).card);
      expect(otherwise).not.toBe(digest);
      await expect(checkReceived(await received(text), { cardDigest: otherwise })).rejects.toThrow(digest);
    });
  }

  it("is the same whoever signed it", async () => {
    const signed = JSON.stringify({ ...cardJson, signatures: [{ protected: "x", signature: "y" }] });
    const digest = await cardDigest(agentCard());
    await expect(checkReceived(await received(signed), { cardDigest: digest })).resolves.toBeUndefined();
  });

  it("is none when it could be read in two ways", async () => {
    const card = { card: agentCard(), text: '{"iconUrl":"a","icon_url":"b"}' };
    const thrown = await checkReceived(card, { cardDigest: "0" }).catch((error) => error);
    expect(thrown).toBeInstanceOf(CardInvalidError);
    expect(thrown.message).toMatch(/icon_?url/i);
  });
});

it("nothing is expected: every card fits", async () => {
  await expect(checkExpectation(agentCard(), {})).resolves.toBeUndefined();
});
