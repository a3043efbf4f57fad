import type { CryptoKey, JWK } from "jose";
import { SigningError } from "../signing-error.ts";
import { algorithmOf } from "./algorithm-of.ts";
import { type AlgorithmEntry, algorithms, isSignatureAlgorithm, minimumRsaBits } from "./algorithms.ts";
import { KeyMismatchError } from "./key-mismatch-error.ts";
import { parseKeyText } from "./key-text.ts";
import type { SignatureAlgorithm } from "./key-types.ts";
import { publicMembers } from "./public-members.ts";
import { explainKeyError } from "./unusable-key.ts";
import { checkPurpose } from "./verification-key.ts";

/** A private key that is ready to sign. */
export interface PrivateKey {
  readonly alg: SignatureAlgorithm;
  readonly cryptoKey: CryptoKey;
  /** Its public side, with the id that it has itself; undefined when the key does not let it out. */
  readonly publicJwk: JWK | undefined;
}

/**
 * Imports a private key. What is imported cannot be exported again.
 *
 * @param key a JWK or its text, PKCS#8 as PEM, or a key of Web Crypto
 * @param alg default: what the key says or is made for
 * @throws SigningError when it cannot sign cards
 */
export async function importPrivateKey(
  key: JWK | string | CryptoKey,
  alg: SignatureAlgorithm | undefined,
): Promise<PrivateKey> {
  if (alg !== undefined && !isSignatureAlgorithm(alg)) {
    throw new SigningError(
      "cards are not signed with this algorithm",
      `choose one of ${Object.keys(algorithms).join(", ")}`,
    );
  }
  try {
    return isCryptoKey(key) ? await openCryptoKey(key, alg) : await importJwk(await readJwk(key), alg);
  } catch (error) {
    throw explainKeyError(error);
  }
}

async function readJwk(key: JWK | string): Promise<JWK> {
  if (typeof key === "string") return await parseKeyText(key);
  if (typeof key === "object" && key !== null && typeof key.kty === "string") return key;
  throw new SigningError(
    "the key is neither a JWK, nor PEM, nor a key of Web Crypto, nor a function",
    "a KeyObject of Node becomes one by key.export({ format: 'jwk' })",
  );
}

async function importJwk(jwk: JWK, given: SignatureAlgorithm | undefined): Promise<PrivateKey> {
  const alg = given ?? algorithmOf(jwk);
  checkPurpose(jwk, alg, "sign");
  const members = publicMembers(jwk);
  const keyData = { ...members, ...secretMembers(jwk) };
  const cryptoKey = await crypto.subtle
    .importKey("jwk", keyData, algorithms[alg].keyParameters, false, ["sign"])
    .catch(() => {
      // Nothing of the platform's error is told: it may be about secret members.
      throw new KeyMismatchError(`the private key is malformed, or this runtime does not know ${alg}`);
    });
  const { kid } = jwk;
  const hasId = typeof kid === "string" && kid !== "";
  return { alg, cryptoKey, publicJwk: hasId ? { ...members, kid } : { ...members } };
}

/** What Web Crypto wants of a private key (RFC 7518 §6.2.2, §6.3.2; RFC 8037 §2). */
function secretMembers({ kty, d, p, q, dp, dq, qi }: JWK): JWK {
  if (d === undefined) {
    throw new SigningError(
      "the key is a public one, without its private part (d)",
      "sign with the private key; the public one is for those who verify",
    );
  }
  if (kty !== "RSA") return { d };
  if (p === undefined || q === undefined || dp === undefined || dq === undefined || qi === undefined) {
    throw new SigningError(
      "the RSA key lacks some of p, q, dp, dq and qi",
      "export it as PKCS#8, or with all its members",
    );
  }
  return { d, p, q, dp, dq, qi };
}

async function openCryptoKey(key: CryptoKey, given: SignatureAlgorithm | undefined): Promise<PrivateKey> {
  if (key.type !== "private" || !key.usages.includes("sign")) {
    throw new SigningError(
      `the key cannot sign: it is a ${key.type} key`,
      'give a private key that was imported or made for ["sign"]',
    );
  }
  const fitting = Object.values(algorithms).filter((entry) => isFor(key, entry));
  const chosen = given === undefined ? fitting[0] : fitting.find(({ alg }) => alg === given);
  if (chosen === undefined) {
    throw new KeyMismatchError(
      given === undefined ? "the key is none that signs cards" : `the key is not for ${given}`,
    );
  }
  return { alg: chosen.alg, cryptoKey: key, publicJwk: await exportPublic(key) };
}

/** What Web Crypto says of its keys, as far as it matters here. */
interface KeyAlgorithmFacts extends KeyAlgorithm {
  readonly namedCurve?: string;
  readonly hash?: KeyAlgorithm;
  readonly modulusLength?: number;
}

function isFor({ algorithm }: CryptoKey, { keyParameters, crv, hash, kty }: AlgorithmEntry): boolean {
  const facts: KeyAlgorithmFacts = algorithm;
  if (facts.name !== keyParameters.name) return false;
  switch (kty) {
    case "EC":
      return facts.namedCurve === crv;
    case "OKP":
      return true;
    case "RSA":
      return facts.hash?.name === hash && (facts.modulusLength ?? 0) >= minimumRsaBits;
  }
}

async function exportPublic(key: CryptoKey): Promise<JWK | undefined> {
  if (!key.extractable) return undefined;
  const jwk = (await crypto.subtle.exportKey("jwk", key)) as JWK; // both are RFC 7517's
  return { ...publicMembers(jwk) };
}

function isCryptoKey(key: unknown): key is CryptoKey {
  return key instanceof CryptoKey;
}
