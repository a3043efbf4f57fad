import type { ExpectedVerdict, Vector, VectorProfile } from "./vector.ts";

type Expected = Vector["expected"];

export function verified(
  kid: string,
  alg: string,
  profile: VectorProfile = "strict",
  uncovered: readonly string[] = [],
): ExpectedVerdict {
  return { verified: true, profile, kid, alg, reason: null, uncovered };
}

export function refused(
  reason: string,
  kid: string | null = null,
  alg: string | null = null,
): ExpectedVerdict {
  return { verified: false, profile: null, kid, alg, reason, uncovered: [] };
}

/** The signature is right, and the card is refused all the same. */
export function refusedBy(
  profile: VectorProfile,
  reason: string,
  kid: string,
  alg: string,
  uncovered: readonly string[] = [],
): ExpectedVerdict {
  return { verified: false, profile, kid, alg, reason, uncovered };
}

/**
 * Verified, but under the profiles of signers who lose what is empty: something that security needs is missing, and may have been
 * taken out.
 */
export function doubted(kid: string, alg: string, ...paths: readonly string[]): Expected {
  return always(verified(kid, alg), {
    "js-1": refusedBy("js-1", "uncovered", kid, alg, paths),
    "python-1": refusedBy("python-1", "uncovered", kid, alg, paths),
  });
}

/** The same verdict whatever is enabled, but for what `others` say. */
export function always(verdict: ExpectedVerdict, others: Partial<Expected> = {}): Expected {
  return { strict: verdict, "js-1": verdict, "python-1": verdict, raw: verdict, ...others };
}
