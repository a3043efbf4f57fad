import { shownText } from "@a2a-connect/core/internal";
import { CardTextError, cardDigest } from "@a2a-connect/signing/canonical";
import { satisfies, validate } from "compare-versions";
import { CardExpectationError, CardInvalidError } from "../errors.ts";
import type { CardExpectation } from "../options.ts";
import type { ResolvedCard } from "./card-resolver.ts";

/**
 * Tests whether a card is the expected one. A version that does not follow SemVer matches only an expectation with the
 * same text.
 *
 * @throws CardExpectationError with what was expected and what the card has
 * @throws CardInvalidError when a digest is expected and the card can be read in two ways
 */
export async function checkExpectation(
  { card, text }: Pick<ResolvedCard, "card" | "text">,
  expect: CardExpectation,
): Promise<void> {
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
  const actual = await digestOf(text);
  if (actual !== digest.toLowerCase()) {
    throw new CardExpectationError(
      `The card's SHA-256 digest is ${actual}, and ${shownText(digest)} is expected.`,
      { hint: "Look at what changed, then expect the new digest; `cardDigest` computes it." },
    );
  }
}

async function digestOf(text: string): Promise<string> {
  try {
    return await cardDigest(text);
  } catch (cause) {
    if (!(cause instanceof CardTextError)) {
      throw cause;
    }
    throw new CardInvalidError(`The card has no digest: ${shownText(cause.message)}.`, [cause.message], {
      hint: "Tell the operator of the agent.",
      cause,
    });
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
