import { generateKeyPairSync, sign } from "node:crypto";

/**
 * A certificate for `localhost` and its key, both PEM, made at run time: the repository has no certificate that could
 * expire. X.509 (RFC 5280 §4.1) in as much DER as one version 3 certificate with one alternative name needs.
 */
export function createSelfSignedCertificate(): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const ecdsaWithSha256 = sequence(objectId("2a8648ce3d040302"));
  const name = sequence(tagged(0x31, sequence(objectId("550403"), tagged(0x0c, Buffer.from("localhost")))));
  const now = Date.now();
  const day = 86_400_000;
  const alternativeNames = sequence(
    tagged(0x82, Buffer.from("localhost")),
    tagged(0x87, Buffer.from([127, 0, 0, 1])),
  );
  const body = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    tagged(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    name,
    sequence(utcTime(now - day), utcTime(now + day)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(sequence(objectId("551d11"), tagged(0x04, alternativeNames)))),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign("sha256", body, privateKey)]);
  const der = sequence(body, ecdsaWithSha256, tagged(0x03, signature));
  const lines = der.toString("base64").replace(/.{64}/g, "$&\n");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
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
