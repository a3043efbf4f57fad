import type { AgentCard } from "@a2a-connect/proto";
import { satisfies, validate } from "compare-versions";
import { CardExpectationError } from "../errors.ts";
import { shownText } from "../interface/shown-text.ts";
import type { CardExpectation } from "../options.ts";
import { cardDigest } from "./card-digest.ts";

/**
 * Checks that a card is the one that was meant. A version that is none of SemVer's fits only an expectation that is the
 * same text.
 *
 * @throws CardExpectationError with what was expected and what the card has
 */
export async function checkExpectation(card: AgentCard, expect: CardExpectation): Promise<void> {
  const { cardVersion, cardDigest: digest } = expect;
  if (cardVersion !== undefined && !fits(card.version, cardVersion)) {
    throw new CardExpectationError(
      `The card has version ${shownText(card.version)}, and ${shownText(cardVersion)} is expected.`,
      { hint: "Look at what changed, then expect the new version, or call the agent that has the old one." },
    );
  }
  if (digest === undefined) {
    return;
  }
  const actual = await cardDigest(card);
  if (actual !== digest.toLowerCase()) {
    throw new CardExpectationError(
      `The card's SHA-256 digest is ${actual}, and ${shownText(digest)} is expected.`,
      { hint: "Look at what changed, then expect the new digest; `cardDigest` computes it." },
    );
  }
}

function fits(version: string, range: string): boolean {
  if (version === range) {
    return true;
  }
  if (!validate(version)) {
    return false;
  }
  try {
    return satisfies(version, range);
  } catch {
    throw new CardExpectationError(`${JSON.stringify(shownText(range))} is no range of versions.`, {
      hint: "Write it as npm does, such as ^1.2 or >=1.2 <3.",
    });
  }
}
