import type { AgentCard } from "@a2a-connect/proto";
import type { CardVerdict } from "@a2a-connect/signing";
import type { CardFault } from "@a2a-connect/signing/internal";
import type { OwnOriginTrust } from "../../agent/trust.ts";
import { type Finding, quote } from "../finding.ts";

const id = "card.signatures";

/** What is known of a card whose signatures are examined. */
export interface SignedCard {
  readonly card: AgentCard;
  /** As it was received. */
  readonly text: string;
  /** Where it came from; undefined for a file. */
  readonly url: string | undefined;
}

/**
 * Whether the card is signed, and by whom it should be. A card without signatures is in order (spec §8.4), unless somebody who
 * calls the agent knows its key.
 *
 * @param verification what came of the keys that are known; undefined: none is known
 * @param ownOrigin asked where none is known
 */
export async function probeSignatures(
  signed: SignedCard,
  verification: CardVerdict | undefined,
  ownOrigin: OwnOriginTrust | undefined,
): Promise<readonly Finding[]> {
  if (verification === undefined) return [await probeWithoutKey(signed, ownOrigin)];
  const count = countSignatures(signed);
  const { verified, reason, message, kid, alg, profile, uncovered } = verification;
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

/** Why the examination ends there. */
export function sayUnverified(): Finding {
  return {
    id: "card.unverified",
    severity: "note",
    what: "Nothing else was asked: the card is not verified, and whoever changed it may have chosen the servers that it names.",
    fix: "Have the card signed anew, or give the right key; to examine the agent as a stranger would, give no key.",
  };
}

/** Faults that say nothing about the signature, but that there is no key to try it with. */
const withoutKey: ReadonlySet<CardFault | undefined> = new Set<CardFault>([
  "key-unknown",
  "jku-not-allowed",
  "jwks-unavailable",
]);

/** What the key set of the card's own origin says of it. That proves who controls the origin, and no more. */
async function probeWithoutKey(signed: SignedCard, ownOrigin: OwnOriginTrust | undefined): Promise<Finding> {
  const { card, text, url } = signed;
  if (card.signatures.length === 0) {
    return {
      id,
      severity: "note",
      what: "The card is not signed: callers have to trust the host it comes from.",
    };
  }
  const count = countSignatures(signed);
  const fix = "Give the signer's public key: --card-key FILE.";
  const verification = url === undefined ? undefined : await ownOrigin?.(text, url);
  if (url !== undefined && verification?.verified === true) {
    const { alg, kid, profile } = verification;
    return {
      id,
      severity: "note",
      what: `The card is signed by a key of its own origin: that proves that whoever controls ${new URL(url).origin} signed it, and nothing more.`,
      evidence: quote(`${count}; ${alg} by ${kid}, ${profile}`),
      fix,
    };
  }
  if (verification !== undefined && !withoutKey.has(verification.reason)) {
    return {
      id,
      severity: "warning",
      what: "The card's signature does not count, even by the keys of its own origin: callers who verify it refuse the card.",
      evidence: quote(`${verification.reason}: ${verification.message}`),
      fix: "Sign the card that is served: a2a card sign, or a2a serve --sign-key. a2a card verify says all about it.",
    };
  }
  return {
    id,
    severity: "note",
    what: "The card is signed. Nothing here says by whom it should be, so that was not verified.",
    evidence: `${count}, not verified`,
    fix,
  };
}

function countSignatures({ card: { signatures } }: SignedCard): string {
  return `${signatures.length} signature${signatures.length === 1 ? "" : "s"}`;
}
