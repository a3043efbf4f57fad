import { constants, createHmac, type KeyObject, sign, verify } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { base64url, flattenedVerify } from "jose";
import type { SignatureBook } from "./signature-book.ts";
import { privateKey, publicKey, type TestKeyId } from "./test-keys.ts";
import type { CardSignature } from "./vector.ts";

/** How one signature of a vector is made: what a JWS is (RFC 7515 §5.1), without the code that the vectors are for. */
export interface SignatureRecipe {
  readonly key: TestKeyId;
  /** The protected header: its members, or its very text. */
  readonly header: JsonObject | string;
  /** What is signed. Default: the canonical text of the card. */
  readonly payload?: string;
  /** The algorithm that really signs. Default: the one that the header names. */
  readonly alg?: TestAlgorithm;
  /** Unprotected header. */
  readonly unprotected?: JsonObject;
  /** Spoils what was made. */
  readonly spoil?: (made: CardSignature) => CardSignature;
}

type TestAlgorithm =
  | "ES256"
  | "ES256-DER"
  | "ES384"
  | "EdDSA"
  | "Ed25519"
  | "RS256"
  | "PS256"
  | "HS256"
  | "none";

/** The signature that a recipe describes. */
export async function makeSignature(
  recipe: SignatureRecipe,
  canonical: string,
  book: SignatureBook,
): Promise<CardSignature> {
  const header = typeof recipe.header === "string" ? recipe.header : JSON.stringify(recipe.header);
  const alg = recipe.alg ?? algorithmOf(header);
  const protectedText = base64url.encode(header);
  const payload = base64url.encode(recipe.payload ?? canonical);
  const input = `${protectedText}.${payload}`;
  const signature = await book.signature(
    `${recipe.key} ${alg}`,
    input,
    (before) => verifySignature(alg, recipe.key, input, before),
    () => base64url.encode(signBytes(alg, recipe.key, input)),
  );
  if (isRegular(recipe)) {
    // Two implementations agree on what a good signature is.
    await flattenedVerify({ protected: protectedText, payload, signature }, publicKey(recipe.key));
  }
  const made = { protected: protectedText, signature };
  const whole = recipe.unprotected === undefined ? made : { ...made, header: recipe.unprotected };
  return recipe.spoil?.(whole) ?? whole;
}

function algorithmOf(header: string): TestAlgorithm {
  const { alg } = JSON.parse(header);
  return alg;
}

/** Whether `jose` can verify it, too. */
function isRegular(recipe: SignatureRecipe): boolean {
  return (
    typeof recipe.header === "object" &&
    recipe.alg === undefined &&
    recipe.header["crit"] === undefined &&
    recipe.header["alg"] !== "none" &&
    recipe.header["alg"] !== "HS256" &&
    recipe.key !== "rsa-1024"
  );
}

function signBytes(alg: TestAlgorithm, kid: TestKeyId, input: string): Uint8Array {
  const bytes = Buffer.from(input, "ascii");
  if (alg === "none") {
    return new Uint8Array();
  }
  if (alg === "HS256") {
    // The oldest attack on JWS: the public key is taken for a shared secret.
    const secret = publicKey(kid).export({ type: "spki", format: "pem" });
    return createHmac("sha256", secret).update(bytes).digest();
  }
  return sign(hashOf(alg), bytes, keyFor(alg, privateKey(kid)));
}

function verifySignature(alg: TestAlgorithm, kid: TestKeyId, input: string, signature: string): boolean {
  if (alg === "none" || alg === "HS256") {
    return false;
  }
  const bytes = Buffer.from(input, "ascii");
  return verify(hashOf(alg), bytes, keyFor(alg, publicKey(kid)), base64url.decode(signature));
}

function hashOf(alg: TestAlgorithm): string | null {
  if (alg === "EdDSA" || alg === "Ed25519") {
    return null;
  }
  return alg === "ES384" ? "sha384" : "sha256";
}

function keyFor(alg: TestAlgorithm, key: KeyObject) {
  if (alg === "PS256") {
    return { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };
  }
  return { key, dsaEncoding: alg === "ES256-DER" ? ("der" as const) : ("ieee-p1363" as const) };
}
