import type { LegacyProfile } from "../profiles/profile.ts";
import { legacyProfiles, profileCard } from "../profiles/profile-card.ts";
import type { SignedCard } from "../verify/signed-card.ts";

/** Who verifies by a profile, for people. */
const verifiers: Readonly<Record<LegacyProfile, string>> = {
  "js-1": "@a2a-js/sdk 1.x and newer a2a-sdk of Python (js-1)",
  "python-1": "older a2a-sdk of Python (python-1)",
  raw: "verifiers of the JSON as it stands (raw)",
};

/** Fields that a sentence names. */
const maxNamed = 20;

/**
 * What whoever signs a card should know of verifiers that do not follow the specification: a sentence for each that makes
 * something else of this card, and so refuses its signature.
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
        ? "write its texts or numbers in another way"
        : `leave these fields uncovered: ${listPaths(uncovered)}`;
    return [`${verifiers[profile]} will refuse this signature, because they ${reason}`];
  });
}

function listPaths(paths: readonly string[]): string {
  const named = paths.slice(0, maxNamed).join(", ");
  return paths.length <= maxNamed ? named : `${named} and ${paths.length - maxNamed} more`;
}
