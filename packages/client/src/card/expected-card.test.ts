import { describe, expect, it } from "vitest";
import { agentCard } from "../../test-support/cards.ts";
import { CardExpectationError } from "../errors.ts";
import { cardDigest } from "./card-digest.ts";
import { checkExpectation } from "./expected-card.ts";

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

it("nothing is expected: every card fits", async () => {
  await expect(checkExpectation(agentCard(), {})).resolves.toBeUndefined();
});
