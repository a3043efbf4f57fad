import { type CryptoKey, exportJWK, importPKCS8, importSPKI, type JWK } from "jose";
import { keyHint, SigningError, unfit } from "./key-type.ts";

/** Whether a text has a block of PEM. */
export function isPem(text: string): boolean {
  return text.includes("-----BEGIN ");
}

const block = /-----BEGIN ([A-Z0-9 ]+)-----[^-]*(?:-(?!----)[^-]*)*-----END \1-----/g;

/** The keys of PEM: PKCS#8 and SPKI. What stands around the blocks is passed over, as some tools write notes there. */
export async function parsePem(text: string): Promise<readonly JWK[]> {
  const blocks = [...text.matchAll(block)].filter(([, label]) => label !== "EC PARAMETERS");
  if (blocks.length > 0) return await Promise.all(blocks.map(parseBlock));
  throw new SigningError("the PEM is cut off", "give the whole file, with its BEGIN and END lines");
}

type PemReader = (pem: string, alg: string, options: { extractable: boolean }) => Promise<CryptoKey>;

const readers: ReadonlyMap<string, PemReader> = new Map([
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
