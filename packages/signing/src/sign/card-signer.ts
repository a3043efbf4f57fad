import type { CryptoKey, JWK } from "jose";
import { algorithms, isSignatureAlgorithm } from "../keys/algorithms.ts";
import { checkKeyId, importVerificationKey } from "../keys/key.ts";
import type { SignatureAlgorithm, VerificationKey } from "../keys/key-types.ts";
import { importPrivateKey } from "../keys/private-key.ts";
import { publicKeyOf } from "../keys/public-keys.ts";
import { checkSigningMembers } from "../option-members.ts";
import { SigningError } from "../signing-error.ts";
import { signRemotely } from "./remote-signature.ts";
import type { CardSigner, CardSignerOptions } from "./sign-options.ts";

/**
 * Imports a key once, and sees that its two sides belong together.
 *
 * @throws SigningError when it cannot sign cards: symmetric, public, too weak, for another algorithm or for something else; when
 *   it is kept elsewhere and `kid` or `alg` is missing
 */
export async function createCardSigner(options: CardSignerOptions): Promise<CardSigner> {
  checkSigningMembers("the options of createCardSigner", options);
  return await openCardSigner(options);
}

/** The same, of options that have more members. */
export async function openCardSigner(options: CardSignerOptions): Promise<CardSigner> {
  const { key } = options;
  if (typeof key === "function") {
    const publicKey = await openPublicKey(options.publicKey, options.kid, options.alg);
    const alg = options.alg ?? publicKey?.alg;
    if (!isSignatureAlgorithm(alg)) {
      const hint = `say it, one of ${Object.keys(algorithms).join(", ")}; or give the public key`;
      throw new SigningError("how a key that is kept elsewhere signs is not known (alg)", hint);
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

const exportAnew = "export the key anew from where it was made";

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
  const hint = "give it as kid, or the public key, whose thumbprint it is then";
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
  throw new SigningError("the public and the private side of the key do not belong together", exportAnew);
}
