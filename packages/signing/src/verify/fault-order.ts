import type { SignatureFault } from "./verdict.ts";

/** In the order of the checks: a signature with a later fault came further. */
const order: readonly SignatureFault[] = [
  "malformed-signature",
  "algorithm-not-allowed",
  "crit-not-understood",
  "kid-missing",
  "typ-not-allowed",
  "key-unknown",
  "jku-not-allowed",
  "jwks-unavailable",
  "key-revoked",
  "key-not-yet-valid",
  "key-expired",
  "key-mismatch",
  "signature-mismatch",
];

/** What came furthest, the first of those that came equally far; undefined when there is nothing. */
export function furthest<T extends { readonly fault: SignatureFault | undefined }>(
  faulty: Iterable<T>,
): T | undefined {
  let best: T | undefined;
  for (const each of faulty) {
    if (best === undefined || rank(each) > rank(best)) best = each;
  }
  return best;
}

function rank({ fault }: { readonly fault: SignatureFault | undefined }): number {
  return fault === undefined ? order.length : order.indexOf(fault);
}
