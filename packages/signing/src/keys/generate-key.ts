import { exportJWK, generateKeyPair, type JWK } from "jose";
import { checkSigningMembers } from "../option-members.ts";
import { checkKeyId } from "./key-id.ts";
import type { GenerateKeyOptions, SignatureAlgorithm, VerificationKey } from "./key-types.ts";
import { publicMembers } from "./public-members.ts";
import { thumbprintOf } from "./verification-key.ts";

/** A new key pair; both sides say their id, their algorithm, and that they are for signatures. */
export interface SigningKeyPair {
  /** To be kept secret. */
  readonly privateJwk: JWK & { readonly kid: string; readonly alg: SignatureAlgorithm };
  /** For whoever verifies. */
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
  checkSigningMembers("the options of generateSigningKey", options);
  const { alg = "ES256", kid } = options;
  if (kid !== undefined) checkKeyId(kid);
  const { privateKey } = await generateKeyPair(alg, { extractable: true, modulusLength: rsaBits });
  const secret = await exportJWK(privateKey);
  const members = publicMembers(secret);
  const says = { kid: kid ?? (await thumbprintOf(members)), alg, use: "sig" };
  return { privateJwk: { ...secret, ...says }, publicJwk: { ...members, ...says } };
}
