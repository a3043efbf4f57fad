import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { pem } from "../../test-support/key-pairs.ts";
import { thumbprintOf } from "./key.ts";
import { SigningError } from "./key-type.ts";
import { readVerificationKeys } from "./public-keys.ts";

const pairs = {
  "P-256": generateKeyPairSync("ec", { namedCurve: "P-256" }),
  "P-384": generateKeyPairSync("ec", { namedCurve: "P-384" }),
  Ed25519: generateKeyPairSync("ed25519"),
  RSA: generateKeyPairSync("rsa", { modulusLength: 2048 }),
};

describe("PEM", () => {
  for (const [name, { publicKey }] of Object.entries(pairs)) {
    it(`reads PEM of ${name}`, async () => {
      const { kty, crv, x, y, n, e } = publicKey.export({ format: "jwk" });
      const members = JSON.parse(JSON.stringify({ kty, crv, x, y, n, e }));
      const kid = await thumbprintOf(members);
      expect(await readVerificationKeys(`a note\n${pem(publicKey)}`)).toEqual([{ ...members, kid }]);
      expect(await readVerificationKeys(pem(publicKey), { kid: "mine" })).toEqual([
        { ...members, kid: "mine" },
      ]);
    });
  }

  it("reads several keys from one PEM", async () => {
    const keys = await readVerificationKeys(pem(pairs.RSA.publicKey) + pem(pairs.Ed25519.publicKey));
    expect(keys.map(({ kty }) => kty)).toEqual(["RSA", "OKP"]);
  });

  it("refuses RSA keys that are bound to RSA-PSS, which no runtime reads", async () => {
    const { publicKey, privateKey } = generateKeyPairSync("rsa-pss", { modulusLength: 2048 });
    for (const key of [publicKey, privateKey]) {
      await expect(readVerificationKeys(pem(key))).rejects.toThrow(/holds no key that signs cards/);
    }
  });

  for (const [title, text, problem, hint] of [
    ["half a PEM", "-----BEGIN PRIVATE KEY-----\nhunter2", /cut off/, /END/],
    [
      "PEM that is no base64",
      "-----BEGIN PUBLIC KEY-----\nhunter2!\n-----END PUBLIC KEY-----",
      /holds no key that signs/,
      /ES256/,
    ],
    [
      "a certificate",
      `${pem(pairs.RSA.publicKey)}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----`,
      /is a certificate, not a key/,
      /openssl x509 -in cert\.pem -pubkey -noout/,
    ],
    [
      "a request for a certificate",
      "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----",
      /no key that can be read \(CERTIFICATE REQUEST\)/,
      /ES256/,
    ],
    [
      "an older form of EC",
      pairs["P-256"].privateKey.export({ format: "pem", type: "sec1" }),
      /no key that can be read \(EC PRIVATE KEY\)/,
      /openssl pkcs8 -topk8 -nocrypt/,
    ],
    [
      "an older form of RSA",
      pairs.RSA.privateKey.export({ format: "pem", type: "pkcs1" }),
      /no key that can be read \(RSA PRIVATE KEY\)/,
      /openssl pkcs8/,
    ],
    [
      "an older form of public RSA",
      pairs.RSA.publicKey.export({ format: "pem", type: "pkcs1" }),
      /no key that can be read \(RSA PUBLIC KEY\)/,
      /ES256/,
    ],
    [
      "an encrypted key",
      pairs.RSA.privateKey.export({ format: "pem", type: "pkcs8", cipher: "aes-256-cbc", passphrase: "x" }),
      /no key that can be read \(ENCRYPTED PRIVATE KEY\)/,
      /openssl pkcs8/,
    ],
    [
      "a curve of no card",
      pem(generateKeyPairSync("ec", { namedCurve: "P-521" }).publicKey),
      /holds no key that signs/,
      /P-256/,
    ],
  ] as const) {
    it(`refuses ${title}, and says what to do`, async () => {
      const error: unknown = await readVerificationKeys(String(text)).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(SigningError);
      expect(error).toMatchObject({
        message: expect.stringMatching(problem),
        hint: expect.stringMatching(hint),
      });
      expect(String(error)).not.toMatch(/hunter2|aHVudGVyMg/);
    });
  }
});
