import type { CryptoKey, JWK } from "jose";
import type { SignatureAlgorithm } from "../keys/algorithms.ts";
import { algorithmNames, algorithms, isSignatureAlgorithm } from "../keys/algorithms.ts";
import { checkKeyId, importVerificationKey } from "../keys/key.ts";
import { SigningError, type VerificationKey } from "../keys/key-type.ts";
import { importPrivateKey } from "../keys/private-key.ts";
import { publicKeyOf } from "../keys/public-keys.ts";
import { checkSigningMembers } from "../option-members.ts";
import { type RemoteSign, signRemotely } from "./remote-signer.ts";

/** A private key: a JWK, PKCS#8 as PEM, a key of Web Crypto, or a remote signer. */
export type SigningKey = JWK | string | CryptoKey | RemoteSign;

/** What signs. */
export interface CardSignerOptions {
  readonly key: SigningKey;
  /** Id of the key. Default: the JWK's own, else its thumbprint (RFC 7638). Needed where the public key is not known. */
  readonly kid?: string;
  /**
   * Default: what the key says or is made for: ES256, ES384, EdDSA, and RS256 of RSA keys. Needed for a remote signer whose public
   * key is not known.
   */
  readonly alg?: SignatureAlgorithm;
  /**
   * The public side of a key that does not let it out, such as one of a key management service: a JWK or its text, or PEM.
   * With it what comes from there is verified before it is used. Not needed of others.
   */
  readonly publicKey?: JWK | string;
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
   * @throws SigningError when a remote signer returns something else; and what it throws
   */
  sign(input: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>;
}

/**
 * Imports a key once, and sees that its two sides belong together.
 *
 * @throws SigningError when it cannot sign cards: symmetric, public, too weak, for another algorithm or for something else; when
 *   `kid` or `alg` of a remote signer is missing
 */
export async function createCardSigner(options: CardSignerOptions): Promise<CardSigner> {
  checkSigningMembers("the options of createCardSigner", options, "key kid alg publicKey");
  return await openCardSigner(options);
}

/** The same, of options that have more members. */
export async function openCardSigner(options: CardSignerOptions): Promise<CardSigner> {
  const { key } = options;
  if (typeof key === "function") {
    const publicKey = await openPublicKey(options.publicKey, options.kid, options.alg);
    const alg = options.alg ?? publicKey?.alg;
    if (!isSignatureAlgorithm(alg)) {
      const hint = `give it, one of ${algorithmNames.join(", ")}; or give the public key`;
      throw new SigningError("the algorithm of a key that is kept elsewhere is not known (alg)", hint);
    }
    const signer = { kid: checkKid(options.kid ?? publicKey?.kid), alg, publicKey };
    return { ...signer, sign: (input) => signRemotely(key, signer, input) };
  }
  const { alg, cryptoKey, publicJwk } = await importPrivateKey(key, options.alg);
  const publicKey = await openPublicKey(options.publicKey ?? publicJwk, options.kid ?? publicJwk?.kid, alg);
  const kid = checkKid(options.kid ?? publicKey?.kid);
  if (publicKey !== undefined) await checkPair(cryptoKey, publicKey, alg);
  return { kid, alg, publicKey, sign: (input) => signLocally(cryptoKey, alg, input) };
}

async function signLocally(
  key: CryptoKey,
  alg: SignatureAlgorithm,
  input: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const signing = crypto.subtle.sign(algorithms[alg].signParameters, key, input);
  // Nothing of the platform's error is told: it may be about secret members.
  const signature = await signing.catch(() => {
    throw new SigningError("the private key is malformed: its numbers do not belong together", exportAnew);
  });
  return new Uint8Array(signature);
}

const exportAnew = "export the key again from where it was made";

async function openPublicKey(
  key: JWK | string | undefined,
  kid: string | undefined,
  alg: SignatureAlgorithm | undefined,
): Promise<VerificationKey | undefined> {
  return key === undefined ? undefined : await publicKeyOf(key, { kid, alg });
}

/** M-2 demands one, and a verifier has to find it, and can show it. */
function checkKid(kid: string | undefined): string {
  if (kid !== undefined) return checkKeyId(kid);
  const hint = "give the id as kid; or give the public key, and its thumbprint is the id";
  throw new SigningError("the id of the key is not known (kid)", hint);
}

const probe: Uint8Array<ArrayBuffer> = new TextEncoder().encode("a2a-connect");

/** Web Crypto does not see to it that both sides of a JWK are of one key. */
async function checkPair(
  cryptoKey: CryptoKey,
  publicKey: VerificationKey,
  alg: SignatureAlgorithm,
): Promise<void> {
  const { signParameters } = algorithms[alg];
  const signature = await signLocally(cryptoKey, alg, probe);
  const verifier = await importVerificationKey(publicKey, alg);
  if (await crypto.subtle.verify(signParameters, verifier, signature, probe)) return;
  throw new SigningError("the public key does not belong to the private key", exportAnew);
}
