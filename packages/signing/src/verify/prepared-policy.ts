import { algorithmNames, type SignatureAlgorithm } from "../keys/algorithms.ts";
import { thumbprintOf } from "../keys/key.ts";
import { type KeySetHosts, requireHost } from "../keys/key-set-url.ts";
import { createKeySets, type KeySets } from "../keys/key-sets.ts";
import type { VerificationKey } from "../keys/key-type.ts";
import { legacyProfiles, type Profile } from "../profiles/profile-card.ts";
import type { TrustPolicy } from "../trust/trust-policy.ts";

/** A policy that was looked over, and made ready for being asked. */
export interface PreparedPolicy {
  readonly policy: TrustPolicy;
  /** Trusted keys by their id. */
  readonly keys: ReadonlyMap<string, readonly VerificationKey[]>;
  /** The same, whichever id they have. What is no key has no thumbprint, and is under "". */
  readonly keysByThumbprint: Promise<ReadonlyMap<string, readonly VerificationKey[]>>;
  readonly algorithms: ReadonlySet<SignatureAlgorithm>;
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
  for (const problem of findNonsense(policy)) throw new TypeError(problem);
  const {
    keys = [],
    jku,
    algorithms = algorithmNames,
    revoked = [],
    profiles = [],
    minSigners = 1,
    signers,
  } = policy;
  return {
    policy,
    keys: Map.groupBy(keys, ({ kid }) => kid),
    keysByThumbprint: groupByThumbprint(keys),
    algorithms: new Set(algorithms),
    revoked: new Set(revoked),
    profiles: ["strict", ...legacyProfiles.filter((profile) => profiles.includes(profile))],
    remote: jku && { hosts: jku.hosts && new Set(jku.hosts.map(requireHost)), keySets: keySetsOf(policy) },
    minSigners,
    signers: signers && new Set(signers),
  };
}

async function groupByThumbprint(keys: readonly VerificationKey[]) {
  const thumbprints = await Promise.all(keys.map((key) => thumbprintOf(key).catch(() => "")));
  return Map.groupBy(keys, (_, index) => thumbprints[index] ?? "");
}

const keySets = new WeakMap<TrustPolicy, KeySets>();

/** The same for the same policy, so that key sets are kept from one call to the next. */
function keySetsOf(policy: TrustPolicy): KeySets {
  const kept = keySets.get(policy) ?? createKeySets(policy.jku ?? {});
  keySets.set(policy, kept);
  return kept;
}

/** What has no meaning in a policy, though it compiles. */
function* findNonsense(policy: TrustPolicy): Generator<string> {
  const { keys = [], jku, minSigners = 1, signers, newKeyDelayMs = 0 } = policy;
  for (const [index, key] of keys.entries()) {
    const kid: unknown = key?.kid;
    if (typeof kid !== "string" || kid === "") {
      yield `keys[${index}]: has no id (kid), so no signature could name it`;
    }
  }
  if (!Number.isSafeInteger(minSigners) || minSigners < 1)
    yield "minSigners: must be a whole number from 1 on";
  const named = new Set(signers).size;
  if (signers !== undefined && named < minSigners) {
    yield `signers: names ${named} different keys, and minSigners demands ${minSigners}`;
  }
  for (const [limit, value] of Object.entries({ newKeyDelayMs, "jku.maxBytes": jku?.maxBytes ?? 0 })) {
    if (!(value >= 0)) yield `${limit}: must be a number from 0 on`;
  }
}
