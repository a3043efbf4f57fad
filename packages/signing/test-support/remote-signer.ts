import { constants, createPrivateKey, sign } from "node:crypto";
import { algorithms, type SignatureAlgorithm } from "../src/keys/algorithms.ts";
import type { SigningKeyPair } from "../src/keys/private-key.ts";
import type { RemoteSign } from "../src/sign/card-signer.ts";

/** How Node signs and verifies by an algorithm. */
export function nodeOptions(alg: SignatureAlgorithm) {
  const { kty } = algorithms[alg];
  const hash = kty === "OKP" ? undefined : alg === "ES384" ? "sha384" : "sha256";
  const padding = alg === "PS256" ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 } : {};
  return {
    hash,
    options: { dsaEncoding: "ieee-p1363" as const, ...padding },
  };
}

/** A remote signer: a key management service, whose part Node's crypto plays. */
export function remoteSigner(
  { privateJwk }: Pick<SigningKeyPair, "privateJwk">,
  dsaEncoding: "ieee-p1363" | "der" = "ieee-p1363",
): RemoteSign {
  const key = createPrivateKey({ key: { ...privateJwk }, format: "jwk" });
  const { hash, options } = nodeOptions(privateJwk.alg);
  return async (input) => sign(hash, input, { key, ...options, dsaEncoding });
}
