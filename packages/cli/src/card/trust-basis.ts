import type { CardVerdict } from "@a2a-connect/signing";

/** Whose word a verdict is, from the weakest on: of the card's own origin, of a host that was named, of a key that was given. */
const bases = ["own-origin", "named-host", "given-key"] as const;

/** The source of the key on which the trust in a verified card rests, and whose word that is. */
export interface Proof {
  readonly keySource: string;
  readonly basis: (typeof bases)[number];
}

/**
 * On what the trust in a card rests: the signature that the verdict tells of; where several have to sign, the one of those that
 * count whose key proves least. Undefined for a card that is not verified.
 *
 * @param url where the card came from
 */
export function findProof(
  { verified, kid, alg, profile, signatures }: CardVerdict,
  minSigners: number,
  url: string | undefined,
): Proof | undefined {
  const proofs = signatures.flatMap((each): readonly Proof[] => {
    if (!verified || !each.counts || each.keySource === undefined) return [];
    // Keys of different sources may have one id: the verdict tells of the first by its profile.
    const isTold = each.kid === kid && each.alg === alg && each.profile === profile;
    return isTold || minSigners > 1 ? [toProof(each.keySource, url)] : [];
  });
  if (minSigners === 1) return proofs[0];
  return proofs.toSorted((one, other) => bases.indexOf(one.basis) - bases.indexOf(other.basis))[0];
}

function toProof(keySource: string, url: string | undefined): Proof {
  if (keySource === "trusted") return { keySource, basis: "given-key" };
  const isOwn = url !== undefined && URL.parse(keySource)?.origin === URL.parse(url)?.origin;
  return { keySource, basis: isOwn ? "own-origin" : "named-host" };
}
