/**
 * Signature algorithms of cards, by their JOSE names (RFC 7518 §3.1, RFC 8037, RFC 9864). There is no `none` and no HMAC: a
 * card is verified with public keys only.
 */
export type SignatureAlgorithm = "ES256" | "ES384" | "EdDSA" | "Ed25519" | "RS256" | "PS256";

/** Curves of keys that sign cards. */
export type Curve = "P-256" | "P-384" | "Ed25519";

/** Bytes of a coordinate (RFC 7518 §6.2.1, RFC 8037 §2). A signature has twice as many (RFC 7518 §3.4, RFC 8032 §5.1.6). */
export const coordinateLengths: Readonly<Record<Curve, number>> = { "P-256": 32, "P-384": 48, Ed25519: 32 };

/** What an algorithm means to keys and to Web Crypto. */
export interface AlgorithmEntry {
  readonly kty: "EC" | "OKP" | "RSA";
  /** The one curve it is for; undefined of RSA. */
  readonly crv?: Curve;
  /** For `crypto.subtle.sign` and `verify`; keys have the same name. */
  readonly signParameters: Algorithm | EcdsaParams | RsaPssParams;
}

/** `EdDSA` is taken for Ed25519 alone, so that both names mean the same. */
export const algorithms: Readonly<Record<SignatureAlgorithm, AlgorithmEntry>> = {
  ES256: { kty: "EC", crv: "P-256", signParameters: { name: "ECDSA", hash: "SHA-256" } },
  ES384: { kty: "EC", crv: "P-384", signParameters: { name: "ECDSA", hash: "SHA-384" } },
  EdDSA: { kty: "OKP", crv: "Ed25519", signParameters: { name: "Ed25519" } },
  Ed25519: { kty: "OKP", crv: "Ed25519", signParameters: { name: "Ed25519" } },
  RS256: { kty: "RSA", signParameters: { name: "RSASSA-PKCS1-v1_5" } },
  PS256: { kty: "RSA", signParameters: { name: "RSA-PSS", saltLength: 32 } },
};

/** In the order in which a key that does not say its algorithm is given one. */
export const algorithmNames: readonly SignatureAlgorithm[] =
  Object.keys(algorithms).filter(isSignatureAlgorithm);

/** Whether something read from a header, a key or a command line names an algorithm of the table. */
export function isSignatureAlgorithm(name: unknown): name is SignatureAlgorithm {
  return typeof name === "string" && Object.hasOwn(algorithms, name);
}

/** Whether a key that is meant for one algorithm may be used with another: only by another name of the same (RFC 9864 §2.2). */
export function isSameAlgorithm(one: unknown, other: unknown): boolean {
  const isEd25519 = (name: unknown) => name === "EdDSA" || name === "Ed25519";
  return one === other || (isEd25519(one) && isEd25519(other));
}
