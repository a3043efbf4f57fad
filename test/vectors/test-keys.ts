import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import type { JsonObject } from "@bufbuild/protobuf";

export type TestKeyId = "es256-1" | "es256-2" | "es384-1" | "ed25519-1" | "rsa-1" | "rsa-1024";

const stored: { keys: readonly JsonObject[] } = JSON.parse(
  readFileSync(new URL("keys.json", import.meta.url), "utf8"),
);

/** One of the private keys in `keys.json`, as JWK. Everybody knows them. */
function privateJwk(kid: TestKeyId): JsonObject {
  const key = stored.keys.find((each) => each["kid"] === kid);
  if (key === undefined) {
    throw new Error(`keys.json has no key ${kid}`);
  }
  return key;
}

export function privateKey(kid: TestKeyId): KeyObject {
  return createPrivateKey({ key: privateJwk(kid), format: "jwk" });
}

export function publicKey(kid: TestKeyId): KeyObject {
  return createPublicKey(privateKey(kid));
}

/** Its public half as JWK, with further members such as `exp` or `use`. */
export function publicJwk(kid: TestKeyId, members: JsonObject = {}): JsonObject {
  const { d, p, q, dp, dq, qi, ...open } = privateJwk(kid);
  return { ...open, ...members };
}
