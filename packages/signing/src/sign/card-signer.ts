import type { JWK } from "jose";
import { algorithms, type SignatureAlgorithm } from "../keys/algorithms.ts";
import { ecdsaFromDer } from "../keys/der.ts";
import { importVerificationKey } from "../keys/key.ts";
import { SigningError, type VerificationKey } from "../keys/key-type.ts";
import { importPrivateKey } from "../keys/private-key.ts";
import { publicKeyOf } from "../keys/public-keys.ts";

/**
 * A remote signer: it signs with a key that is kept elsewhere, such as in a key management service.
 *
 * @param input the bytes to be signed (JWS Signing Input, RFC 7515 §5.1), not their digest
 * @returns the signature as JWS wants it: of ECDSA it is R||S (RFC 7518 §3.4), not DER
 */
export type RemoteSign = (
  input: Uint8Array<ArrayBuffer>,
  with_: { readonly kid: string; readonly alg: SignatureAlgorithm },
) => Promise<Uint8Array>;

/** A private key: a JWK, PKCS#8 as PEM, or a remote signer. */
export type SigningKey = JWK | string | RemoteSign;

/** What signs. */
export interface CardSignerOptions {
  readonly key: SigningKey;
  /** Id of the key. Default: the JWK's own, else its thumbprint (RFC 7638). */
  readonly kid?: string;
  /** Default: what the key says or is made for: ES256, ES384, EdDSA, and RS256 of RSA keys. */
  readonly alg?: SignatureAlgorithm;
  /**
   * The public side of a remote signer's key: a JWK or its text, or PEM. What comes from there is verified with it before it is
   * used. Needed of no other key.
   */
  readonly publicKey?: JWK | string;
}

/** A key that is ready to sign any number of cards. */
export interface CardSigner {
  readonly kid: string;
  readonly alg: SignatureAlgorithm;
  /** For those who verify. */
  readonly publicKey: VerificationKey;
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
 *   the public key of a remote signer is missing
 */
export async function createCardSigner(options: CardSignerOptions): Promise<CardSigner> {
  const { key } = options;
  const isRemote = typeof key === "function";
  const own = isRemote ? { sign: key, publicJwk: undefined } : await importPrivateKey(key, options.alg);
  const shown = options.publicKey ?? own.publicJwk;
  if (shown === undefined) {
    const hint = "give it as publicKey: callers verify with it";
    throw new SigningError("the public key of the remote signer is not known", hint);
  }
  const { kid = own.publicJwk?.kid, alg = own.publicJwk?.alg } = options;
  const publicKey = await publicKeyOf(shown, { kid, alg });
  const facts = { kid: publicKey.kid, alg: publicKey.alg, publicKey };
  const signer: CardSigner = { ...facts, sign: (input) => signAndCheck(own.sign, facts, input) };
  if (!isRemote) await signer.sign(probe); // Web Crypto does not see to it that both sides of a JWK are of one key
  return signer;
}

const probe: Uint8Array<ArrayBuffer> = new TextEncoder().encode("a2a-connect");

/**
 * Has a key sign, and looks at what comes back: a card with a signature that does not verify is worse than none.
 *
 * @throws SigningError when it is no signature, or not one by that key; and what the signer throws
 */
async function signAndCheck(
  sign: RemoteSign,
  { kid, alg, publicKey }: Omit<CardSigner, "sign">,
  input: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const given: unknown = await sign(input.slice(), { kid, alg });
  if (!(given instanceof Uint8Array)) {
    const hint = "return the signature as a Uint8Array, not as text";
    throw new SigningError("the signer returned no bytes", hint);
  }
  const signature = Uint8Array.from(given);
  const key = await importVerificationKey(publicKey, alg);
  if (await crypto.subtle.verify(algorithms[alg].signParameters, key, signature, input)) return signature;
  if ((alg === "ES256" || alg === "ES384") && ecdsaFromDer(signature, alg) !== undefined) {
    throw new SigningError(
      "the signer returned DER, but JWS needs R||S (RFC 7518 §3.4)",
      `convert it in the signer: return ecdsaFromDer(signature, "${alg}")`,
    );
  }
  throw new SigningError(
    "the signature does not verify: the public key does not belong to the private key",
    `check which key signs, that it signs the bytes themselves with ${alg}, not their digest, and that the bytes of the signature come back, not their base64`,
  );
}
