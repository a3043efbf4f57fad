import { decodeBase64url } from "../jws/base64url.ts";
import { algorithms, maximumRsaBits, minimumRsaBits } from "../keys/algorithms.ts";
import { importVerificationKey } from "../keys/key.ts";
import type { RemoteSign, SignatureAlgorithm, VerificationKey } from "../keys/key-types.ts";
import { SigningError } from "../signing-error.ts";
import { ecdsaFromDer } from "./ecdsa-der.ts";

/** Who signs elsewhere, and what is known of him. */
export interface RemoteSigner {
  readonly sign: RemoteSign;
  readonly kid: string;
  readonly alg: SignatureAlgorithm;
  readonly publicKey: VerificationKey | undefined;
}

/**
 * Has somebody else sign, and looks at what comes back: a card with a signature that does not verify is worse than none.
 *
 * @throws SigningError when it is no signature, or not one by that key; and whatever the signer throws
 */
export async function signRemotely(
  { sign, kid, alg, publicKey }: RemoteSigner,
  input: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const given: unknown = await sign(input.slice(), { kid, alg });
  if (!(given instanceof Uint8Array)) {
    throw new SigningError(
      "the signer returned no bytes",
      "return the signature as a Uint8Array, not as text",
    );
  }
  const signature = Uint8Array.from(given);
  checkForm(signature, alg, publicKey);
  checkZeros(signature, alg);
  if (publicKey !== undefined) await checkSignature(signature, alg, publicKey, input);
  return signature;
}

function checkForm(
  signature: Uint8Array,
  alg: SignatureAlgorithm,
  publicKey: VerificationKey | undefined,
): void {
  if ((alg === "ES256" || alg === "ES384") && ecdsaFromDer(signature, alg) !== undefined) {
    throw new SigningError(
      `the signer returned DER, and JWS wants R||S of ${algorithms[alg].signatureLength} bytes (RFC 7518 §3.4)`,
      `convert it in the signer: return ecdsaFromDer(signature, "${alg}")`,
    );
  }
  const { least, most } = lengthsOf(alg, publicKey);
  if (signature.length < least || signature.length > most) {
    const wanted = least === most ? `${least}` : `${least} to ${most}`;
    throw new SigningError(
      `the signer returned ${signature.length} bytes, and a signature with ${alg} has ${wanted}`,
      "look which algorithm and which key the signer uses, and that it returns the bytes, not their base64",
    );
  }
}

/** Neither R nor S of ECDSA is ever zero (RFC 6090 §5.3), nor is the whole of another signature. */
function checkZeros(signature: Uint8Array, alg: SignatureAlgorithm): void {
  const half = signature.length / 2;
  const parts =
    algorithms[alg].kty === "EC" ? [signature.subarray(0, half), signature.subarray(half)] : [signature];
  if (parts.some((part) => part.every((byte) => byte === 0))) {
    throw new SigningError(
      "the signer returned zeros, which are nobody's signature",
      "look whether it really signs, and returns what it has made",
    );
  }
}

function lengthsOf(
  alg: SignatureAlgorithm,
  publicKey: VerificationKey | undefined,
): { readonly least: number; readonly most: number } {
  const { signatureLength } = algorithms[alg];
  const length = signatureLength ?? decodeBase64url(publicKey?.n ?? "")?.length;
  return length === undefined || length === 0
    ? { least: minimumRsaBits / 8, most: maximumRsaBits / 8 }
    : { least: length, most: length };
}

async function checkSignature(
  signature: Uint8Array<ArrayBuffer>,
  alg: SignatureAlgorithm,
  publicKey: VerificationKey,
  input: Uint8Array<ArrayBuffer>,
): Promise<void> {
  const key = await importVerificationKey(publicKey, alg);
  if (!(await crypto.subtle.verify(algorithms[alg].signParameters, key, signature, input))) {
    throw new SigningError(
      "what the signer returned is no signature by the public key that was given",
      `look whether both are of the same key, and whether it signs the bytes themselves with ${alg}, not a digest of them`,
    );
  }
}
