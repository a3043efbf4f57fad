import { decodeBase64url } from "../jws/base64url.ts";
import { algorithms, maximumRsaBits, minimumRsaBits } from "../keys/algorithms.ts";
import { importVerificationKey } from "../keys/key.ts";
import type { RemoteSign, SignatureAlgorithm, VerificationKey } from "../keys/key-types.ts";
import { SigningError } from "../signing-error.ts";
import { ecdsaFromDer } from "./ecdsa-der.ts";
import type { CardSigner } from "./sign-options.ts";

/**
 * Has another party sign, and looks at what comes back: a card with a signature that does not verify is worse than none.
 *
 * @throws SigningError when it is no signature, or not one by that key; and whatever the signer throws
 */
export async function signRemotely(
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
