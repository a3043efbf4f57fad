/**
 * What our other packages need beside the public exports, and the types of what those take and give.
 *
 * @internal
 */
export type { CardTextFault } from "./canonical/unambiguous-text.ts";
export type { SignatureAlgorithm } from "./keys/algorithms.ts";
export { findKeyTimeFault, ownIdOf } from "./keys/key.ts";
export { assertKeySetUrl, parseHost } from "./keys/key-set-url.ts";
export type { GenerateKeyOptions, SigningKeyPair } from "./keys/private-key.ts";
export type { PublicKeyOptions, PublishedKeySet } from "./keys/public-keys.ts";
export {
  type LegacyProfile,
  type Profile,
  type ProfiledCard,
  profileCard,
} from "./profiles/profile-card.ts";
export type { CardSignerOptions, RemoteSign, SigningKey } from "./sign/card-signer.ts";
export type { SignatureOptions, SignCardOptions } from "./sign/sign-card.ts";
export { findLegacyWarnings, signOlderCard } from "./sign/sign-card.ts";
export { cardMemoryKey, trimCards } from "./trust/card-memory.ts";
export { addressesOf, readOutline } from "./trust/outline.ts";
export type { Scheme } from "./trust/scheme.ts";
export type { CardToTrust, TrustCardsOptions } from "./trust/trust-cards.ts";
export type { JkuPolicy, MinimumSecurity } from "./trust/trust-policy.ts";
export type { CardFault, SignatureFault } from "./verify/faults.ts";
export type { CardAlarm, SignatureCheck } from "./verify/verdict.ts";
export { quote, quoteList } from "./verify/verdict.ts";
export type { CardVerifier, VerificationContext, VerifyCardOptions } from "./verify/verify-card.ts";
