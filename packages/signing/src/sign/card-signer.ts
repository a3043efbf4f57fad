import type { CryptoKey, JWK } from "jose";
import { decodeBase64url } from "../jws/base64url.ts";
import { algorithms, isSignatureAlgorithm, maximumRsaBits, minimumRsaBits } from "../keys/algorithms.ts";
import { ecdsaFromDer } from "../keys/der.ts";
import { checkKeyId, importVerificationKey } from "../keys/key.ts";
import type { RemoteSign, SignatureAlgorithm, VerificationKey } from "../keys/key-options.ts";
import { SigningError } from "../keys/key-options.ts";
import { importPrivateKey } from "../keys/private-key.ts";
import { publicKeyOf } from "../keys/public-keys.ts";
import { checkMembers } from "../option-members.ts";
import type { CardSigner, CardSignerOptions } from "./sign-options.ts";

/**
 * Imports a key once, and sees that its two sides belong together.
 *
 * @throws SigningError when it cannot sign cards: symmetric, public, too weak, for another algorithm or for something else; when
 *   it is kept elsewhere and `kid` or `alg` is missing
 */
export async function createCardSigner(options: CardSignerOptions): Promise<CardSigner> {
  checkMembers("the options of createCardSigner", options);
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

/**
 * Has another party sign, and looks at what comes back: a card with a signature that does not verify is worse than none.
 *
 * @throws SigningError when it is no signature, or not one by that key; and what the signer throws
 */
async function signRemotely(
  sign: RemoteSign,
  { kid, alg, publicKey }: Pick<CardSigner, "kid" | "alg" | "publicKey">,
  input: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const given: unknown = await sign(input.slice(), { kid, alg });
  if (!(given instanceof Uint8Array)) {
    const hint = "return the signature as a Uint8Array, not as text";
    throw new SigningError("the signer returned no bytes", hint);
  }
  const signature = Uint8Array.from(given);
  checkForm(signature, alg, publicKey);
  if (publicKey === undefined) return signature;
  const key = await importVerificationKey(publicKey, alg);
  if (await crypto.subtle.verify(algorithms[alg].signParameters, key, signature, input)) return signature;
  throw new SigningError(
    "what the signer returned is no signature by the public key that was given",
    `look whether both are of the same key, and whether it signs the bytes themselves with ${alg}, not a digest of them`,
  );
}

function checkForm(
  signature: Uint8Array,
  alg: SignatureAlgorithm,
  publicKey: VerificationKey | undefined,
): void {
  const { signatureLength, kty } = algorithms[alg];
  if ((alg === "ES256" || alg === "ES384") && ecdsaFromDer(signature, alg) !== undefined) {
    throw new SigningError(
      `the signer returned DER, and JWS wants R||S of ${signatureLength} bytes (RFC 7518 §3.4)`,
      `convert it in the signer: return ecdsaFromDer(signature, "${alg}")`,
    );
  }
  const exact = signatureLength ?? decodeBase64url(publicKey?.n ?? "")?.length;
  const [least, most] = exact ? [exact, exact] : [minimumRsaBits / 8, maximumRsaBits / 8];
  if (signature.length < least || signature.length > most) {
    const wanted = least === most ? `${least}` : `${least} to ${most}`;
    throw new SigningError(
      `the signer returned ${signature.length} bytes, and a signature with ${alg} has ${wanted}`,
      "look which algorithm and which key the signer uses, and that it returns the bytes, not their base64",
    );
  }
  // Neither R nor S of ECDSA is ever zero (RFC 6090 §5.3), nor is the whole of another signature.
  const half = kty === "EC" ? signature.length / 2 : signature.length;
  const isZero = (part: Uint8Array) => part.length > 0 && part.every((byte) => byte === 0);
  if (isZero(signature.subarray(0, half)) || isZero(signature.subarray(half))) {
    const hint = "look whether it really signs, and returns what it has made";
    throw new SigningError("the signer returned zeros, which are no signature", hint);
  }
}
