import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { describe, expect, it } from "vitest";
import { thumbprintOf } from "./key.ts";
import { SigningError } from "./key-type.ts";
import { generateSigningKey } from "./private-key.ts";
import { publicKeyOf, readVerificationKeys } from "./public-keys.ts";

const { privateJwk, publicJwk } = await generateSigningKey({ kid: "one" });
const other = (await generateSigningKey({ alg: "EdDSA", kid: "two" })).publicJwk;

const pairs = {
  "P-256": generateKeyPairSync("ec", { namedCurve: "P-256" }),
  "P-384": generateKeyPairSync("ec", { namedCurve: "P-384" }),
  Ed25519: generateKeyPairSync("ed25519"),
  RSA: generateKeyPairSync("rsa", { modulusLength: 2048 }),
};

const pem = (key: KeyObject): string =>
  String(key.export({ format: "pem", type: key.type === "public" ? "spki" : "pkcs8" }));

/** Self-signed, of P-256; its first date is written with two digits for the year, its last with four. */
const certificate = `-----BEGIN CERTIFICATE-----
MIIBdzCCAR2gAwIBAgIUXFcUZKSk1RVOZRWfjKHSreKpa5kwCgYIKoZIzj0EAwIw
EDEOMAwGA1UEAwwFQ2xlcmswIBcNMjYxMTIyMDcyODA0WhgPMjA1MjExMjUwNzI4
MDRaMBAxDjAMBgNVBAMMBUNsZXJrMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
jDCVB69ko0e8EtXtVLMNF9ptL6X6WyYjg3Xln33CBSL3+Ck+D3z7CoXVJQI+DJnj
rcHgiF+33MxBPytNgVkZi6NTMFEwHQYDVR0OBBYEFMvDIkxFjKeCKdXoJcJ3eUuD
qom8MB8GA1UdIwQYMBaAFMvDIkxFjKeCKdXoJcJ3eUuDqom8MA8GA1UdEwEB/wQF
MAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhAM0PQEqR4evB+QbulhiT03XKk7Xi8QNL
6UyG8ba9NpYzAiB721GHxZDWFxqQPzNQtCv1vvupI69TRkgXqc77awm2cA==
-----END CERTIFICATE-----
`;
const certified = {
  kty: "EC",
  crv: "P-256",
  x: "jDCVB69ko0e8EtXtVLMNF9ptL6X6WyYjg3Xln33CBSI",
  y: "9_gpPg98-wqF1SUCPgyZ463B4Ihft9zMQT8rTYFZGYs",
  nbf: 1795332484,
  exp: 2616132485, // the last second is still good
};

