import { type CardVerdict, type TrustPolicy, type VerificationKey, verifyCard } from "@a2a-connect/signing";
import type {
  LegacyProfile,
  Profile,
  SignatureCheck,
  VerificationContext,
} from "@a2a-connect/signing/internal";

import { readObject } from "../json.ts";
import type { FittingProfile, TrustBasis } from "./verdict.ts";

/** From the strictest on. */
const profiles: readonly unknown[] = ["strict", "js-1", "python-1", "raw"] satisfies readonly Profile[];

/** From the weakest on. */
const bases: readonly TrustBasis[] = ["own-origin", "named-host", "given-key"];

/**
 * The signature on which the trust in a verified card rests: the one that the verification tells of; where several have to sign,
 * the one of those that count whose key proves least. Undefined for a card that is not verified.
 *
 * @param text the card, as it was verified
 * @param policy by which it was
 * @param keys all that were at hand, of whatever source: no key set is asked again
 */
export async function findProof(
  text: string,
  { verified, kid, alg, signatures }: CardVerdict,
  policy: TrustPolicy,
  context: VerificationContext,
  keys: readonly VerificationKey[],
): Promise<SignatureCheck | undefined> {
  if (!verified) return undefined;
  const url = context.url?.toString();
  const valid = signatures.filter((each) => each.valid);
  const counting =
    new Set(valid.map(({ keySource }) => keySource)).size > 1
      ? await findCounting(text, valid, { ...policy, keys }, context)
      : valid;
  const weighed = counting.length > 0 ? counting : valid; // a verdict without its caveat would say too much
  if ((policy.minSigners ?? 1) > 1) {
    return weighed.toSorted((one, other) => strengthOf(one, url) - strengthOf(other, url))[0];
  }
  // Keys of different sources may have one id: the verification tells of the first by the strictest profile.
  return weighed
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

function strengthOf(verdict: SignatureCheck, url: string | undefined): number {
  const basis = basisOf(verdict, url);
  return basis === undefined ? -1 : bases.indexOf(basis);
}

function strictnessOf({ profile }: SignatureCheck): number {
  return profiles.indexOf(profile);
}

/** Those by which alone the card would be verified: a signature may be right, and leave out too much to count. */
async function findCounting(
  text: string,
  valid: readonly SignatureCheck[],
  { memory: _, minimumSecurity: __, jku: ___, minSigners: ____, ...trustPolicy }: TrustPolicy,
  context: VerificationContext,
): Promise<readonly SignatureCheck[]> {
  const card = readObject(text);
  const signatures: readonly unknown[] = Array.isArray(card["signatures"]) ? card["signatures"] : [];
  const counting: SignatureCheck[] = [];
  for (const verdict of valid) {
    const alone = JSON.stringify({ ...card, signatures: [signatures[verdict.index]] });
    if ((await verifyCard(alone, { ...context, trustPolicy })).verified) counting.push(verdict);
  }
  return counting;
}

const legacyProfiles: readonly LegacyProfile[] = ["js-1", "python-1", "raw"];

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
