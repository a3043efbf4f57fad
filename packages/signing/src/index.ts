export { canonicalCard, canonicalSignedCard, cardDigest } from "./canonical/canonical-card.ts";
export { type CardTextFault, CardTextError } from "./canonical/card-text-error.ts";
export type * from "./keys/key-types.ts";
export { type LegacyProfile, type Profile, type ProfiledCard, profileCard } from "./profiles/profile-card.ts";
export type { SignCardOptions } from "./sign/sign-options.ts";
export type * from "./trust/card-memory.ts";
export type * from "./trust/trust-policy.ts";
export type * from "./verify/verification.ts";
export type * from "./verify/verify-options.ts";
