import { createPrivateKey, createPublicKey, verify as verifyByNode } from "node:crypto";
import { base64url, flattenedVerify, importJWK, type JWK } from "jose";
import { describe, expect, it } from "vitest";
import { algorithmNames, makeKeyPairs } from "../../test-support/key-pairs.ts";
import { nodeOptions, remoteSigner } from "../../test-support/remote-signer.ts";
import { plainCard } from "../../test-support/signed-card.ts";
import { canonicalCard } from "../canonical/canonical-card.ts";
import type { SignatureAlgorithm } from "../keys/algorithms.ts";
import { SigningError } from "../keys/key-type.ts";
import { generateSigningKey } from "../keys/private-key.ts";
import type { CardSignerOptions, SigningKey } from "./card-signer.ts";
import { createCardSigner } from "./card-signer.ts";
import { signCardText } from "./sign-card.ts";

const pairFor = await makeKeyPairs();
const webKey = await importJWK(pairFor("ES256").privateJwk, "ES256");

/** The forms that a key can have, and what must be said beside it. */
const forms: Readonly<Record<string, (alg: SignatureAlgorithm) => CardSignerOptions>> = {
  "a JWK": (alg) => ({ key: pairFor(alg).privateJwk }),
  "the text of a JWK": (alg) => ({ key: JSON.stringify(pairFor(alg).privateJwk) }),
  "a bare JWK": (alg) => {
    const { kid, alg: _, use: __, ...bare } = pairFor(alg).privateJwk;
    return { key: bare, kid, alg };
  },
  PEM: (alg) => {
    const key = createPrivateKey({ key: { ...pairFor(alg).privateJwk }, format: "jwk" });
    return { key: String(key.export({ type: "pkcs8", format: "pem" })), kid: `key-${alg}`, alg };
  },
  "a remote signer": (alg) => ({
    key: remoteSigner(pairFor(alg)),
    publicKey: pairFor(alg).publicJwk,
  }),
};

const text = JSON.stringify(plainCard);

for (const [form, optionsFor] of Object.entries(forms)) {
  describe(`signing with ${form}`, () => {
    for (const alg of algorithmNames) {
      it(`verifies with ${alg} by jose and by Node (M-1, M-2)`, async () => {
        const signer = await createCardSigner(optionsFor(alg));
        expect([signer.kid, signer.alg]).toEqual([`key-${alg}`, alg]);
        const card = JSON.parse(await signCardText(text, { signer }));
        const [signature] = card.signatures;
        const payload = base64url.encode(new TextEncoder().encode(canonicalCard(text)));
        const publicKey = await importJWK({ ...pairFor(alg).publicJwk });
        const { protectedHeader } = await flattenedVerify({ ...signature, payload }, publicKey);
        expect(protectedHeader).toEqual({ alg, typ: "JOSE", kid: `key-${alg}` });
        const input = new TextEncoder().encode(`${signature.protected}.${payload}`);
        const { hash, options } = nodeOptions(alg);
        const key = createPublicKey({ key: { ...pairFor(alg).publicJwk }, format: "jwk" });
        expect(
          verifyByNode(hash, input, { key, ...options }, Buffer.from(signature.signature, "base64url")),
        ).toBe(true);
        expect(signer.publicKey).toEqual(pairFor(alg).publicJwk);
      });
    }
  });
}

