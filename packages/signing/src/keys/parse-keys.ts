import { isObject } from "@a2a-connect/core/internal";
import type { JWK } from "jose";
import { readStrictJson } from "../canonical/json.ts";
import { SigningError } from "./key-type.ts";
import { isPem, parsePem } from "./pem.ts";

/** What to do about a text that is no key at all. */
export const textHint = "give a JWK, a key set (JWKS) or PEM; `a2a keys new` makes a key";

/** The one key that a text is: a JWK, or PEM (PKCS#8 or SPKI). With all its members. */
export async function parseKey(text: string): Promise<JWK> {
  const keys = await parseKeys(text);
  const [key] = keys;
  if (key === undefined) throw new SigningError("the key set is empty", textHint);
  if (keys.length === 1) return key;
  throw new SigningError(`the text has ${keys.length} keys, and one is needed`, "give only the one key");
}

/** The keys that a text has: a JWK, a key set, or PEM with any number of keys. Whether they can be used is not asked here. */
export async function parseKeys(text: string): Promise<readonly JWK[]> {
  return isPem(text) ? await parsePem(text) : parseJwks(text);
}

function parseJwks(text: string): readonly JWK[] {
  const { json } = readStrictJson(text.trim()); // trim takes a byte order mark away, too
  const entries = isObject(json) ? json["keys"] : undefined;
  // What is no key is passed over (RFC 7517 §5).
  if (entries !== undefined) return Array.isArray(entries) ? entries.filter((entry) => isObject(entry)) : [];
  if (isObject(json) && typeof json["kty"] === "string") return [json]; // its members are looked at when they are used
  // Nothing of the text is told: it may be a private key.
  throw new SigningError("the text is neither a JWK, nor a key set, nor PEM", textHint);
}
