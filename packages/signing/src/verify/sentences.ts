import { shownText } from "@a2a-connect/core/internal";
import type { CardTextFault } from "../canonical/unambiguous-text.ts";
import { losesEmpties } from "./coverage.ts";
import type { PreparedPolicy } from "./prepared-policy.ts";
import { type CardFault, listPaths, type SignatureCheck } from "./verdict.ts";
import type { WeighedChecks } from "./weigh-checks.ts";

/** What to do about a card that is not trusted, in a sentence or two. */
export function adviceOn(fault: CardFault): string {
  return fault in advice ? advice[fault as keyof typeof advice] : advice.unreadable; // it may have been cut short on the way
}

const advice: Readonly<Record<Exclude<CardFault, CardTextFault> | "unreadable", string>> = {
  unreadable: "Fetch the card again. If that does not help, tell its operator.",
  "card-invalid": "Its signatures were not checked. Tell the operator of the agent.",
  "no-signature": "Ask its operator to sign it; until then any proxy on the way could have written it.",
  "malformed-signature": "Fetch the card again. If that does not help, its operator has to sign it again.",
  "algorithm-not-allowed": "Its operator has to sign it with an algorithm that the policy allows.",
  "crit-not-understood": "Its operator has to sign it without extensions of JWS.",
  "kid-missing": "Its operator has to sign it with a kid in the protected header (spec §8.4.2).",
  "typ-not-allowed": 'Its operator has to sign it with the typ "JOSE", or without one (spec §8.4.2).',
  "key-unknown":
    "Get the public key from a source you trust and add it to the policy; do not take it from the card's own server unless you trust that.",
  "key-mismatch": "Compare the key in the policy or key set with what its owner says.",
  "key-not-yet-valid":
    "Check the clock of this machine. If it is right, the operator has to sign the card with a current key.",
  "key-expired":
    "Check the clock of this machine. If it is right, the operator has to sign the card with a current key.",
  "key-revoked": "Do not use this card: the key may be stolen. Its operator has to sign it with another key.",
  "jku-not-allowed":
    "If you trust that host to say who signs every card, add it to the hosts of the policy (jku.hosts).",
  "jwks-unavailable": "Try again later, or add the key itself to the policy.",
  "signature-mismatch":
    "Do not use this card: it was changed after it was signed, or signed with another key.",
  uncovered:
    "Its operator has to sign it as the specification says (profile strict); `allowUncovered` accepts it, at your own risk.",
  "too-few-signers": "Do not use this card until the missing signers have signed it, too.",
  "pin-changed":
    "Ask the operator of the agent, through a separate channel, whether it has new keys. If so, have the card memory forget the agent.",
  "security-too-weak":
    "Its operator has to declare what the agent demands. Or lower the minimum of the policy, if you know what that means.",
  downgrade:
    "Ask the operator of the agent, through a separate channel, whether this is meant. If so, have the card memory forget the agent.",
};

/**
 * Why the signatures are not enough.
 *
 * @param total how many the card has; not more than some of them are looked at
 */
export function describeRefused(
  fault: CardFault,
  { checks, best, gap, signerCount }: WeighedChecks,
  { minSigners, signers }: PreparedPolicy,
  total: number,
): string {
  const looked = `Only the first ${checks.length} of ${total} signatures were checked. `;
  const hint = (total === checks.length ? "" : looked) + adviceOn(fault); // which ends the message: see CardNotTrustedError
  if (fault === "uncovered") return `The signature by ${signerOf(best)} is right, but ${gap?.text}. ${hint}`;
  if (fault === "too-few-signers") {
    const demanded = minSigners === 1 ? "one key" : `${minSigners} different keys`;
    const named = signers === undefined ? "" : " of those that it names";
    const has = signerCount === 0 ? "none" : `only ${signerCount}`;
    const bad = checks.find(({ valid }) => !valid);
    const other = bad === undefined ? "" : `signatures[${bad.index}] does not count: ${bad.problem}. `;
    return `The policy demands signatures by ${demanded}${named}, but the card has ${has}. ${other}${hint}`;
  }
  const problem = best?.problem ?? "it is not valid";
  return checks.length === 1
    ? `The signature of the card does not count: ${problem}. ${hint}`
    : `None of the ${checks.length} signatures of the card counts. The one that passed the most checks, signatures[${best?.index}]: ${problem}. ${hint}`;
}

/** @param fault what the policy says against a card whose signatures are right, in sentences */
export function describeDistrusted(fault: string, weighed: WeighedChecks): string {
  return `${describeSigner(weighed)}, but the card is not trusted. ${fault}`;
}

export function describeVerified(weighed: WeighedChecks): string {
  const { best, covering, signers, uncovered } = weighed;
  const others = signers.length > 1 ? ` ${signers.length} different keys have signed it.` : "";
  const rest =
    uncovered.length === 0
      ? ""
      : ` The signature does not protect these fields, so do not rely on them: ${listPaths(uncovered)}.`;
  const lost =
    best?.profile === "strict" && losesEmpties(covering)
      ? ` But the policy trusts signers that leave out empty values (${covering}), so an attacker may have removed empty values from it.`
      : "";
  return `${describeSigner(weighed)}.${others}${rest}${lost}`;
}

function describeSigner({ best, covering }: WeighedChecks): string {
  const by = `is signed by ${signerOf(best)}`;
  if (best?.profile !== "strict") {
    return `The card ${by}, by the profile ${best?.profile} and not as the specification says`;
  }
  return `${losesEmpties(covering) ? "All that is in the card" : "Every field of the card"} ${by}`;
}

function signerOf(check: SignatureCheck | undefined): string {
  const { kid = "", alg, keySource = "trusted" } = check ?? {};
  const source = keySource === "trusted" ? "a trusted key" : `of ${shownText(keySource)}`;
  return `the key "${shownText(kid)}" (${alg}, ${source})`;
}
