import { type CardVerdict, type TrustPolicy, verifyCard } from "@a2a-connect/signing";
import { legacyProfiles, type SignatureCheck, type VerificationContext } from "@a2a-connect/signing/internal";
import type { FittingProfile, TrustBasis } from "./verdict.ts";

/** From the weakest on. */
const bases: readonly TrustBasis[] = ["own-origin", "named-host", "given-key"];

/**
 * The signature on which the trust in a verified card rests: the one that the verdict tells of; where several have to sign, the
 * one of those that count whose key proves least. Undefined for a card that is not verified.
 *
 * @param url where the card came from
 */
export function findProof(
  { verified, kid, alg, signatures }: CardVerdict,
  url: string | undefined,
  minSigners: number,
): SignatureCheck | undefined {
  if (!verified) return undefined;
  const counting = signatures.filter(({ counts }) => counts);
  if (minSigners > 1) {
    return counting.toSorted((one, other) => strengthOf(one, url) - strengthOf(other, url))[0];
  }
  // Keys of different sources may have one id: the verdict tells of the first by the strictest profile.
  return counting
    .filter((each) => each.kid === kid && each.alg === alg)
    .toSorted((one, other) => strictnessOf(one) - strictnessOf(other))[0];
}

/** Whose word a signature is; undefined for one that is not valid. */
export function basisOf(
  { keySource }: Pick<SignatureCheck, "keySource">,
  url: string | undefined,
): TrustBasis | undefined {
  if (keySource === undefined) return undefined;
  if (keySource === "trusted") return "given-key";
  return url !== undefined && URL.parse(keySource)?.origin === URL.parse(url)?.origin
    ? "own-origin"
    : "named-host";
}

function strengthOf(check: SignatureCheck, url: string | undefined): number {
  const basis = basisOf(check, url);
  return basis === undefined ? -1 : bases.indexOf(basis);
}

function strictnessOf({ profile }: SignatureCheck): number {
  return profile === undefined || profile === "strict" ? -1 : legacyProfiles.indexOf(profile);
}

/**
 * A profile that was not tried and by which a signature would be right that is wrong by those that were. Older software may have
 * signed the card so, or an attacker changed it where that profile does not look; the two look alike. Changes nothing about the verdict.
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
