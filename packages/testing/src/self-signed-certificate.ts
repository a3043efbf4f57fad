import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIPv4 } from "node:net";

/** A certificate and its key, both PEM. */
export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
}

/**
 * A certificate and its key, both PEM, made at run time: the repository has no certificate that could expire.
 *
 * @param hosts the names and IPv4 addresses that it is for; default `localhost` and 127.0.0.1
 */
export function createSelfSignedCertificate(
  hosts: readonly string[] = ["localhost", "127.0.0.1"],
): CertificatePair {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const names = hosts.map((host) =>
    isIPv4(host) ? tagged(0x87, Buffer.from(host.split(".").map(Number))) : tagged(0x82, Buffer.from(host)),
  );
  const signer = { name: "localhost", key: keys.privateKey };
  return createPair({ subject: "localhost", keys, signer, extensions: [alternativeNames(names)] });
}

/** What a client certificate says. */
export interface ClientCertificateInit {
  /** Its common name. */
  readonly subject: string;
  /** URIs among its alternative names. Default none. */
  readonly uris?: readonly string[];
}

/** An authority that signs client certificates. */
export interface CertificateAuthority {
  /** Its own certificate, PEM. */
  readonly cert: string;
  issue(init: ClientCertificateInit): CertificatePair;
}

/**
 * A certificate authority of its own.
 *
 * @param keys RSA, or EC of the curve P-256. Default: EC
 */
export function createCertificateAuthority(
  name = "Test CA",
  keys: CertificateKeys = generateKeyPairSync("ec", { namedCurve: "P-256" }),
): CertificateAuthority {
  const signer = { name, key: keys.privateKey };
  const isAuthority = extension("551d13", sequence(tagged(0x01, Buffer.from([0xff]))));
  return {
    cert: createPair({ subject: name, keys, signer, extensions: [isAuthority] }).cert,
    issue({ subject, uris = [] }) {
      const names = uris.map((uri) => tagged(0x86, Buffer.from(uri)));
      return createPair({
        subject,
        keys: generateKeyPairSync("ec", { namedCurve: "P-256" }),
        signer,
        extensions: names.length === 0 ? [] : [alternativeNames(names)],
      });
    },
  };
}

/** As from `generateKeyPairSync`. */
export interface CertificateKeys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

interface PairInit {
  readonly subject: string;
  readonly keys: CertificateKeys;
  readonly signer: { readonly name: string; readonly key: KeyObject };
  readonly extensions: readonly Buffer[];
}

/** X.509 (RFC 5280 §4.1) in as much DER as such a certificate needs. */
function createPair({
  subject,
  keys: { publicKey, privateKey },
  signer,
  extensions,
}: PairInit): CertificatePair {
  const algorithm =
    signer.key.asymmetricKeyType === "rsa"
      ? sequence(objectId("2a864886f70d01010b"), tagged(0x05)) // sha256WithRSAEncryption
      : sequence(objectId("2a8648ce3d040302")); // ecdsa-with-SHA256
  const now = Date.now();
  const day = 86_400_000;
  const body = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    tagged(0x02, randomBytes(8).fill(1, 0, 1)),
    algorithm,
    commonName(signer.name),
    sequence(utcTime(now - day), utcTime(now + day)),
    commonName(subject),
    publicKey.export({ type: "spki", format: "der" }),
    ...(extensions.length === 0 ? [] : [tagged(0xa3, sequence(...extensions))]),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign("sha256", body, signer.key)]);
  const der = sequence(body, algorithm, tagged(0x03, signature));
  const lines = der.toString("base64").replace(/.{64}(?=.)/g, "$&\n"); // an empty line would end the text
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function commonName(name: string): Buffer {
  return sequence(tagged(0x31, sequence(objectId("550403"), tagged(0x0c, Buffer.from(name)))));
}

function alternativeNames(names: readonly Buffer[]): Buffer {
  return extension("551d11", sequence(...names));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(objectId(id), tagged(0x04, value));
}

function tagged(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return tagged(0x30, ...parts);
}

function objectId(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, "hex"));
}

function utcTime(ms: number): Buffer {
  return tagged(0x17, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]/g, "").slice(2, 14)}Z`));
}
