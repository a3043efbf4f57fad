import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { pem } from "../../test-support/key-pairs.ts";
import type { VerificationKey } from "./key-type.ts";
import { SigningError } from "./key-type.ts";
import { generateSigningKey } from "./private-key.ts";
import { createKeySet, publicKeyOf, readVerificationKeys } from "./public-keys.ts";

const one = await generateSigningKey({ kid: "one" });
const two = await generateSigningKey({ alg: "EdDSA", kid: "two" });
const { privateJwk, publicJwk } = one;
const other = two.publicJwk;

const rsaPair = generateKeyPairSync("rsa", { modulusLength: 2048 });

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
    const [key] = await readVerificationKeys(pem(rsaPair.privateKey));
    expect(Object.keys(key ?? {}).toSorted()).toEqual(["e", "kid", "kty", "n"]);
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
      /does not sign cards/,
      /ES256/,
    ],
    [
      "a weak RSA key",
      pem(generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey),
      /1024 bits/,
      /2048 bits/,
    ],
  ] as const) {
    it(`refuses ${title}, and says what to do`, async () => {
      const error: unknown = await readVerificationKeys(text).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(SigningError);
      expect(error).toMatchObject({
        message: expect.stringMatching(problem),
        hint: expect.stringMatching(hint),
      });
      expect(String(error)).not.toMatch(/hunter2|aHVudGVyMg/);
    });
  }
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
    const rsa = pem(rsaPair.privateKey);
    expect(await publicKeyOf(rsa)).toMatchObject({ alg: "RS256", use: "sig" });
    expect(await publicKeyOf(rsa, { alg: "PS256" })).toMatchObject({ alg: "PS256" });
    await expect(publicKeyOf(rsa, { alg: "ES256" })).rejects.toThrow(/ES256 needs a key of the type EC/);
    await expect(publicKeyOf({ ...publicJwk, use: "enc" })).rejects.toThrow(SigningError);
    await expect(
      publicKeyOf(pem(rsaPair.publicKey) + pem(generateKeyPairSync("ed25519").publicKey)),
    ).rejects.toThrow(/2 keys, and one/);
  });
});

const now = Date.parse("2026-06-01T00:00:00Z");

describe("createKeySet", () => {
  it("has the public sides, whatever is given", () => {
    const { keys } = createKeySet([one.privateJwk, { ...two.publicJwk, password: "x" } as VerificationKey]);
    expect(keys).toEqual([one.publicJwk, two.publicJwk]);
  });

  it("keeps a retired key until its date, with it, and no longer (M-4)", () => {
    const retired = { ...one.publicJwk, exp: now / 1000 };
    expect(createKeySet([retired, two.publicJwk], { now: now - 1 })).toEqual({
      keys: [retired, two.publicJwk],
    });
    expect(createKeySet([retired, two.publicJwk], { now })).toEqual({ keys: [two.publicJwk] });
  });

  it("leaves revoked keys out: not everybody knows the mark (M-4)", () => {
    expect(createKeySet([{ ...one.publicJwk, revoked: { reason: "lost" } }])).toEqual({ keys: [] });
    expect(createKeySet([{ ...one.publicJwk, revoked: true }])).toEqual({ keys: [] });
    expect(createKeySet([{ ...one.publicJwk, revoked: false }]).keys).toHaveLength(1);
  });

  it("has a key once that is given twice, and no two with one id", () => {
    expect(createKeySet([one.publicJwk, one.privateJwk]).keys).toHaveLength(1);
    expect(() => createKeySet([one.publicJwk, { ...two.publicJwk, kid: "one" }])).toThrow(
      'two keys have the id "one"',
    );
  });

  it("leaves out a key whose date is none, as verifiers do", () => {
    expect(createKeySet([{ ...one.publicJwk, exp: Number.NaN }])).toEqual({ keys: [] });
  });

  it("refuses what is no key", () => {
    expect(() => createKeySet([{ ...one.publicJwk, x: "x" }])).toThrow(SigningError);
  });
});
