import { isObject, parseBase64 } from "@a2a-connect/core/internal";
import { type CryptoKey, exportJWK, importPKCS8, importSPKI, importX509, type JWK } from "jose";
import { type Certificate, readCertificate } from "./der.ts";
import { SigningError, unfit } from "./key-type.ts";

/** What to do about a text that is no key at all. */
export const textHint = "give a JWK, a key set (JWKS) or PEM; `a2a keys new` makes a key";

/**
 * The one key that a text is: a JWK, or PEM (PKCS#8, SPKI or a certificate). With all its members.
 *
 * @throws SigningError when it is none, or has several
 */
export async function parseKeyText(text: string): Promise<JWK> {
  const keys = await parseKeyTexts(text);
  const [key] = keys;
  if (key === undefined) throw new SigningError("the key set is empty", textHint);
  if (keys.length === 1) return key;
  throw new SigningError(`the text has ${keys.length} keys, and one is needed`, "give the one key alone");
}

/**
 * The keys that a text has: a JWK, a key set, or PEM with any number of keys. Whether they can be used is not asked here.
 *
 * @throws SigningError when it is nothing of that
 */
export async function parseKeyTexts(text: string): Promise<readonly JWK[]> {
  return text.includes("-----BEGIN ") ? await parsePem(text) : parseJwks(text);
}

function parseJwks(text: string): readonly JWK[] {
  const json = parseJson(text);
  const entries = isObject(json) ? json["keys"] : undefined;
  // What is no key is passed over (RFC 7517 §5).
  if (entries !== undefined) return Array.isArray(entries) ? entries.filter(isObject) : [];
  if (isObject(json) && typeof json["kty"] === "string") return [json]; // its members are looked at when they are used
  throw new SigningError("the text is neither a JWK, nor a key set, nor PEM", textHint);
}

/** The parser's own error would repeat the text, which may be a private key. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.trim()); // trim takes a byte order mark away, too
  } catch {
    return undefined;
  }
}

/** A block of PEM (RFC 7468): `-----BEGIN label-----` and what it holds. */
interface PemBlock {
  readonly text: string;
  readonly label: string;
  /** Undefined of what is none. */
  readonly certificate: Certificate | undefined;
}

const block = /-----BEGIN ([A-Z0-9 ]+)-----([^-]*(?:-(?!----)[^-]*)*)-----END \1-----/g;

/** What stands around the blocks is passed over, as some tools write notes there. */
async function parsePem(text: string): Promise<readonly JWK[]> {
  const all = Array.from(text.matchAll(block), ([whole, label = "", body = ""]): PemBlock => {
    return { text: whole, label, certificate: label === "CERTIFICATE" ? parseCertificate(body) : undefined };
  });
  const blocks = all.filter(({ label }) => label !== "EC PARAMETERS");
  if (blocks.length === 0) {
    throw new SigningError("the PEM is cut off", "give the whole file, with its BEGIN and END lines");
  }
  const certificates = blocks.flatMap(({ certificate }) => certificate ?? []);
  checkChain(certificates);
  // The first certificate is the one that is meant: those after it are of its issuers.
  const meant = blocks.filter(({ certificate }) => !certificate || certificate === certificates[0]);
  return await Promise.all(meant.map(parseBlock));
}

function parseCertificate(body: string): Certificate {
  const bytes = parseBase64(body.replaceAll(/\s/g, ""));
  const certificate = bytes && readCertificate(bytes);
  if (certificate !== undefined) return certificate;
  throw new SigningError("the certificate is malformed", "give it as PEM, as its issuer wrote it");
}

/** Every certificate but the first must have issued another one: else it is of another key, which would be lost in silence. */
function checkChain(certificates: readonly Certificate[]): void {
  const isStray = (each: Certificate, index: number) =>
    index > 0 && !certificates.some((other) => other !== each && other.issuer === each.subject);
  const stray = certificates.findIndex(isStray);
  if (stray === -1) return;
  throw new SigningError(
    `the PEM has certificates that do not belong together: number ${stray + 1} has issued none of the others`,
    "give one certificate, or one with those of its issuers after it",
  );
}

type PemReader = (pem: string, alg: string, options: { extractable: boolean }) => Promise<CryptoKey>;

const readers: ReadonlyMap<string, PemReader> = new Map([
  ["PRIVATE KEY", importPKCS8],
  ["PUBLIC KEY", importSPKI],
  ["CERTIFICATE", importX509],
]);

/** What is wrong with forms of PEM that Web Crypto does not read, and what OpenSSL makes another one with. */
const otherForms: ReadonlyMap<string, readonly [problem: string, command: string]> = new Map([
  ["ENCRYPTED PRIVATE KEY", ["the private key is encrypted", "pkcs8 -in"]],
  ["EC PRIVATE KEY", ["the private key is in an older form of PEM", "pkcs8 -topk8 -nocrypt -in"]],
  ["RSA PRIVATE KEY", ["the private key is in an older form of PEM", "pkcs8 -topk8 -nocrypt -in"]],
  ["RSA PUBLIC KEY", ["the public key is in an older form of PEM", "rsa -RSAPublicKey_in -pubout -in"]],
]);

/** One algorithm for each type of key that signs cards: the text is of one of them, and does not tell jose which. */
const typicalAlgorithms = ["ES256", "ES384", "EdDSA", "RS256"] as const;

async function parseBlock({ label, text, certificate }: PemBlock): Promise<JWK> {
  const read = readers.get(label);
  if (read === undefined) {
    const [problem, command] = otherForms.get(label) ?? ["the PEM holds no key"];
    throw unfit(
      `${problem} (${label})`,
      command && `convert it first: openssl ${command} key.pem -out new.pem`,
    );
  }
  const dates = certificate && { nbf: certificate.nbf, exp: certificate.exp };
  for (const alg of typicalAlgorithms) {
    try {
      return { ...(await exportJWK(await read(text, alg, { extractable: true }))), ...dates };
    } catch {
      // It is of another type. The error says less than the caller's.
    }
  }
  throw unfit("the PEM holds no key that signs cards");
}
