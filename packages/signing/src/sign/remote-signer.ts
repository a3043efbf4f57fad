import { algorithms, type Curve, coordinateLengths, type SignatureAlgorithm } from "../keys/algorithms.ts";
import { ecdsaFromDer } from "../keys/der.ts";
import { importVerificationKey } from "../keys/key.ts";
import { maximumRsaBits, minimumRsaBits, SigningError, type VerificationKey } from "../keys/key-type.ts";

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
  if ((alg === "ES256" || alg === "ES384") && ecdsaFromDer(signature, alg) !== undefined) {
    throw new SigningError(
      "the signer returned DER, but JWS needs R||S (RFC 7518 §3.4)",
      `convert it in the signer: return ecdsaFromDer(signature, "${alg}")`,
    );
  }
  const { signParameters, crv } = algorithms[alg];
  const key = publicKey && (await importVerificationKey(publicKey, alg));
  const isSignature =
    key === undefined
      ? hasLength(signature, crv)
      : await crypto.subtle.verify(signParameters, key, signature, input);
  if (isSignature) return signature;
  throw new SigningError(
    key === undefined
      ? `the signer returned ${signature.length} bytes, and no signature with ${alg} has as many`
      : "the signer did not return a signature by the given public key",
    `check which key the signer uses, that it signs the bytes themselves with ${alg}, not their digest, and that it returns the bytes of the signature, not their base64`,
  );
}

/** Where the key is not known, this is all that can be told of a signature. */
function hasLength({ length }: Uint8Array, crv: Curve | undefined): boolean {
  return crv === undefined
    ? length >= minimumRsaBits / 8 && length <= maximumRsaBits / 8
    : length === 2 * coordinateLengths[crv];
}
