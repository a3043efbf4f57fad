/**
 * Signature algorithms of cards, by their JOSE names (RFC 7518 §3.1, RFC 8037, RFC 9864). There is no `none` and no HMAC: a
 * card is verified with public keys only.
 */
export type SignatureAlgorithm = "ES256" | "ES384" | "EdDSA" | "Ed25519" | "RS256" | "PS256";

/** Curves of keys that sign cards. */
export type Curve = "P-256" | "P-384" | "Ed25519";

/** Bytes of a coordinate (RFC 7518 §6.2.1, RFC 8037 §2). A signature has twice as many (RFC 7518 §3.4, RFC 8032 §5.1.6). */
export const coordinateLengths: Readonly<Record<Curve, number>> = { "P-256": 32, "P-384": 48, Ed25519: 32 };

/** What an algorithm means to keys, to Web Crypto and to the length of signatures. */
export interface AlgorithmEntry {
  readonly alg: SignatureAlgorithm;
  readonly kty: "EC" | "OKP" | "RSA";
  /** The one curve it is for; undefined of RSA. */
  readonly crv: Curve | undefined;
  /** For `crypto.subtle.sign` and `verify`; keys have the same name. */
  readonly signParameters: Algorithm | EcdsaParams | RsaPssParams;
  /** Bytes of a signature; undefined where that depends on the key (RSA: as many as the modulus has). */
  readonly signatureLength: number | undefined;
}

/** Smallest modulus that counts (RFC 7518 §3.3). */
export const minimumRsaBits = 2048;

/** Largest modulus that is worked with: verifying takes time that grows with its square, and some runtimes go no further. */
export const maximumRsaBits = 8192;

function entry(
  alg: SignatureAlgorithm,
  kty: AlgorithmEntry["kty"],
  crv: AlgorithmEntry["crv"],
  signParameters: AlgorithmEntry["signParameters"],
): AlgorithmEntry {
  const signatureLength = crv && 2 * coordinateLengths[crv];
  return Object.freeze({ alg, kty, crv, signatureLength, signParameters: Object.freeze(signParameters) });
}

/**
 * The algorithms that cards are signed with (RFC 7518 §3.1, RFC 8037 §3.1, RFC 9864 §2.2). What is not here does not count: no
 * `none`, no HMAC. `EdDSA` is taken for Ed25519 alone, so that both names mean the same.
 */
export const algorithms: Readonly<Record<SignatureAlgorithm, AlgorithmEntry>> = Object.freeze({
  ES256: entry("ES256", "EC", "P-256", { name: "ECDSA", hash: "SHA-256" }),
  ES384: entry("ES384", "EC", "P-384", { name: "ECDSA", hash: "SHA-384" }),
  EdDSA: entry("EdDSA", "OKP", "Ed25519", { name: "Ed25519" }),
  Ed25519: entry("Ed25519", "OKP", "Ed25519", { name: "Ed25519" }),
  RS256: entry("RS256", "RSA", undefined, { name: "RSASSA-PKCS1-v1_5" }),
  PS256: entry("PS256", "RSA", undefined, { name: "RSA-PSS", saltLength: 32 }),
});

/** Whether something read from a header, a key or a command line names an algorithm of the table. */
export function isSignatureAlgorithm(name: unknown): name is SignatureAlgorithm {
  return typeof name === "string" && Object.hasOwn(algorithms, name);
}

/** Whether a key that is meant for one algorithm may be used with another: only by another name of the same (RFC 9864 §2.2). */
export function isSameAlgorithm(one: unknown, other: unknown): boolean {
  const isEd25519 = (name: unknown) => name === "EdDSA" || name === "Ed25519";
  return one === other || (isEd25519(one) && isEd25519(other));
}
