import { isObject } from "@a2a-connect/core/internal";
import { exportJWK, importPKCS8, importSPKI, type JWK } from "jose";
import { readStrictJson } from "../canonical/json.ts";
import { keyHint, SigningError, unfit } from "./key-type.ts";

/** What to do about a text that is no key at all. */
const textHint = "give a JWK, a key set (JWKS) or PEM; `a2a keys new` makes a key";

/** The one key that a text is: a JWK, or PEM (PKCS#8 or SPKI). With all its members. */
export async function parseKey(text: string): Promise<JWK> {
  const keys = await parseKeys(text);
  if (keys.length === 1) return keys[0];
  throw new SigningError(`the text has ${keys.length} keys, and one is needed`, "give only the one key");
}

/** The keys that a text has: a JWK, a key set, or PEM with one or more keys. Whether they can be used is not asked here. */
export async function parseKeys(text: string): Promise<readonly [JWK, ...JWK[]]> {
  const [first, ...others] = text.includes("-----BEGIN ") ? await parsePem(text) : parseJwks(text);
  if (first === undefined) throw new SigningError("the key set is empty", textHint);
  return [first, ...others];
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

const block = /-----BEGIN ([A-Z0-9 ]+)-----[^-]*(?:-(?!----)[^-]*)*-----END \1-----/g;

/** The keys of PEM: PKCS#8 and SPKI. What stands around the blocks is passed over, as some tools write notes there. */
async function parsePem(text: string): Promise<readonly JWK[]> {
  const blocks = [...text.matchAll(block)].filter(([, label]) => label !== "EC PARAMETERS");
  if (blocks.length > 0) return await Promise.all(blocks.map(parseBlock));
  throw new SigningError("the PEM is cut off", "give the whole file, with its BEGIN and END lines");
}

const readers = new Map([
  ["PRIVATE KEY", importPKCS8],
  ["PUBLIC KEY", importSPKI],
]);

/** Makes of an encrypted private key, and of older forms, the one that Web Crypto reads. */
const conversion = "convert it first: openssl pkcs8 -topk8 -nocrypt -in key.pem -out new.pem";

/** One algorithm for each type of key that signs cards: the text is of one of them, and does not tell jose which. */
const typicalAlgorithms = ["ES256", "ES384", "EdDSA", "RS256"] as const;

async function parseBlock([text, label = ""]: RegExpExecArray): Promise<JWK> {
  const read = readers.get(label);
  if (label === "CERTIFICATE") {
    const hint = "give the public key that it is for: openssl x509 -in cert.pem -pubkey -noout";
    throw unfit("the PEM is a certificate, not a key: its dates and its issuer would not be checked", hint);
  }
  if (read === undefined) {
    const isPrivate = label.endsWith(" PRIVATE KEY");
    throw unfit(`the PEM holds no key that can be read (${label})`, isPrivate ? conversion : keyHint);
  }
  for (const alg of typicalAlgorithms) {
    try {
      return await exportJWK(await read(text, alg, { extractable: true }));
    } catch {
      // It is of another type. The error says less than the caller's.
    }
  }
  throw unfit("the PEM holds no key that signs cards");
}
