import type { Profile } from "../profiles/profile.ts";
import { legacyProfiles } from "../profiles/profile-card.ts";
import { type CoverageGap, findCoverageGap } from "./coverage.ts";
import { furthest } from "./fault-order.ts";
import type { PreparedPolicy } from "./prepared-policy.ts";
import type { SignedCard } from "./signed-card.ts";
import type { SignatureVerdict } from "./verification.ts";

/** What the signatures of a card amount to by a policy. */
export interface SignatureChoice {
  /** The one that the verification tells of; undefined when there is none at all. */
  readonly best: SignatureVerdict | undefined;
  /** Thumbprints of the different keys that count. */
  readonly signers: readonly string[];
  /** Why the best signature is right and still does not count. */
  readonly gap: CoverageGap | undefined;
}

/** Weighs verdicts: which keys count, and which signature tells most. */
export function chooseSignature(
  verdicts: readonly SignatureVerdict[],
  card: SignedCard,
  policy: PreparedPolicy,
): SignatureChoice {
  const valid = verdicts
    .filter((verdict) => verdict.valid)
    .sort((one, other) => strictness(one) - strictness(other));
  const covering = valid.filter((verdict) => gapOf(verdict, card, policy) === undefined);
  const counting = covering.filter((verdict) => isSigner(verdict, policy));
  const best = counting[0] ?? covering[0] ?? valid[0] ?? furthest(verdicts);
  const signers = new Set(counting.flatMap(({ thumbprint }) => thumbprint ?? []));
  return { best, signers: [...signers], gap: best === undefined ? undefined : gapOf(best, card, policy) };
}

/** A smaller number for a stricter profile. */
function strictness({ profile }: SignatureVerdict): number {
  return profile === undefined || profile === "strict" ? -1 : legacyProfiles.indexOf(profile);
}

function gapOf(
  verdict: SignatureVerdict,
  card: SignedCard,
  prepared: PreparedPolicy,
): CoverageGap | undefined {
  const profile = coveringProfile(verdict, card, prepared);
  if (profile === undefined || prepared.policy.allowUncovered === true) return undefined;
  return findCoverageGap(profile, verdict.uncovered, card.unsigned);
}

/**
 * The profile by which it is judged what a signature leaves open. Of a card in which nothing is empty, `strict` and the others
 * sign the same: who trusts signers that lose what is empty cannot know that they did not.
 */
export function coveringProfile(
  { profile }: SignatureVerdict,
  card: SignedCard,
  { profiles }: PreparedPolicy,
): Profile | undefined {
  return profile === "strict"
    ? profiles.find(
        (each) => each !== profile && card.forms(each).some(({ payload }) => payload === card.canonical),
      )
    : profile;
}

/**
 * Whether a key is one of those whose signature is demanded. A key set of the card's own origin may give its keys whatever ids it
 * likes, so an id counts only for keys that the policy has, and those of hosts that it names.
 */
function isSigner(
  { kid, thumbprint, keySource }: SignatureVerdict,
  { signers, remote }: PreparedPolicy,
): boolean {
  if (signers === undefined) return true;
  if (thumbprint !== undefined && signers.has(thumbprint)) return true;
  const isNamed = keySource === "trusted" || remote?.rule.hosts !== undefined;
  return isNamed && kid !== undefined && signers.has(kid);
}
