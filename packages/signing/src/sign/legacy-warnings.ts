import { type LegacyProfile, legacyProfiles, profileCard } from "../profiles/profile-card.ts";
import type { SignedCard } from "../signed-card.ts";
import { listPaths } from "../verify/verdict.ts";

/** Who verifies by a profile, for people. */
const verifiers: Readonly<Record<LegacyProfile, string>> = {
  "js-1": "@a2a-js/sdk 1.x and a2a-sdk of Python from 1.1.4 on (js-1)",
  "python-1": "a2a-sdk of Python up to 1.1.3 (python-1)",
  raw: "verifiers of the JSON as it stands (raw)",
};

/**
 * Warnings for the signer of a card: a sentence for each kind of verifier that does not follow the specification, makes something
 * else of this card, and so refuses its signature.
 */
export function legacyWarnings(
  { unsigned, canonical }: Pick<SignedCard, "unsigned" | "canonical">,
  profiles: readonly LegacyProfile[] = legacyProfiles,
): readonly string[] {
  return profiles.flatMap((profile) => {
    // The last form leaves out most; who verifies by it cannot be known from here.
    const form = profileCard(profile, unsigned).findLast(({ payload }) => payload !== canonical);
    if (form === undefined) return [];
    const { uncovered } = form;
    const reason =
      uncovered.length === 0
        ? "write numbers and characters outside ASCII in another way"
        : `ignore these fields, or parts of them: ${listPaths(uncovered, 20)}; give the empty fields a value, or remove those that are optional`;
    return [`${verifiers[profile]} will refuse this signature, because they ${reason}`];
  });
}
