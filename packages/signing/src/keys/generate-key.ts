import { exportJWK, generateKeyPair } from "jose";
import { checkMembers } from "../option-members.ts";
import { checkKeyId, thumbprintOf } from "./key.ts";
import type { GenerateKeyOptions, SigningKeyPair } from "./key-options.ts";
import { publicMembers } from "./key-type.ts";

/** Enough for longer than a key should be used (NIST SP 800-57, part 1, table 2). */
const rsaBits = 3072;

/**
 * Makes a key pair that signs cards. RSA keys have 3072 bits, and take a moment.
 *
 * @throws SigningError when the id is none that verifiers look for
 */
export async function generateSigningKey(options: GenerateKeyOptions = {}): Promise<SigningKeyPair> {
  checkMembers("the options of generateSigningKey", options);
  const { alg = "ES256", kid } = options;
  if (kid !== undefined) checkKeyId(kid);
  const { privateKey } = await generateKeyPair(alg, { extractable: true, modulusLength: rsaBits });
  const secret = await exportJWK(privateKey);
  const members = publicMembers(secret);
  const says = { kid: kid ?? (await thumbprintOf(members)), alg, use: "sig" };
  return { privateJwk: { ...secret, ...says }, publicJwk: { ...members, ...says } };
}
