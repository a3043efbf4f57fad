import type { KeyObject } from "node:crypto";
import type { SignatureAlgorithm } from "../src/keys/algorithms.ts";
import { generateSigningKey, type SigningKeyPair } from "../src/keys/private-key.ts";

export const algorithmNames: readonly SignatureAlgorithm[] = [
  "ES256",
  "ES384",
  "EdDSA",
  "Ed25519",
  "RS256",
  "PS256",
];

/** A key pair for each algorithm. @returns the one for an algorithm, with an id such as `key-ES256` */
export async function makeKeyPairs(): Promise<(alg: SignatureAlgorithm) => SigningKeyPair> {
  const made = algorithmNames.map(
    async (alg) => [alg, await generateSigningKey({ alg, kid: `key-${alg}` })] as const,
  );
  const pairs = new Map(await Promise.all(made));
  return (alg) => {
    const pair = pairs.get(alg);
    if (pair === undefined) throw new Error(`no key for ${alg}`);
    return pair;
  };
}

/** PKCS#8 or SPKI. */
export function pem(key: KeyObject): string {
  return String(key.export({ format: "pem", type: key.type === "public" ? "spki" : "pkcs8" }));
}
