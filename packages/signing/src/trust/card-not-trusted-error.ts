import { advice } from "../verify/sentences.ts";
import type { CardFault, CardVerdict } from "../verify/verdict.ts";

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
    const hint = advice[reason];
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
