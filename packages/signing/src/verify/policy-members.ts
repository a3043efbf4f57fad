import type { JkuPolicy, MinimumSecurity, TrustPolicy } from "../trust/trust-policy.ts";

// Each names all members of its type: a new one that is not named here does not compile.
const policyMembers: Readonly<Record<keyof TrustPolicy, true>> = {
  keys: true,
  jku: true,
  algorithms: true,
  revoked: true,
  profiles: true,
  allowUncovered: true,
  minSigners: true,
  signers: true,
  minimumSecurity: true,
  memory: true,
  newKeyDelayMs: true,
  onDowngrade: true,
  onPinChanged: true,
};
const jkuMembers: Readonly<Record<keyof JkuPolicy, true>> = {
  hosts: true,
  fetch: true,
  timeoutMs: true,
  maxBytes: true,
  ttlMs: true,
  coolDownMs: true,
};
const minimumSecurityMembers: Readonly<Record<keyof MinimumSecurity, true>> = {
  requirements: true,
  tls: true,
  schemes: true,
};

/**
 * Sees that a policy says nothing that nobody reads: a member that is misspelled would silently protect nobody.
 *
 * @throws TypeError
 */
export function checkPolicyMembers(policy: TrustPolicy): void {
  checkMembers("the policy", policy, policyMembers);
  checkMembers("jku", policy.jku ?? {}, jkuMembers);
  checkMembers("minimumSecurity", policy.minimumSecurity ?? {}, minimumSecurityMembers);
}

function checkMembers(name: string, value: unknown, known: Readonly<Record<string, true>>): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TypeError(`${name}: must be an object`);
  }
  const unknown = Object.keys(value).find((member) => !Object.hasOwn(known, member));
  if (unknown !== undefined) {
    throw new TypeError(
      `${name}: has a member ${JSON.stringify(unknown)}, and its members are ${Object.keys(known).join(", ")}`,
    );
  }
}

/** @throws TypeError when a limit of key sets is no number, or a negative one; Infinity is none */
export function checkJkuLimits(jku: JkuPolicy): void {
  for (const limit of ["timeoutMs", "maxBytes", "ttlMs", "coolDownMs"] as const) {
    const value: unknown = jku[limit] ?? 0;
    if (typeof value !== "number" || !(value >= 0)) {
      throw new TypeError(`jku.${limit}: must be a number from 0 on`);
    }
  }
}
