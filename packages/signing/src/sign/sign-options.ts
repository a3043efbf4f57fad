import type { JsonObject } from "@bufbuild/protobuf";
import type { JWK } from "jose";
import type { SignatureAlgorithm, SigningKey, VerificationKey } from "../keys/key-options.ts";
import type { LegacyProfile } from "../profiles/profile-card.ts";

/** By what a card is signed: a key, which is imported for this one card, or a signer, which is ready. */
export type SignCardOptions = SignatureOptions &
  (
    | (CardSignerOptions & { readonly signer?: undefined })
    | { readonly signer: CardSigner; readonly key?: undefined }
  );

/** What signs. */
export interface CardSignerOptions {
  readonly key: SigningKey;
  /** Id of the key. Default: the JWK's own, else its thumbprint (RFC 7638). Needed where the public key is not known. */
  readonly kid?: string;
  /**
   * Default: what the key says or is made for: ES256, ES384, EdDSA, and RS256 of RSA keys. Needed when another party signs and the
   * public key is not known.
   */
  readonly alg?: SignatureAlgorithm;
  /**
   * The public side of a key that does not let it out, such as one of a key management service: a JWK or its text, or PEM.
   * With it what comes from there is verified before it is used. Not needed of others.
   */
  readonly publicKey?: JWK | string;
}

/** What else makes up a signature. */
export interface SignatureOptions {
  /** URL of the key set that has the public key: https, or http on this machine. */
  readonly jku?: string;
  /** Unprotected header: anybody may change it. It must not repeat `alg`, `typ`, `kid`, `jku`. */
  readonly header?: JsonObject;
  /** Verifiers whose gaps are warned of. Default: all that are known to have some. */
  readonly legacyVerifiers?: readonly LegacyProfile[];
  /** Told, in a sentence each, which fields those verifiers would leave uncovered, so that they refuse the signature. */
  readonly onWarning?: (warning: string) => void;
}

/** A key that is ready to sign any number of cards. */
export interface CardSigner {
  readonly kid: string;
  readonly alg: SignatureAlgorithm;
  /** For those who verify; undefined when it is not known. */
  readonly publicKey: VerificationKey | undefined;
  /**
   * Signs bytes (JWS Signing Input, RFC 7515 §5.1).
   *
   * @throws SigningError when another party signs and returns something else; and what it throws
   */
  sign(input: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>;
}
