import type { SignatureAlgorithm } from "./key-types.ts";

/** What an algorithm means to keys, to Web Crypto and to the length of signatures. */
export interface AlgorithmEntry {
  readonly alg: SignatureAlgorithm;
  readonly kty: "EC" | "OKP" | "RSA";
  /** The one curve it is for; undefined of RSA. */
  readonly crv: "P-256" | "P-384" | "Ed25519" | undefined;
  /** Undefined where the algorithm brings its own (Ed25519). */
  readonly hash: "SHA-256" | "SHA-384" | undefined;
  /** For `crypto.subtle.importKey`. */
  readonly keyParameters: Algorithm | EcKeyImportParams | RsaHashedImportParams;
  /** For `crypto.subtle.sign` and `verify`. */
  readonly signParameters: Algorithm | EcdsaParams | RsaPssParams;
  /** Bytes of a signature; undefined where that depends on the key (RSA: as many as the modulus has). */
  readonly signatureLength: number | undefined;
}

/** Smallest modulus that counts (RFC 7518 §3.3). */
export const minimumRsaBits = 2048;

/** Largest modulus that is worked with: verifying takes time that grows with its square, and some runtimes go no further. */
export const maximumRsaBits = 8192;

function ecdsa(
  alg: SignatureAlgorithm,
  crv: "P-256" | "P-384",
  hash: "SHA-256" | "SHA-384",
  signatureLength: number,
): AlgorithmEntry {
  const name = "ECDSA";
  return entry({
    alg,
    kty: "EC",
    crv,
    hash,
    keyParameters: { name, namedCurve: crv },
    signParameters: { name, hash },
    signatureLength,
  });
}

function ed25519(alg: SignatureAlgorithm): AlgorithmEntry {
  const parameters = { name: "Ed25519" };
  return entry({
    alg,
    kty: "OKP",
    crv: "Ed25519",
    hash: undefined,
    keyParameters: parameters,
    signParameters: parameters,
    signatureLength: 64,
  });
}

function rsa(
  alg: SignatureAlgorithm,
  keyName: string,
  signParameters: Algorithm | RsaPssParams,
): AlgorithmEntry {
  const hash = "SHA-256";
  return entry({
    alg,
    kty: "RSA",
    crv: undefined,
    hash,
    keyParameters: { name: keyName, hash },
    signParameters,
    signatureLength: undefined,
  });
}

function entry(fields: AlgorithmEntry): AlgorithmEntry {
  Object.freeze(fields.keyParameters);
  Object.freeze(fields.signParameters);
  return Object.freeze(fields);
}

/**
 * The algorithms that cards are signed with (RFC 7518 §3.1, RFC 8037 §3.1, RFC 9864 §2.2). What is not here does not count: no
 * `none`, no HMAC. `EdDSA` is taken for Ed25519 alone, so that both names mean the same.
 */
export const algorithms: Readonly<Record<SignatureAlgorithm, AlgorithmEntry>> = Object.freeze({
  ES256: ecdsa("ES256", "P-256", "SHA-256", 64),
  ES384: ecdsa("ES384", "P-384", "SHA-384", 96),
  EdDSA: ed25519("EdDSA"),
  Ed25519: ed25519("Ed25519"),
  RS256: rsa("RS256", "RSASSA-PKCS1-v1_5", { name: "RSASSA-PKCS1-v1_5" }),
  PS256: rsa("PS256", "RSA-PSS", { name: "RSA-PSS", saltLength: 32 }),
});

/** Whether something read from a header, a key or a command line names an algorithm of the table. */
export function isSignatureAlgorithm(name: unknown): name is SignatureAlgorithm {
  return typeof name === "string" && Object.hasOwn(algorithms, name);
}

/** Whether a key that is meant for one algorithm may be used with another: only by another name of the same (RFC 9864 §2.2). */
export function isSameAlgorithm(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  return (one === "EdDSA" && other === "Ed25519") || (one === "Ed25519" && other === "EdDSA");
}
