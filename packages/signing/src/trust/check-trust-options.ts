import { isSchemeKind } from "./scheme.ts";
import type { TrustPolicy } from "./trust-policy.ts";

/** @throws TypeError when what the policy says about memory, security and key sets has no meaning */
export function checkTrustOptions(policy: TrustPolicy): void {
  const { newKeyDelayMs = 0, minimumSecurity = {} } = policy;
  if (!(newKeyDelayMs >= 0)) {
    throw new TypeError("newKeyDelayMs: must be a number of milliseconds from 0 on");
  }
  for (const limit of ["timeoutMs", "maxBytes", "ttlMs", "coolDownMs"] as const) {
    const value: unknown = policy.jku?.[limit] ?? 0;
    if (typeof value !== "number" || !(value >= 0)) {
      throw new TypeError(`jku.${limit}: must be a number from 0 on`); // Infinity is none
    }
  }
  for (const option of ["onDowngrade", "onPinChanged"] as const) {
    const choice: unknown = policy[option] ?? "refuse";
    if (choice !== "refuse" && choice !== "alarm") {
      throw new TypeError(`${option}: must be "refuse" or "alarm"`);
    }
  }
  for (const scheme of minimumSecurity.schemes ?? []) {
    if (!isSchemeKind(scheme)) {
      throw new TypeError(
        `minimumSecurity.schemes: ${JSON.stringify(scheme)} is no kind of scheme, such as oauth2SecurityScheme`,
      );
    }
  }
}
