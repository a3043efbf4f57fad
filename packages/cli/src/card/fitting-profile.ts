import {
  type CardVerification,
  type LegacyProfile,
  type TrustPolicy,
  type VerificationContext,
  verifyCard,
} from "@a2a-connect/signing";

const legacyProfiles: readonly LegacyProfile[] = ["js-1", "python-1", "raw"];

/**
 * A profile that was not tried and by which a signature would be right that is wrong by those that were: so that somebody sees
 * that older software signed the card, and nobody changed it. Changes nothing about the verdict.
 */
export async function findFittingProfile(
  text: string,
  { reason }: CardVerification,
  { memory: _, ...policy }: TrustPolicy,
  context: VerificationContext,
): Promise<LegacyProfile | undefined> {
  const untried = legacyProfiles.filter((profile) => policy.profiles?.includes(profile) !== true);
  if ((reason !== "signature-mismatch" && reason !== "typ-not-allowed") || untried.length === 0) {
    return undefined;
  }
  const trustPolicy = { ...policy, profiles: untried };
  const { signatures } = await verifyCard(text, { ...context, trustPolicy });
  return untried.find((name) => signatures.some(({ valid, profile }) => valid && profile === name));
}
