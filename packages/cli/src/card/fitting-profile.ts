import { type CardVerdict, type TrustPolicy, verifyCard } from "@a2a-connect/signing";
import { type LegacyProfile, legacyProfiles, type VerificationContext } from "@a2a-connect/signing/internal";

/** What a signature that is wrong by the profiles that count would be by another one. */
export interface FittingProfile {
  readonly profile: LegacyProfile;
  /** Paths of what it would leave unprotected. */
  readonly uncovered: readonly string[];
  /** Whether what it leaves open matters so much to security that it would be refused all the same. */
  readonly isRefused: boolean;
}

/**
 * A profile that was not tried and by which a signature would be right that is wrong by those that were. Older software may have
 * signed the card so, or somebody changed it where that profile does not look: nobody can tell. Changes nothing about the verdict.
 */
export async function findFittingProfile(
  text: string,
  { reason }: CardVerdict,
  { memory: _, minimumSecurity: __, ...policy }: TrustPolicy,
  context: VerificationContext,
): Promise<FittingProfile | undefined> {
  const untried = legacyProfiles.filter((profile) => policy.profiles?.includes(profile) !== true);
  if (reason !== "signature-mismatch" && reason !== "typ-not-allowed") return undefined;
  for (const profile of untried) {
    const trustPolicy = { ...policy, profiles: [profile], allowUncovered: false };
    const verification = await verifyCard(text, { ...context, trustPolicy });
    const fits = verification.signatures.find((each) => each.valid && each.profile === profile);
    if (fits !== undefined) {
      return { profile, uncovered: verification.uncovered, isRefused: verification.reason === "uncovered" };
    }
  }
  return undefined;
}
