import { shownText } from "@a2a-connect/core";
import type { VerificationKey } from "../keys/key-types.ts";
import type { PreparedPolicy } from "./prepared-policy.ts";
import type { SignatureFault } from "./verdict.ts";

/** Why something does not count: a fault, and a sentence about it without a full stop. */
export interface Refusal {
  readonly fault: SignatureFault;
  readonly problem: string;
}

/**
 * Why a key does not count just now (requirement M-4). Key sets are JSON of somebody else: a date or a mark that cannot be read
 * counts against the key.
 *
 * @param thumbprint of this key
 * @param now milliseconds since 1970
 */
export function findKeyFault(
  key: VerificationKey,
  thumbprint: string,
  { revoked }: PreparedPolicy,
  now: number,
): Refusal | undefined {
  const name = `the key "${shownText(key.kid)}"`;
  if (revoked.has(key.kid) || revoked.has(thumbprint)) {
    return { fault: "key-revoked", problem: `${name} is revoked by the policy` };
  }
  const mark: unknown = key.revoked;
  if (mark !== undefined && mark !== null && mark !== false) {
    return { fault: "key-revoked", problem: `${name} is marked as revoked` };
  }
  const { nbf, exp } = key;
  if (nbf !== undefined && !(isTime(nbf) && now >= nbf * 1000)) {
    return { fault: "key-not-yet-valid", problem: `${name} does not count ${formatTime("before", nbf)}` };
  }
  if (exp !== undefined && !(isTime(exp) && now < exp * 1000)) {
    return { fault: "key-expired", problem: `${name} does not count any more ${formatTime("since", exp)}` };
  }
  return undefined;
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function formatTime(preposition: string, seconds: unknown): string {
  const date = isTime(seconds) ? new Date(seconds * 1000) : undefined;
  return date === undefined || Number.isNaN(date.getTime())
    ? "(its date is no number of seconds since 1970)"
    : `${preposition} ${date.toISOString()}`;
}
