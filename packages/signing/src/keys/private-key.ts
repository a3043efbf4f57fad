import { exportJWK, generateKeyPair, type JWK } from "jose";
import { algorithms, type SignatureAlgorithm } from "./algorithms.ts";
import { importKey, keyIdOf, ownIdOf } from "./key.ts";
import type { VerificationKey } from "./key-type.ts";
import { algorithmOf, checkPurpose, publicMembers, SigningError } from "./key-type.ts";
import { parseKey } from "./parse-keys.ts";

/** What a new key is like. */
export interface GenerateKeyOptions {
  /** Default ES256. */
  readonly alg?: SignatureAlgorithm;
  /** Default: its thumbprint (RFC 7638). */
  readonly kid?: string;
}

/** A new key pair; both sides say their id, their algorithm, and that they are for signatures. */
export interface SigningKeyPair {
  /** To be kept secret. */
  readonly privateJwk: JWK & { readonly kid: string; readonly alg: SignatureAlgorithm };
  /** For verifiers. */
  readonly publicJwk: VerificationKey & { readonly alg: SignatureAlgorithm };
}

/** Enough for longer than a key should be used (NIST SP 800-57, part 1, table 2). */
const rsaBits = 3072;

/**
 * Makes a key pair that signs cards. RSA keys have 3072 bits, and take a moment.
 *
 * @throws SigningError when the id is none that verifiers look for
 */
export async function generateSigningKey(options: GenerateKeyOptions = {}): Promise<SigningKeyPair> {
  const { alg = "ES256", kid } = options;
  const { privateKey } = await generateKeyPair(alg, { extractable: true, modulusLength: rsaBits });
  const secret = await exportJWK(privateKey);
  const members = publicMembers(secret);
  const says = { kid: await keyIdOf(members, kid), alg, use: "sig" };
  return { privateJwk: { ...secret, ...says }, publicJwk: { ...members, ...says } };
}

/** A private key that is ready to sign. */
interface PrivateKey {
  /** Its public side, with the id that it has itself, and with the algorithm by which it signs. */
  readonly publicJwk: JWK & { readonly alg: SignatureAlgorithm };
  sign(input: Uint8Array<ArrayBuffer>): Promise<Uint8Array>;
}

/** Imports a key of CardSignerOptions. What is imported cannot be exported again. */
export async function importPrivateKey(
  key: JWK | string,
  given: SignatureAlgorithm | undefined,
): Promise<PrivateKey> {
  const jwk = typeof key === "string" ? await parseKey(key) : key;
  if (typeof jwk !== "object" || jwk === null || typeof jwk.kty !== "string") {
    const hint =
      "convert a KeyObject of Node: key.export({ format: 'jwk' }); have a function sign with other keys";
    throw new SigningError("the key is neither a JWK, nor PEM, nor a function", hint);
  }
  const alg = given ?? algorithmOf(jwk);
  checkPurpose(jwk, alg, "sign");
  const members = publicMembers(jwk);
  if (jwk.d === undefined) {
    const hint = "sign with the private key; the public one is for verifiers";
    throw new SigningError("the key is a public one, without its private part (d)", hint);
  }
  const { key_ops: _, ...secret } = jwk; // of which Web Crypto would take none but "sign"
  const cryptoKey = await importKey(secret, alg);
  const kid = ownIdOf(jwk);
  const publicJwk = { ...members, alg, ...(kid === undefined ? {} : { kid }) };
  const sign: PrivateKey["sign"] = async (input) => {
    const signing = crypto.subtle.sign(algorithms[alg].signParameters, cryptoKey, input);
    const signature = await signing.catch(() => {
      // Nothing of the platform's error is told: it may be about secret members.
      const hint = "export the key again from where it was made";
      throw new SigningError("the private key is malformed: its numbers do not belong together", hint);
    });
    return new Uint8Array(signature);
  };
  return { publicJwk, sign };
}
