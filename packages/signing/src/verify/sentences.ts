import { shownText } from "@a2a-connect/core/internal";
import type { CheckedSignature } from "./check-signature.ts";
import { adviceOn, type CardFault } from "./faults.ts";
import type { PreparedPolicy } from "./prepared-policy.ts";
import { listPaths } from "./verdict.ts";
import type { WeighedChecks } from "./weigh-checks.ts";

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
    best?.profile === "strict" && covering !== undefined
      ? ` But the policy trusts signers that leave out empty values (${covering}), so an attacker may have removed empty values from it.`
      : "";
  return `${describeSigner(weighed)}.${others}${rest}${lost}`;
}

function describeSigner({ best, covering }: WeighedChecks): string {
  const by = `is signed by ${signerOf(best)}`;
  if (best?.profile !== "strict") {
    return `The card ${by}, by the profile ${best?.profile} and not as the specification says`;
  }
  return `${covering !== undefined ? "All that is in the card" : "Every field of the card"} ${by}`;
}

function signerOf(check: CheckedSignature | undefined): string {
  const { kid = "", alg, keySource = "trusted" } = check ?? {};
  const source = keySource === "trusted" ? "a trusted key" : `of ${shownText(keySource)}`;
  return `the key "${shownText(kid)}" (${alg}, ${source})`;
}
