import type { JWK } from "jose";
import { SigningError } from "../signing-error.ts";
import { readCertificate } from "./certificate.ts";
import { isBoundToPss, readDerKey } from "./der-key.ts";
import type { VerificationKey } from "./key-types.ts";
import { isPem, type PemBlock, readPem } from "./pem.ts";
import { keyHint, textHint } from "./unusable-key.ts";

/**
 * The one key that a text is: a JWK, or PEM (PKCS#8, SPKI or a certificate). With all its members.
 *
 * @throws SigningError when it is none, or has several
 */
export async function parseKeyText(text: string): Promise<JWK> {
  const keys = await parseKeyTexts(text);
  const [key] = keys;
  if (key === undefined || keys.length > 1) {
    throw keys.length === 0
      ? new SigningError("the key set is empty", textHint)
      : new SigningError(`the text has ${keys.length} keys, and one is needed`, "give the one key alone");
  }
  return key;
}

/**
 * The keys that a text has: a JWK, a key set, or PEM with any number of keys. Whether they can be used is not asked here.
 *
 * @throws SigningError when it is nothing of that
 */
export async function parseKeyTexts(text: string): Promise<readonly JWK[]> {
  return isPem(text) ? await parsePem(text) : parseJwks(text);
}

function parseJwks(text: string): readonly JWK[] {
  const json = parseJson(text);
  if (!isObject(json)) throw notAKey();
  const entries = json["keys"];
  if (entries === undefined) {
    if (typeof json["kty"] !== "string") throw notAKey();
    return [json]; // its other members are looked at by whoever uses them
  }
  // What is no key is passed over (RFC 7517 §5).
  return Array.isArray(entries) ? entries.filter(isObject) : [];
}

/** The parser's own error would repeat the text, which may be a private key. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.trim()); // trim takes a byte order mark away, too
  } catch {
    throw notAKey();
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The first certificate is the one that is meant: those after it are of its issuers. */
async function parsePem(text: string): Promise<readonly JWK[]> {
  const blocks = readPem(text).filter(({ label }) => label !== "EC PARAMETERS");
  if (blocks.length === 0)
    throw new SigningError("the PEM is cut off", "give the whole file, with its BEGIN and END lines");
  const certificates = blocks.filter(({ label }) => label === "CERTIFICATE");
  checkChain(certificates);
  const [leaf] = certificates;
  const meant = blocks.filter((block) => block.label !== "CERTIFICATE" || block === leaf);
  return await Promise.all(meant.map(parseBlock));
}

/** Every certificate but the first must have issued another one: else it is of another key, which would be lost in silence. */
function checkChain(certificates: readonly PemBlock[]): void {
  const read = certificates.map(({ bytes }) => (bytes === undefined ? undefined : readCertificate(bytes)));
  for (const [index, each] of read.entries()) {
    const issued = read.some(
      (other) =>
        other !== each && other !== undefined && each !== undefined && isEqual(other.issuer, each.subject),
    );
    if (index > 0 && each !== undefined && !issued) {
      throw new SigningError(
        `the PEM has certificates that do not belong together: number ${index + 1} has issued none of the others`,
        "give one certificate, or one with those of its issuers after it",
      );
    }
  }
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

async function parseBlock({ label, bytes }: PemBlock): Promise<JWK> {
  switch (label) {
    case "PRIVATE KEY":
      return checkRead(bytes, bytes && (await readDerKey("pkcs8", bytes)));
    case "PUBLIC KEY":
      return checkRead(bytes, bytes && (await readDerKey("spki", bytes)));
    case "CERTIFICATE":
      return await parseCertificate(bytes);
    case "ENCRYPTED PRIVATE KEY":
      throw new SigningError(
        "the private key is encrypted",
        `decrypt it first: ${convert("pkcs8 -in key.pem")}`,
      );
    case "EC PRIVATE KEY":
    case "RSA PRIVATE KEY":
      throw new SigningError(
        `the private key is in an older form of PEM (${label})`,
        `convert it to PKCS#8: ${convert("pkcs8 -topk8 -nocrypt -in key.pem")}`,
      );
    case "RSA PUBLIC KEY":
      throw new SigningError(
        `the public key is in an older form of PEM (${label})`,
        `convert it: ${convert("rsa -RSAPublicKey_in -pubout -in key.pem")}`,
      );
    default:
      throw new SigningError(`the PEM holds no key (${label})`, keyHint);
  }
}

function convert(command: string): string {
  return `openssl ${command} -out new.pem`;
}

async function parseCertificate(bytes: Uint8Array<ArrayBuffer> | undefined): Promise<JWK> {
  const certificate = bytes && readCertificate(bytes);
  if (certificate === undefined)
    throw new SigningError("the certificate is malformed", "give it as PEM, as its issuer wrote it");
  const { spki, nbf, exp } = certificate;
  const key: JWK & Partial<VerificationKey> = {
    ...checkRead(spki, await readDerKey("spki", spki)),
    nbf,
    exp,
  };
  return key;
}

/** @param bytes of the key, as DER */
function checkRead(bytes: Uint8Array | undefined, key: JWK | undefined): JWK {
  if (key === undefined && bytes !== undefined && isBoundToPss(bytes)) {
    throw new SigningError(
      "the RSA key is bound to RSA-PSS (its OID is id-RSASSA-PSS), and this runtime reads no such key",
      "make an RSA key of the ordinary kind (openssl genpkey -algorithm RSA): PS256 signs with that",
    );
  }
  if (key === undefined) throw new SigningError("the PEM holds no key that signs cards", keyHint);
  return key;
}

function notAKey(): SigningError {
  return new SigningError("the text is neither a JWK, nor a key set, nor PEM", textHint);
}
