import { isSignatureAlgorithm } from "../keys/algorithms.ts";
import { thumbprintOf } from "../keys/key.ts";
import { type KeySetHosts, requireHost } from "../keys/key-set-url.ts";
import { createKeySets, type KeySets } from "../keys/key-sets.ts";
import type { VerificationKey } from "../keys/key-type.ts";
import { legacyProfiles, type Profile } from "../profiles/profile-card.ts";
import { isSchemeKind } from "../trust/scheme.ts";
import type { TrustPolicy } from "../trust/trust-policy.ts";

/** A policy that was looked over, and made ready for being asked. */
export interface PreparedPolicy {
  readonly policy: TrustPolicy;
  /** Trusted keys by their id. */
  readonly keys: ReadonlyMap<string, readonly VerificationKey[]>;
  /** The same, whichever id they have. What is no key has no thumbprint, and is under "". */
  readonly keysByThumbprint: Promise<ReadonlyMap<string, readonly VerificationKey[]>>;
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
  for (const problem of findNonsense(policy)) throw new TypeError(problem);
  const { keys = [], jku, algorithms, revoked = [], profiles = [], minSigners = 1, signers } = policy;
  return {
    policy,
    keys: Map.groupBy(keys, ({ kid }) => kid),
    keysByThumbprint: groupByThumbprint(keys),
    algorithms: algorithms && new Set(algorithms),
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

/** What has no meaning in a policy, whose author may not have had a compiler. */
function* findNonsense(policy: TrustPolicy): Generator<string> {
  const { keys = [], algorithms = [], profiles = [], minSigners = 1, signers, newKeyDelayMs = 0 } = policy;
  for (const [index, key] of keys.entries()) {
    const kid: unknown = key?.kid;
    if (typeof kid !== "string" || kid === "") {
      yield `keys[${index}]: has no id (kid), so no signature could name it`;
    }
  }
  const lists: readonly (readonly [string, readonly string[], (value: string) => boolean])[] = [
    ["algorithms", algorithms, isSignatureAlgorithm],
    ["profiles", profiles, (profile) => legacyProfiles.some((known) => known === profile)],
    ["minimumSecurity.schemes", policy.minimumSecurity?.schemes ?? [], isSchemeKind],
  ];
  for (const [member, values, isKnown] of lists) {
    const unknown = [...values]
      .filter((value) => !isKnown(value))
      .map((value) => JSON.stringify(value) ?? String(value));
    if (unknown.length > 0) yield `${member}: ${unknown.join(", ")} is not known`;
  }
  if (!Number.isSafeInteger(minSigners) || minSigners < 1)
    yield "minSigners: must be a whole number from 1 on";
  const named = new Set(signers).size;
  if (signers !== undefined && named < minSigners) {
    yield `signers: names ${named} different keys, and minSigners demands ${minSigners}`;
  }
  const limits = { newKeyDelayMs, "jku.maxBytes": policy.jku?.maxBytes ?? 0 };
  for (const [limit, value] of Object.entries<unknown>(limits)) {
    if (typeof value !== "number" || !(value >= 0)) yield `${limit}: must be a number from 0 on`;
  }
  for (const option of ["onDowngrade", "onPinChanged"] as const) {
    const choice: unknown = policy[option] ?? "refuse";
    if (choice !== "refuse" && choice !== "alarm") yield `${option}: must be "refuse" or "alarm"`;
  }
}
