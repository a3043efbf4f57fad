export { canonicalCard, canonicalSignedCard, cardDigest } from "./canonical/canonical-card.ts";
export { CardTextError, type CardTextFault } from "./canonical/card-text-error.ts";
export { thumbprintOf } from "./keys/key.ts";
export { assertKeySetUrl } from "./keys/key-set-url.ts";
export type {
  GenerateKeyOptions,
  PublicKeyOptions,
  PublishedKeySet,
  ReadVerificationKeysOptions,
  RemoteSign,
  SignatureAlgorithm,
  SigningKey,
  SigningKeyPair,
  VerificationKey,
} from "./keys/key-types.ts";
export { createKeySet, generateSigningKey, publicKeyOf, readVerificationKeys } from "./keys/public-keys.ts";
export type { LegacyProfile, Profile, ProfiledCard } from "./profiles/profile.ts";
export { profileCard } from "./profiles/profile-card.ts";
export { createCardSigner } from "./sign/card-signer.ts";
export { ecdsaFromDer } from "./sign/ecdsa-der.ts";
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
