import { decodeBase64url } from "../jws/jws-text.ts";
import type { SignatureAlgorithm } from "../keys/algorithms.ts";
import { algorithms, maximumRsaBits, minimumRsaBits } from "../keys/algorithms.ts";
import { ecdsaFromDer } from "../keys/der.ts";
import { importVerificationKey } from "../keys/key.ts";
import { SigningError, type VerificationKey } from "../keys/key-type.ts";

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

interface RemoteKey {
  readonly kid: string;
  readonly alg: SignatureAlgorithm;
  /** Undefined when it is not known. */
  readonly publicKey: VerificationKey | undefined;
}

/**
 * Has a remote signer sign, and looks at what comes back: a card with a signature that does not verify is worse than none.
 *
 * @throws SigningError when it is no signature, or not one by that key; and what the signer throws
 */
export async function signRemotely(
  sign: RemoteSign,
  { kid, alg, publicKey }: RemoteKey,
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
    "the signer did not return a signature by the given public key",
    `check that the signer has the private key of this public key, and that it signs the bytes themselves with ${alg}, not their digest`,
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
      `the signer returned DER, but JWS needs R||S of ${signatureLength} bytes (RFC 7518 §3.4)`,
      `convert it in the signer: return ecdsaFromDer(signature, "${alg}")`,
    );
  }
  const exact = signatureLength ?? decodeBase64url(publicKey?.n ?? "")?.length;
  const [least, most] = exact ? [exact, exact] : [minimumRsaBits / 8, maximumRsaBits / 8];
  if (signature.length < least || signature.length > most) {
    const wanted = least === most ? `${least}` : `${least} to ${most}`;
    throw new SigningError(
      `the signer returned ${signature.length} bytes, but a signature with ${alg} has ${wanted}`,
      "check which algorithm and which key the signer uses, and that it returns the bytes, not their base64",
    );
  }
  // Neither R nor S of ECDSA is ever zero (RFC 6090 §5.3), nor is the whole of another signature.
  const half = kty === "EC" ? signature.length / 2 : signature.length;
  const isZero = (part: Uint8Array) => part.length > 0 && part.every((byte) => byte === 0);
  if (isZero(signature.subarray(0, half)) || isZero(signature.subarray(half))) {
    const hint = "check that it signs, and that it returns the signature";
    throw new SigningError("the signer returned only zeros, which are not a signature", hint);
  }
}
