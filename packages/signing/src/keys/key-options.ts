import type { CryptoKey, JWK } from "jose";

/**
 * Signature algorithms of cards, by their JOSE names (RFC 7518 §3.1, RFC 8037, RFC 9864). There is no `none` and no HMAC: a
 * card is verified with public keys only.
 */
export type SignatureAlgorithm = "ES256" | "ES384" | "EdDSA" | "Ed25519" | "RS256" | "PS256";

/**
 * A public key that may verify cards: a JWK (RFC 7517) that says who it is. Beside the members of a JWK it may say when it
 * counts, as key sets of other protocols do.
 */
export interface VerificationKey extends JWK {
  readonly kid: string;
  /** Seconds since 1970 before which it does not count yet. */
  readonly nbf?: number;
  /** Seconds since 1970 from which on it does not count any more. */
  readonly exp?: number;
  /** Whether it was revoked; `true`, or an object that tells when and why. */
  readonly revoked?: boolean | Readonly<Record<string, unknown>>;
}

/**
 * Signs with a key that is kept elsewhere, such as in a key management service.
 *
 * @param input the bytes to be signed (JWS Signing Input, RFC 7515 §5.1), not their digest
 * @returns the signature as JWS wants it: of ECDSA it is R||S (RFC 7518 §3.4), not DER
 */
export type RemoteSign = (
  input: Uint8Array<ArrayBuffer>,
  with_: { readonly kid: string; readonly alg: SignatureAlgorithm },
) => Promise<Uint8Array>;

/** A private key: a JWK, PKCS#8 as PEM, a key of Web Crypto, or a function that has another party sign. */
export type SigningKey = JWK | string | CryptoKey | RemoteSign;

/** What a new key is like. */
export interface GenerateKeyOptions {
  /** Default ES256. */
  readonly alg?: SignatureAlgorithm;
  /** Default: its thumbprint (RFC 7638). */
  readonly kid?: string;
}

/** What a public key is to say of itself. */
export interface PublicKeyOptions {
  /** Default: the JWK's own, else its thumbprint (RFC 7638). */
  readonly kid?: string | undefined;
  /** Default: the JWK's own, else what its type is made for. */
  readonly alg?: SignatureAlgorithm | undefined;
}

/** How a key set is made. */
export interface CreateKeySetOptions {
  /** Milliseconds since 1970. Default: now. */
  readonly now?: number;
}

/** How keys are read. */
export interface ReadVerificationKeysOptions {
  /** Of one key: its id, in place of its own. Of several: the id of those that are wanted. Default: all, as they are. */
  readonly kid?: string | undefined;
}

/** A new key pair; both sides say their id, their algorithm, and that they are for signatures. */
export interface SigningKeyPair {
  /** To be kept secret. */
  readonly privateJwk: JWK & { readonly kid: string; readonly alg: SignatureAlgorithm };
  /** For verifiers. */
  readonly publicJwk: VerificationKey & { readonly alg: SignatureAlgorithm };
}

/** A key set as it is published (RFC 7517 §5). */
export interface PublishedKeySet {
  readonly keys: readonly VerificationKey[];
}

/**
 * Something that was given to sign with, to be signed, or as a key, cannot be used. Repeats nothing of a private key, neither in its
 * texts nor in its cause.
 */
export class SigningError extends Error {
  /** What to do about it, in a sentence without a full stop. */
  readonly hint: string;

  /** @param message a sentence for people, without a full stop */
  constructor(message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "SigningError";
    this.hint = hint;
  }
}
