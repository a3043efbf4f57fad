export { canonicalCard, canonicalSignedCard, cardDigest } from "./canonical/canonical-card.ts";
export { CardTextError, type CardTextFault } from "./canonical/card-text-error.ts";
export { generateSigningKey, type SigningKeyPair } from "./keys/generate-key.ts";
export { KeyMismatchError } from "./keys/key-mismatch-error.ts";
export type {
  GenerateKeyOptions,
  PublicKeyOptions,
  ReadVerificationKeysOptions,
  RemoteSign,
  SignatureAlgorithm,
  SigningKey,
  VerificationKey,
} from "./keys/key-types.ts";
export { publicKeyOf } from "./keys/public-key.ts";
export { createKeySet, type PublishedKeySet } from "./keys/published-key-set.ts";
export { readVerificationKeys } from "./keys/read-verification-keys.ts";
export { thumbprintOf } from "./keys/verification-key.ts";
export type { LegacyProfile, Profile, ProfiledCard } from "./profiles/profile.ts";
export { profileCard } from "./profiles/profile-card.ts";
export { createCardSigner } from "./sign/card-signer.ts";
export { ecdsaFromDer } from "./sign/ecdsa-der.ts";
export { assertKeySetUrl } from "./sign/jws-header.ts";
export { findLegacyWarnings, signCard, signCardText } from "./sign/sign-card.ts";
export type {
  CardSigner,
  CardSignerOptions,
  SignatureOptions,
  SignCardOptions,
} from "./sign/sign-options.ts";
export { SigningError } from "./signing-error.ts";
export type * from "./trust/card-memory.ts";
export { CardNotTrustedError } from "./trust/card-not-trusted-error.ts";
export { findDowngrades, findExtendedDowngrades } from "./trust/downgrade.ts";
export type { SecurityFinding } from "./trust/finding.ts";
export { createCardMemory } from "./trust/memory-card-memory.ts";
export { cardMemoryKey } from "./trust/memory-key.ts";
export { findMissingSecurity } from "./trust/minimum-security.ts";
export { findMoves } from "./trust/moves.ts";
export { type CardToTrust, trustCards } from "./trust/trust-cards.ts";
export type * from "./trust/trust-policy.ts";
export type * from "./verify/verification.ts";
export { type CardVerifier, createCardVerifier, verifyCard } from "./verify/verify-card.ts";
export type * from "./verify/verify-options.ts";
