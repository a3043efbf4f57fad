import { shownUrl } from "@a2a-connect/core/internal";
import { adviceOn, type CardFault } from "../verify/faults.ts";
import type { CardAlarm, CardVerdict } from "../verify/verdict.ts";
import { createCardVerifier, type VerificationContext } from "../verify/verify-card.ts";
import type { TrustPolicy } from "./trust-policy.ts";

/** A card is not trusted by the policy. Nothing in it was used. */
export class CardNotTrustedError extends Error {
  readonly code = "card-not-trusted";
  /** Where the card came from, without query; undefined when that is not known. */
  readonly url: string | undefined;
  readonly verification: CardVerdict;
  readonly reason: CardFault;
  /** What to do about it, in a sentence or two; not repeated in the message. */
  readonly hint: string;

  /** @param extended whether it is the extended card of the agent whose public one came from `url` */
  constructor(verification: CardVerdict, reason: CardFault, url?: string, extended = false) {
    const hint = adviceOn(reason);
    const { message } = verification;
    const story = message.endsWith(hint) ? message.slice(0, -hint.length).trimEnd() : message;
    const which = extended ? "extended card of the agent" : "card";
    super(`The ${which}${url === undefined ? "" : ` at ${url}`} is refused. ${story}`);
    this.name = "CardNotTrustedError";
    this.url = url;
    this.verification = verification;
    this.reason = reason;
    this.hint = hint;
  }
}

/** A card as the client hands it over. The extended card has the `url` of the public one; a card that the caller gave has none. */
export interface CardToTrust extends Pick<VerificationContext, "asked" | "extended"> {
  readonly url: string | undefined;
  /** Its JSON as it was received. */
  readonly text: string;
}

/** Who is told what, and what else verifying needs. What a listener throws refuses the card. */
export interface TrustCardsOptions extends Pick<VerificationContext, "now" | "fetch"> {
  /** Told everything that a person should look at, of trusted cards and of others, before the card is used or refused. */
  readonly onAlarm?: (alarm: CardAlarm, url: string | undefined) => void;
}

/**
 * Has a client use only cards that a policy trusts: what this returns is its option `verifyCard`.
 *
 * ```ts
 * const verifyCard = trustCards({ jku: {}, memory: createCardMemory() }, { onAlarm: ({ text }) => log.warn(text) });
 * const agent = await connectAgent("https://agent.example.org", { verifyCard });
 * ```
 *
 * @param policy must not be changed any more
 * @returns a function that throws CardNotTrustedError for a card that is not trusted, and what the policy's memory throws
 * @throws TypeError when the policy has no meaning
 */
export function trustCards(
  policy: TrustPolicy,
  options: TrustCardsOptions = {},
): (received: CardToTrust) => Promise<void> {
  const { onAlarm, now, fetch } = options;
  const verifier = createCardVerifier(policy);
  return async ({ url, asked, text, extended = false }) => {
    const verification = await verifier.verify(text, { url, asked, now, fetch, extended });
    for (const alarm of verification.alarms) onAlarm?.(alarm, url);
    if (verification.reason !== undefined) {
      throw new CardNotTrustedError(verification, verification.reason, url && shownUrl(url), extended);
    }
  };
}