describe("readVerificationKeys", () => {
  it("reads a JWK, a key set and what stands before and after them", async () => {
    expect(await readVerificationKeys(JSON.stringify(publicJwk))).toEqual([publicJwk]);
    const set = `\ufeff\n${JSON.stringify({ keys: [publicJwk, other] })}\n`;
    expect(await readVerificationKeys(set)).toEqual([publicJwk, other]);
  });

  it("reads the public side of a private key", async () => {
    const text = JSON.stringify({ ...privateJwk, key_ops: ["sign"], password: "hunter2" });
    expect(await readVerificationKeys(text)).toEqual([publicJwk]);
    expect(await readVerificationKeys(JSON.stringify({ keys: [privateJwk, other] }))).toEqual([
      publicJwk,
      other,
    ]);
    const [key] = await readVerificationKeys(pem(pairs.RSA.privateKey));
    expect(Object.keys(key ?? {}).toSorted()).toEqual(["e", "kid", "kty", "n"]);
  });

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

  it("reads a certificate with its dates, and of a chain the first", async () => {
    const [key] = await readVerificationKeys(certificate, { kid: "clerk" });
    expect(key).toEqual({ ...certified, kid: "clerk" });
    expect(await readVerificationKeys(certificate + certificate)).toHaveLength(1);
  });

  it("keeps what a key says of its time", async () => {
    const key = { ...publicJwk, nbf: 5, exp: 6, revoked: { reason: "lost" } };
    expect(await readVerificationKeys(JSON.stringify(key))).toEqual([{ ...key, revoked: true }]);
  });

  it("gives one key the id that is asked for, and finds the one of several", async () => {
    expect(
      (await readVerificationKeys(JSON.stringify(publicJwk), { kid: "x" })).map(({ kid }) => kid),
    ).toEqual(["x"]);
    const set = JSON.stringify({ keys: [publicJwk, other] });
    expect(await readVerificationKeys(set, { kid: "two" })).toEqual([other]);
    await expect(readVerificationKeys(set, { kid: "three" })).rejects.toMatchObject({
      message: expect.stringContaining("no key of the set has the id"),
      hint: 'its ids are: "one", "two"',
    });
  });

  it("passes over what in a set is not for cards (RFC 7517 §5)", async () => {
    const odd = [
      { ...publicJwk, use: "enc" },
      { kty: "oct", k: "c2VjcmV0" },
      { kty: "AKP" },
      5,
      null,
      {},
      { ...publicJwk, alg: "ECDH-ES" },
    ];
    expect(await readVerificationKeys(JSON.stringify({ keys: [...odd, other] }))).toEqual([other]);
    await expect(readVerificationKeys(JSON.stringify({ keys: odd }))).rejects.toThrow(
      /no key of the set can be used: .*not for signatures/,
    );
  });

  for (const [title, text, problem, hint] of [
    ["nothing", "", /neither a JWK, nor a key set, nor PEM/, /a2a keys new/],
    ["no key", '{"hunter2":1}', /neither a JWK/, /a2a keys new/],
    ["a list", "[]", /neither a JWK/, /a2a keys new/],
    ["an empty set", '{"keys":[]}', /is empty/, /a2a keys new/],
    ["a symmetric key", '{"kty":"oct","k":"aHVudGVyMg"}', /symmetric/, /a2a keys new/],
    [
      "a key for encryption",
      JSON.stringify({ ...publicJwk, use: "enc" }),
      /not for signatures/,
      /correct it/,
    ],
    [
      "an algorithm of no card",
      JSON.stringify({ ...publicJwk, alg: "ES512" }),
      /cards are not signed with/,
      /ES256/,
    ],
    ["half a PEM", "-----BEGIN PRIVATE KEY-----\nhunter2", /cut off/, /END/],
    [
      "PEM that is no base64",
      "-----BEGIN PUBLIC KEY-----\nhunter2!\n-----END PUBLIC KEY-----",
      /holds no key that signs/,
      /ES256/,
    ],
    [
      "no certificate",
      "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
      /certificate is malformed/,
      /PEM/,
    ],
    [
      "a request for a certificate",
      "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----",
      /holds no key \(CERTIFICATE REQUEST\)/,
      /ES256/,
    ],
    [
      "an older form of EC",
      pairs["P-256"].privateKey.export({ format: "pem", type: "sec1" }),
      /older form/,
      /openssl pkcs8 -topk8 -nocrypt/,
    ],
    [
      "an older form of RSA",
      pairs.RSA.privateKey.export({ format: "pem", type: "pkcs1" }),
      /older form/,
      /openssl pkcs8/,
    ],
    [
      "an older form of public RSA",
      pairs.RSA.publicKey.export({ format: "pem", type: "pkcs1" }),
      /older form/,
      /openssl rsa -RSAPublicKey_in/,
    ],
    [
      "an encrypted key",
      pairs.RSA.privateKey.export({ format: "pem", type: "pkcs8", cipher: "aes-256-cbc", passphrase: "x" }),
      /encrypted/,
      /openssl pkcs8/,
    ],
    [
      "a curve of no card",
      pem(generateKeyPairSync("ec", { namedCurve: "P-521" }).publicKey),
      /holds no key that signs/,
      /P-256/,
    ],
    [
      "a weak RSA key",
      pem(generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey),
      /1024 bits/,
      /2048 bits/,
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

describe("several certificates", () => {
  /** The certificate with other names: those are not protected from whoever does not look at its signature. */
  const rename = (issuer: string, subject: string): string => {
    const [, body = ""] = certificate.split(/-----[A-Z ]+-----/);
    const [before, between, after] = Buffer.from(body, "base64").toString("latin1").split("Clerk");
    const der = Buffer.from([before, issuer, between, subject, after].join(""), "latin1");
    return `-----BEGIN CERTIFICATE-----\n${der.toString("base64")}\n-----END CERTIFICATE-----\n`;
  };

  it("are one key when those after the first have issued others", async () => {
    const chain = rename("Inter", "Leafy") + rename("Clerk", "Inter") + certificate;
    expect(await readVerificationKeys(chain, { kid: "k" })).toEqual([{ ...certified, kid: "k" }]);
  });

  it("are refused when they do not belong together, for one of them would be lost in silence", async () => {
    for (const more of [rename("Other", "Other"), rename("Clerk", "Other")]) {
      await expect(readVerificationKeys(certificate + more)).rejects.toThrow(/do not belong together/);
    }
  });
});

describe("publicKeyOf", () => {
  it("says that a key is revoked, and nothing of what its mark holds", async () => {
    for (const [mark, shown] of [
      [{ d: "SECRET" }, true],
      [true, true],
      [false, false],
    ] as const) {
      expect(await publicKeyOf(Object.assign({}, publicJwk, { revoked: mark }))).toEqual({
        ...publicJwk,
        revoked: shown,
      });
    }
  });

  it("refuses RSA keys that are bound to RSA-PSS, which no runtime reads", async () => {
    const { publicKey, privateKey } = generateKeyPairSync("rsa-pss", { modulusLength: 2048 });
    for (const key of [publicKey, privateKey]) {
      await expect(publicKeyOf(pem(key))).rejects.toThrow(/holds no key that signs cards/);
    }
  });

  it("is the same of the private and the public key, as JWK, as text and as PEM", async () => {
    const secret = createPrivateKey({ key: { ...privateJwk }, format: "jwk" });
    const forms = [
      privateJwk,
      publicJwk,
      JSON.stringify(privateJwk),
      pem(secret),
      pem(createPublicKey(secret)),
    ];
    for (const form of forms) expect(await publicKeyOf(form, { kid: "one" })).toEqual(publicJwk);
  });

  it("says the algorithm that it is told, when it fits", async () => {
    const rsa = pem(pairs.RSA.privateKey);
    expect(await publicKeyOf(rsa)).toMatchObject({ alg: "RS256", use: "sig" });
    expect(await publicKeyOf(rsa, { alg: "PS256" })).toMatchObject({ alg: "PS256" });
    await expect(publicKeyOf(rsa, { alg: "ES256" })).rejects.toThrow(/ES256 needs a key of the type EC/);
    await expect(publicKeyOf({ ...publicJwk, use: "enc" })).rejects.toThrow(SigningError);
    await expect(publicKeyOf(pem(pairs.RSA.publicKey) + pem(pairs.Ed25519.publicKey))).rejects.toThrow(
      /2 keys, and one/,
    );
  });
});