describe("createCardSigner", () => {
  it("takes the thumbprint for the id when there is none (RFC 7638)", async () => {
    const { kid: _, ...key } = (await generateSigningKey()).privateJwk;
    const fresh = await generateSigningKey();
    const { kid: __, ...unnamed } = fresh.privateJwk;
    expect((await createCardSigner({ key: unnamed })).kid).toBe(fresh.publicJwk.kid);
    expect((await createCardSigner({ key: { ...key, kid: "" } })).kid).toMatch(/^[\w-]{43}$/);
    const { kid, ...publicKey } = fresh.publicJwk;
    expect((await createCardSigner({ key: remoteSigner(fresh), publicKey })).kid).toBe(kid);
  });

  for (const [alg, want] of [
    ["ES256", "ES256"],
    ["ES384", "ES384"],
    ["Ed25519", "EdDSA"],
    ["PS256", "RS256"],
  ] as const) {
    it(`takes ${want} for what a key for ${alg} is made for`, async () => {
      const { alg: _, ...key } = pairFor(alg).privateJwk;
      expect((await createCardSigner({ key })).alg).toBe(want);
    });
  }

  it("may be asked for both names of Ed25519, whichever the key has", async () => {
    expect(
      (await createCardSigner({ key: pairFor("EdDSA").privateJwk, alg: "Ed25519" })).publicKey?.alg,
    ).toBe("Ed25519");
  });

  const jwk = (alg: SignatureAlgorithm, change: object = {}): JWK => ({
    ...pairFor(alg).privateJwk,
    ...change,
  });
  const refusals: readonly [
    title: string,
    options: () => CardSignerOptions,
    problem: RegExp,
    hint: RegExp,
  ][] = [
    [
      "a public key",
      () => ({ key: pairFor("ES256").publicJwk }),
      /public one, without its private part/,
      /private key/,
    ],
    ["a symmetric key", () => ({ key: { kty: "oct", k: "c2VjcmV0", alg: "HS256" } }), /symmetric/, /ES256/],
    [
      "a symmetric key for an algorithm with key pairs",
      () => ({ key: { kty: "oct", k: "c2VjcmV0" }, alg: "ES256" }),
      /ES256 needs a key of the type EC/,
      /ES256/,
    ],
    [
      "the wrong curve",
      () => ({ key: jwk("ES256", { alg: undefined }), alg: "ES384" }),
      /ES384 needs a key of the type EC on the curve P-384/,
      /P-384 \(ES384\)/,
    ],
    [
      "the wrong type",
      () => ({ key: jwk("ES256", { alg: undefined }), alg: "RS256" }),
      /RS256 needs a key of the type RSA/,
      /RSA/,
    ],
    [
      "a key for another algorithm",
      () => ({ key: jwk("RS256"), alg: "PS256" }),
      /for another algorithm than PS256/,
      /correct it or leave it out/,
    ],
    [
      "a key for an algorithm of no card",
      () => ({ key: jwk("ES256", { alg: "ES512" }) }),
      /does not sign cards/,
      /ES256/,
    ],
    [
      "no algorithm at all",
      () => ({ key: jwk("ES256"), alg: "none" as SignatureAlgorithm }),
      /does not sign cards/,
      /ES256/,
    ],
    [
      "a key for encryption",
      () => ({ key: jwk("ES256", { use: "enc" }) }),
      /not for signatures/,
      /correct it/,
    ],
    [
      "a key that may only verify",
      () => ({ key: jwk("ES256", { key_ops: ["verify"] }) }),
      /may not sign/,
      /correct it/,
    ],
    [
      "RSA without its primes",
      () => ({ key: jwk("RS256", { p: undefined }) }),
      /malformed or not complete/,
      /RSA keys/,
    ],
    ["a private part that is none", () => ({ key: jwk("ES256", { d: "AAAA" }) }), /malformed/, /ES256/],
    [
      "an id with control characters",
      () => ({ key: jwk("ES256"), kid: "a\u0007" }),
      /control characters/,
      /2026-summer/,
    ],
    [
      "an id that is too long",
      () => ({ key: jwk("ES256"), kid: "k".repeat(257) }),
      /256 characters/,
      /thumbprint/,
    ],
    ["an empty id", () => ({ key: jwk("ES256"), kid: "" }), /empty/, /thumbprint/],
    [
      "a remote signer without a public key",
      () => ({ key: remoteSigner(pairFor("ES256")), kid: "k", alg: "ES256" }),
      /public key of the remote signer is not known/,
      /publicKey/,
    ],
    ["what is no key", () => ({ key: 5 as unknown as SigningKey }), /neither a JWK/, /KeyObject/],
    [
      "a KeyObject of Node",
      () => ({ key: createPrivateKey({ key: { ...jwk("ES256") }, format: "jwk" }) as unknown as SigningKey }),
      /neither a JWK/,
      /format: 'jwk'/,
    ],
    [
      "a key of Web Crypto",
      () => ({ key: webKey as unknown as SigningKey, kid: "k", alg: "ES256" }),
      /neither a JWK/,
      /have a function sign/,
    ],
    ["text that is no key", () => ({ key: "hunter2" }), /neither a JWK/, /a2a keys new/],
    [
      "the public key of another key",
      () => ({ key: jwk("ES256"), publicKey: pairFor("ES384").publicJwk }),
      /ES256 needs/,
      /P-256/,
    ],
  ];

  for (const [title, optionsFor, problem, hint] of refusals) {
    it(`refuses ${title}, and says what to do`, async () => {
      const error: unknown = await createCardSigner(optionsFor()).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(SigningError);
      expect(error).toMatchObject({
        message: expect.stringMatching(problem),
        hint: expect.stringMatching(hint),
      });
    });
  }

  it("refuses weak RSA keys in every form", async () => {
    const { privateKey } = await crypto.subtle.generateKey(
      {
        name: "RSASSA-PKCS1-v1_5",
        hash: "SHA-256",
        modulusLength: 1024,
        publicExponent: new Uint8Array([1, 0, 1]),
      },
      true,
      ["sign", "verify"],
    );
    const weak = (await crypto.subtle.exportKey("jwk", privateKey)) as JWK; // both are RFC 7517's
    const pem = createPrivateKey({ key: { ...weak }, format: "jwk" }).export({
      type: "pkcs8",
      format: "pem",
    });
    for (const key of [weak, String(pem), JSON.stringify(weak)]) {
      await expect(createCardSigner({ key })).rejects.toThrow(/1024 bits, not between 2048/);
    }
  });

  it("refuses two sides that are not of one key", async () => {
    for (const alg of algorithmNames) {
      const { publicJwk } = await generateSigningKey({ alg });
      const { n, x, y } = publicJwk;
      const members =
        alg.endsWith("S256") && n !== undefined ? { n } : { x, ...(y === undefined ? {} : { y }) };
      await expect(createCardSigner({ key: jwk(alg, members) }), alg).rejects.toThrow(SigningError);
      const options = { key: pairFor(alg).privateJwk, publicKey: publicJwk, alg };
      await expect(createCardSigner(options), alg).rejects.toThrow(/does not belong to the private key/);
    }
  }, 60_000);
});

describe("an RSA key whose numbers do not belong together", () => {
  it("is refused, without a word about its secrets", async () => {
    const [one, other] = [pairFor("RS256").privateJwk, pairFor("PS256").privateJwk];
    const { kid = "" } = one;
    for (const key of [
      { ...one, p: "AAAA" },
      { ...one, n: `${one.n?.slice(0, -4)}AAAA` },
      { ...one, n: other.n ?? "" },
      { ...one, d: other.d ?? "", dp: other.dp ?? "" },
    ]) {
      const error: unknown = await createCardSigner({ key, kid }).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(SigningError);
      expect(String(error)).toMatch(/does not belong to the private key|do not belong together/);
    }
  });
});
