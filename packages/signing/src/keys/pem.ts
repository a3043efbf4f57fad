import { parseBase64 } from "@a2a-connect/core/internal";
import { type CryptoKey, exportJWK, importPKCS8, importSPKI, importX509, type JWK } from "jose";
import { readValidity } from "./der.ts";
import { keyHint, SigningError, unfit } from "./key-type.ts";

/** Whether a text has a block of PEM. */
export function isPem(text: string): boolean {
  return text.includes("-----BEGIN ");
}

const block = /-----BEGIN ([A-Z0-9 ]+)-----([^-]*(?:-(?!----)[^-]*)*)-----END \1-----/g;

/**
 * The keys of PEM: PKCS#8, SPKI, and of certificates the first, with its dates as `nbf` and `exp`: those after it are of its issuers.
 * What stands around the blocks is passed over, as some tools write notes there.
 */
export async function parsePem(text: string): Promise<readonly JWK[]> {
  const blocks = [...text.matchAll(block)].filter(([, label]) => label !== "EC PARAMETERS");
  if (blocks.length === 0) {
    throw new SigningError("the PEM is cut off", "give the whole file, with its BEGIN and END lines");
  }
  const certificate = blocks.find(([, label]) => label === "CERTIFICATE");
  const meant = blocks.filter((each) => each[1] !== "CERTIFICATE" || each === certificate);
  return await Promise.all(meant.map(parseBlock));
}

type PemReader = (pem: string, alg: string, options: { extractable: boolean }) => Promise<CryptoKey>;

const readers: ReadonlyMap<string, PemReader> = new Map([
  ["PRIVATE KEY", importPKCS8],
  ["PUBLIC KEY", importSPKI],
  ["CERTIFICATE", importX509],
]);

/** Makes of an encrypted private key, and of older forms, the one that Web Crypto reads. */
const conversion = "convert it first: openssl pkcs8 -topk8 -nocrypt -in key.pem -out new.pem";

/** One algorithm for each type of key that signs cards: the text is of one of them, and does not tell jose which. */
const typicalAlgorithms = ["ES256", "ES384", "EdDSA", "RS256"] as const;

async function parseBlock([text, label = "", body = ""]: RegExpExecArray): Promise<JWK> {
  const read = readers.get(label);
  if (read === undefined) {
    const isPrivate = label.endsWith(" PRIVATE KEY");
    throw unfit(`the PEM holds no key that can be read (${label})`, isPrivate ? conversion : keyHint);
  }
  const dates = label === "CERTIFICATE" ? readDates(body) : {};
  for (const alg of typicalAlgorithms) {
    try {
      return { ...(await exportJWK(await read(text, alg, { extractable: true }))), ...dates };
    } catch {
      // It is of another type. The error says less than the caller's.
    }
  }
  throw unfit("the PEM holds no key that signs cards");
}

function readDates(certificate: string) {
  const bytes = parseBase64(certificate.replaceAll(/\s/g, ""));
  const dates = bytes && readValidity(bytes);
  if (dates !== undefined) return dates;
  throw new SigningError("the certificate is malformed", "give it as PEM, as its issuer wrote it");
}
