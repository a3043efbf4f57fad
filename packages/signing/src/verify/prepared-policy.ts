import { isSignatureAlgorithm } from "../keys/algorithms.ts";
import { type KeySetHosts, readKeySetHosts } from "../keys/key-set-url.ts";
import { createKeySets, type KeySets } from "../keys/key-sets.ts";
import type { VerificationKey } from "../keys/key-types.ts";
import { checkMembers } from "../option-members.ts";
import type { Profile } from "../profiles/profile.ts";
import { legacyProfiles } from "../profiles/profile-card.ts";
import { isSchemeKind } from "../trust/scheme.ts";
import type { TrustPolicy } from "../trust/trust-policy.ts";

/** A policy that was looked over, and made ready for being asked. */
export interface PreparedPolicy {
  readonly policy: TrustPolicy;
  /** Trusted keys by their id. */
  readonly keys: ReadonlyMap<string, readonly VerificationKey[]>;
  /** Undefined: all that are known. */
  readonly algorithms: ReadonlySet<string> | undefined;
  /** Key ids and thumbprints. */
  readonly revoked: ReadonlySet<string>;
  /** `strict` and those that are enabled, in the order in which they are tried. */
  readonly profiles: readonly Profile[];
  /** Undefined: no key set is asked. */
  readonly remote: { readonly hosts: KeySetHosts; readonly keySets: KeySets } | undefined;
  readonly minSigners: number;
  /** Key ids and thumbprints; undefined: every key counts. */
  readonly signers: ReadonlySet<string> | undefined;
}

/** @throws TypeError when the policy says what has no meaning, or what no card could ever meet */
export function preparePolicy(policy: TrustPolicy): PreparedPolicy {
  checkMembers("trustPolicy", policy);
  checkMembers("jku of a trust policy", policy.jku ?? {});
  checkMembers("minimumSecurity of a trust policy", policy.minimumSecurity ?? {});
  const { keys = [], jku, algorithms, revoked = [], profiles = [], minSigners = 1, signers } = policy;
  for (const alg of algorithms ?? []) {
    if (!isSignatureAlgorithm(alg))
      throw wrong("algorithms", `${show(alg)} is no algorithm that cards are signed with`);
  }
  for (const profile of profiles) {
    if (!legacyProfiles.includes(profile))
      throw wrong("profiles", `${show(profile)} is none of ${legacyProfiles.join(", ")}`);
  }
  if (!Number.isSafeInteger(minSigners) || minSigners < 1)
    throw wrong("minSigners", "must be a whole number from 1 on");
  const named = signers === undefined ? undefined : new Set(signers);
  if (named !== undefined && named.size < minSigners) {
    throw wrong("signers", `names ${named.size} different keys, and minSigners demands ${minSigners}`);
  }
  checkTrustOptions(policy);
  return {
    policy,
    keys: keysById(keys),
    algorithms: algorithms === undefined ? undefined : new Set(algorithms),
    revoked: new Set(revoked),
    profiles: ["strict", ...legacyProfiles.filter((profile) => profiles.includes(profile))],
    remote: jku === undefined ? undefined : { hosts: readKeySetHosts(jku), keySets: keySetsOf(policy) },
    minSigners,
    signers: named,
  };
}

const keySets = new WeakMap<TrustPolicy, KeySets>();

/** The same for the same policy, so that key sets are kept from one call to the next. */
function keySetsOf(policy: TrustPolicy): KeySets {
  const kept = keySets.get(policy) ?? createKeySets(policy.jku ?? {});
  keySets.set(policy, kept);
  return kept;
}

function keysById(keys: readonly VerificationKey[]): ReadonlyMap<string, readonly VerificationKey[]> {
  return Map.groupBy(keys, (key, index) => {
    const kid: unknown = key?.kid;
    if (typeof kid === "string" && kid !== "") return kid;
    throw wrong(`keys[${index}]`, "has no id (kid), so no signature could name it");
  });
}

/** @throws TypeError when what the policy says about memory, security and key sets has no meaning */
function checkTrustOptions(policy: TrustPolicy): void {
  const { newKeyDelayMs = 0, minimumSecurity = {} } = policy;
  if (!(newKeyDelayMs >= 0)) {
    throw wrong("newKeyDelayMs", "must be a number of milliseconds from 0 on");
  }
  for (const limit of ["timeoutMs", "maxBytes", "ttlMs", "coolDownMs"] as const) {
    const value: unknown = policy.jku?.[limit] ?? 0;
    if (typeof value !== "number" || !(value >= 0)) {
      throw wrong(`jku.${limit}`, "must be a number from 0 on");
    }
  }
  for (const option of ["onDowngrade", "onPinChanged"] as const) {
    const choice: unknown = policy[option] ?? "refuse";
    if (choice !== "refuse" && choice !== "alarm") {
      throw wrong(option, 'must be "refuse" or "alarm"');
    }
  }
  for (const scheme of minimumSecurity.schemes ?? []) {
    if (!isSchemeKind(scheme)) {
      throw wrong(
        "minimumSecurity.schemes",
        `${show(scheme)} is no kind of scheme, such as oauth2SecurityScheme`,
      );
    }
  }
}

function wrong(option: string, problem: string): TypeError {
  return new TypeError(`${option}: ${problem}`);
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
