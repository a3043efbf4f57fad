import type { AgentCard } from "@a2a-connect/proto";
import type { CardTrust } from "../../agent/card-trust.ts";
import { type Finding, quote } from "../finding.ts";

/** What is known of a card whose signatures are examined. */
export interface SignedCard {
  readonly card: AgentCard;
  /** As it was received. */
  readonly text: string;
}

/**
 * Whether the card is signed, and by whom it should be. A card without signatures is in order (spec §8.4), unless somebody who
 * calls the agent knows its key.
 *
 * @param trust undefined: no key is known
 */
export async function probeSignatures(
  { card: { signatures }, text }: SignedCard,
  trust: CardTrust | undefined,
): Promise<readonly Finding[]> {
  const id = "card.signatures";
  const count = `${signatures.length} signature${signatures.length === 1 ? "" : "s"}`;
  if (trust === undefined) {
    return [
      signatures.length === 0
        ? {
            id,
            severity: "note",
            what: "The card is not signed: callers have to trust the host it comes from.",
          }
        : {
            id,
            severity: "note",
            what: "The card is signed. Nothing here says by whom it should be, so that was not verified.",
            evidence: `${count}, not verified`,
            fix: "Give the signer's public key: --card-key FILE. What a2a card verify finds without one is a beginning.",
          },
    ];
  }
  const { verified, reason, message, kid, alg, profile, uncovered } = await trust.verify(text);
  if (!verified) {
    return [
      {
        id,
        severity: "problem",
        what: "The card is not verified by the key that you gave: callers who know it refuse the agent.",
        evidence: quote(`${reason}: ${message}`),
        fix: "a2a card verify says all about it.",
      },
    ];
  }
  const evidence = quote(`${count}; ${alg} by ${kid}, ${profile}`);
  return [
    uncovered.length === 0
      ? { id, severity: "ok", what: "The card is signed by a key that you gave.", evidence }
      : {
          id,
          severity: "warning",
          what: "The card is signed by a key that you gave, but not all of it is protected by that.",
          evidence: quote(`${evidence}; unprotected: ${uncovered.join(", ")}`),
          fix: "Sign it by the specification (§8.4): a2a card sign.",
        },
  ];
}
