import { isLossy, type LossyProfile } from "../profiles/profile-card.ts";
import type { SignedCard, SignedForm } from "../signed-card.ts";
import type { CheckedSignature } from "./check-signature.ts";
import { findCoverageGap } from "./coverage.ts";
import { furthest } from "./faults.ts";
import type { PreparedPolicy } from "./prepared-policy.ts";
import type { Finding, SignatureCheck } from "./verdict.ts";

/** What the signatures of a card amount to by a policy. */
export interface WeighedChecks {
  /** The checks, which now say whether they count. */
  readonly checks: readonly SignatureCheck[];
  /** The one that the verdict tells of; undefined when there is none at all. */
  readonly best: CheckedSignature | undefined;
  /** Thumbprints of the different keys that count. */
  readonly signers: readonly string[];
  /** How many signers those are: of keys that the policy names, each name once. */
  readonly signerCount: number;
  /** The profile by which it is judged what the best signature leaves open; undefined when that is nothing. */
  readonly covering: LossyProfile | undefined;
  /** Why the best signature is right and still does not count. */
  readonly gap: Finding | undefined;
  /** Paths of what the best signature does not protect, and of that gap. */
  readonly uncovered: readonly string[];
}

/** Weighs checks: which keys count, and which signature tells most. */
export function weighChecks(
  checks: readonly CheckedSignature[],
  card: SignedCard,
  policy: PreparedPolicy,
): WeighedChecks {
  const strictness = ({ profile = "strict" }: CheckedSignature) => policy.profiles.indexOf(profile);
  const valid = checks
    .filter((check) => check.valid)
    .sort((one, other) => strictness(one) - strictness(other));
  // Once for each form: many signatures may be of the same.
  const forms = new Set(valid.flatMap(({ form }) => form ?? []));
  const gaps = new Map(Array.from(forms, (form) => [form, findGap(form, card, policy)]));
  const gapOf = ({ form }: CheckedSignature) => form && gaps.get(form);
  const mayHaveGaps = policy.policy.allowUncovered === true;
  const covering = valid.filter((check) => mayHaveGaps || gapOf(check) === undefined);
  const isNamed = (check: CheckedSignature) =>
    policy.signers === undefined || namesMet(check, policy).length > 0;
  const counting = covering.filter(isNamed);
  const best = counting[0] ?? covering[0] ?? valid[0] ?? furthest(checks);
  const gap = best === undefined || mayHaveGaps ? undefined : gapOf(best);
  const signers = new Set(counting.flatMap(({ thumbprint }) => thumbprint ?? []));
  return {
    checks: checks.map((check) => {
      const { form: _, ...told } = check;
      return { ...told, counts: counting.includes(check), hasGap: gapOf(check) !== undefined };
    }),
    best,
    signers: [...signers],
    signerCount: policy.signers === undefined ? signers.size : countNamed(counting, policy),
    covering: best?.form && findCovering(best.form, card, policy),
    gap,
    uncovered: [...new Set([...(best?.uncovered ?? []), ...(gap?.paths ?? [])])],
  };
}

/** What a form leaves open that matters to security. */
function findGap(form: SignedForm, card: SignedCard, policy: PreparedPolicy): Finding | undefined {
  const covering = findCovering(form, card, policy);
  return covering && findCoverageGap(covering, form.uncovered, card.outline);
}

/**
 * The profile by which it is judged what a form leaves open. Of a card in which nothing is empty, `strict` and the others
 * sign the same: who trusts signers that lose what is empty cannot know that they did not.
 */
function findCovering(
  { profile, payload }: SignedForm,
  card: SignedCard,
  { profiles }: PreparedPolicy,
): LossyProfile | undefined {
  const may = profile === "strict" ? profiles : [profile];
  return may.filter(isLossy).find((each) => card.forms(each).some((form) => form.payload === payload));
}

/**
 * The ids and thumbprints of the policy's `signers` that a signature meets. A key set of the card's own origin may give its keys
 * any ids, so an id counts only for keys that the policy has, and those of hosts that it names.
 */
function namesMet(
  { kid, thumbprint, keySource }: CheckedSignature,
  { signers, remote }: PreparedPolicy,
): readonly string[] {
  const isNamed = keySource === "trusted" || remote?.hosts !== undefined;
  const names = [thumbprint, isNamed ? kid : undefined].filter((name) => name !== undefined);
  return names.filter((name) => signers?.has(name) === true);
}

/**
 * How many of the signers that the policy names have signed. Each key counts by one name, its thumbprint before an id, and each name
 * for one key: two keys of one id are one signer, and one key that is named twice, by id and by thumbprint, is one, too.
 */
function countNamed(counting: readonly CheckedSignature[], policy: PreparedPolicy): number {
  const used = new Set<string>();
  for (const checks of Map.groupBy(counting, ({ thumbprint }) => thumbprint).values()) {
    const names = checks.flatMap((check) => namesMet(check, policy));
    const name = names.find((each) => !used.has(each));
    if (name !== undefined) used.add(name);
  }
  return used.size;
}
