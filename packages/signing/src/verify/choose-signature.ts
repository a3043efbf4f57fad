import type { Profile } from "../profiles/profile.ts";
import { legacyProfiles } from "../profiles/profile-card.ts";
import { countSigners, namesMet } from "./count-signers.ts";
import { type CoverageGap, findCoverageGap } from "./coverage.ts";
import { furthest } from "./fault-order.ts";
import type { PreparedPolicy } from "./prepared-policy.ts";
import type { SignedCard } from "./signed-card.ts";
import type { SignatureCheck } from "./verdict.ts";

/** What the signatures of a card amount to by a policy. */
export interface SignatureChoice {
  /** The one that the verification tells of; undefined when there is none at all. */
  readonly best: SignatureCheck | undefined;
  /** Thumbprints of the different keys that count. */
  readonly signers: readonly string[];
  /** How many signers those are: of keys that the policy names, each name once. */
  readonly signerCount: number;
  /** The profile by which it is judged what the best signature leaves open; undefined when that is nothing. */
  readonly covering: Profile | undefined;
  /** Why the best signature is right and still does not count. */
  readonly gap: CoverageGap | undefined;
}

/** Weighs verdicts: which keys count, and which signature tells most. */
export function chooseSignature(
  verdicts: readonly SignatureCheck[],
  card: SignedCard,
  policy: PreparedPolicy,
): SignatureChoice {
  const coverage = new Coverage(card, policy);
  const valid = verdicts
    .filter((verdict) => verdict.valid)
    .sort((one, other) => strictness(one) - strictness(other));
  const covering = valid.filter((verdict) => coverage.gapOf(verdict) === undefined);
  const counting = covering.filter((verdict) => isSigner(verdict, policy));
  const best = counting[0] ?? covering[0] ?? valid[0] ?? furthest(verdicts);
  const signers = new Set(counting.flatMap(({ thumbprint }) => thumbprint ?? []));
  return {
    best,
    signers: [...signers],
    signerCount: countSigners(counting, policy),
    covering: best === undefined ? undefined : coverage.profileOf(best),
    gap: best === undefined ? undefined : coverage.gapOf(best),
  };
}

/** A smaller number for a stricter profile. */
function strictness({ profile }: SignatureCheck): number {
  return profile === undefined || profile === "strict" ? -1 : legacyProfiles.indexOf(profile);
}

/** What signatures of one card leave open. Found once for each form that was signed: many signatures may be of the same. */
class Coverage {
  readonly #card: SignedCard;
  readonly #policy: PreparedPolicy;
  readonly #gaps = new Map<Profile, Map<SignatureCheck["uncovered"], CoverageGap | undefined>>();
  #strictly: { readonly profile: Profile | undefined } | undefined;

  constructor(card: SignedCard, policy: PreparedPolicy) {
    this.#card = card;
    this.#policy = policy;
  }

  /**
   * The profile by which it is judged what a signature leaves open. Of a card in which nothing is empty, `strict` and the others
   * sign the same: who trusts signers that lose what is empty cannot know that they did not.
   */
  profileOf({ profile }: SignatureCheck): Profile | undefined {
    if (profile !== "strict") return profile;
    this.#strictly ??= { profile: this.#findStrictly() };
    return this.#strictly.profile;
  }

  gapOf(verdict: SignatureCheck): CoverageGap | undefined {
    const profile = this.profileOf(verdict);
    if (profile === undefined || this.#policy.policy.allowUncovered === true) return undefined;
    const { uncovered } = verdict; // the list of the form itself
    const known = this.#gaps.get(profile) ?? new Map<typeof uncovered, CoverageGap | undefined>();
    this.#gaps.set(profile, known);
    if (!known.has(uncovered)) {
      known.set(uncovered, findCoverageGap(profile, uncovered, this.#card.unsigned));
    }
    return known.get(uncovered);
  }

  #findStrictly(): Profile | undefined {
    const { canonical } = this.#card;
    return this.#policy.profiles.find(
      (each) => each !== "strict" && this.#card.forms(each).some(({ payload }) => payload === canonical),
    );
  }
}

function isSigner(verdict: SignatureCheck, policy: PreparedPolicy): boolean {
  return policy.signers === undefined || namesMet(verdict, policy).length > 0;
}
