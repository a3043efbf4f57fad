import { shownText } from "@a2a-connect/core";
import type { CardTextError } from "../canonical/card-text-error.ts";
import { advice } from "./advice.ts";
import type { SignatureChoice } from "./choose-signature.ts";
import { listPaths, losesEmpties } from "./coverage.ts";
import type { PreparedPolicy } from "./prepared-policy.ts";
import type { CardFault, SignatureCheck } from "./verdict.ts";

/** The text has no one meaning. */
export function describeUnreadable({ message }: CardTextError): string {
  return `Nothing can be said about who signed it: ${message}. Fetch the card again; when it stays that way, tell its operator.`;
}

/** @param problems sentences without a full stop */
export function describeInvalid(problems: readonly string[]): string {
  return `This is no valid card: ${listPaths(problems)}. ${advice["card-invalid"]}`;
}

export function describeUnsigned(): string {
  return `The card has no signature. ${advice["no-signature"]}`;
}

/** The signatures are not enough. */
export function describeRefused(
  reason: CardFault,
  signatures: readonly SignatureCheck[],
  { best, gap, signerCount }: SignatureChoice,
  policy: PreparedPolicy,
): string {
  const hint = advice[reason] ?? "";
  switch (reason) {
    case "uncovered":
      return `The signature by ${signerOf(best)} is right, but ${gap?.text}. ${hint}`;
    case "too-few-signers": {
      const { minSigners } = policy;
      const demanded = minSigners === 1 ? "one key" : `${minSigners} different keys`;
      const named = policy.signers === undefined ? "" : " of those that it names";
      const has = signerCount === 0 ? "none" : `only ${signerCount}`;
      return `The policy demands signatures by ${demanded}${named}, and the card has ${has}. ${otherFault(signatures)}${hint}`;
    }
    default: {
      const problem = best?.problem ?? "it is not valid";
      return signatures.length === 1
        ? `The signature of the card does not count: ${problem}. ${hint}`
        : `None of the ${signatures.length} signatures of the card counts. The one that came furthest, signatures[${best?.index}]: ${problem}. ${hint}`;
    }
  }
}

/** That there are more signatures than were looked at. */
export function describeUnseen(seen: number, total: number): string {
  return seen === total ? "" : ` The first ${seen} of ${total} signatures were looked at.`;
}

/** The signatures are right, and the policy still does not trust the card. */
export function describeDistrusted(message: string | undefined, choice: SignatureChoice): string {
  return `${signatureStory(choice)}, but it is not trusted. ${message ?? ""}`.trim();
}

export function describeVerified(uncovered: readonly string[], choice: SignatureChoice): string {
  const { best, covering, signers } = choice;
  const others = signers.length > 1 ? ` ${signers.length} different keys have signed it.` : "";
  const rest =
    uncovered.length === 0 ? "" : ` Not protected by that, so do not rely on it: ${listPaths(uncovered)}.`;
  const lost =
    best?.profile === "strict" && covering !== undefined && losesEmpties(covering)
      ? ` But the policy trusts signers that leave out what is empty (${covering}), so something empty may have been taken out of it.`
      : "";
  return `${signatureStory(choice)}.${others}${rest}${lost}`;
}

function signatureStory({ best, covering }: SignatureChoice): string {
  if (best?.profile === "strict") {
    const whole =
      covering !== undefined && losesEmpties(covering) ? "all that is in it" : "every field of it";
    return `The card is signed by ${signerOf(best)}, ${whole}`;
  }
  return `The card is signed by ${signerOf(best)}, by the profile ${best?.profile} and not as the specification says`;
}

/** Why another signature does not count, of the first of them. */
function otherFault(signatures: readonly SignatureCheck[]): string {
  const bad = signatures.find(({ valid }) => !valid);
  return bad === undefined ? "" : `signatures[${bad.index}] does not count: ${bad.problem}. `;
}

function signerOf(verdict: SignatureCheck | undefined): string {
  if (verdict === undefined) return "nobody";
  const { kid = "", alg, keySource } = verdict;
  const source =
    keySource === undefined || keySource === "trusted" ? "a trusted key" : `of ${shownText(keySource)}`;
  return `the key "${shownText(kid)}" (${alg}, ${source})`;
}
