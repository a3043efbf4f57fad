import {
  constants,
  createPrivateKey,
  createPublicKey,
  sign as signByNode,
  verify as verifyByNode,
} from "node:crypto";
import { base64url, type CryptoKey, flattenedVerify, importJWK, type JWK } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { plainCard } from "../../test-support/signed-card.ts";
import { canonicalCard } from "../canonical/canonical-card.ts";
import type { SignatureAlgorithm } from "../keys/algorithms.ts";
import { algorithms } from "../keys/algorithms.ts";
import { SigningError } from "../keys/key-type.ts";
import type { SigningKeyPair } from "../keys/private-key.ts";
import { generateSigningKey } from "../keys/private-key.ts";
import type { CardSignerOptions, RemoteSign, SigningKey } from "./card-signer.ts";
import { createCardSigner } from "./card-signer.ts";
import { signCardText } from "./sign-card.ts";

const names: readonly SignatureAlgorithm[] = ["ES256", "ES384", "EdDSA", "Ed25519", "RS256", "PS256"];
const pairs = new Map<SignatureAlgorithm, SigningKeyPair>();

beforeAll(async () => {
  for (const alg of names) pairs.set(alg, await generateSigningKey({ alg, kid: `key-${alg}` }));
}, 60_000);

function pairFor(alg: SignatureAlgorithm): SigningKeyPair {
  const pair = pairs.get(alg);
  if (pair === undefined) throw new Error(`no key for ${alg}`);
  return pair;
}

/** How Node signs and verifies by an algorithm. */
function nodeOptions(alg: SignatureAlgorithm) {
  const { kty } = algorithms[alg];
  const hash = kty === "OKP" ? undefined : alg === "ES384" ? "sha384" : "sha256";
  const padding = alg === "PS256" ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 } : {};
  return {
    hash,
    options: { dsaEncoding: "ieee-p1363" as const, ...padding },
  };
}

/** A key management service: Node's crypto, behind a function. */
function serviceFor(alg: SignatureAlgorithm, dsaEncoding: "ieee-p1363" | "der" = "ieee-p1363"): RemoteSign {
  const key = createPrivateKey({ key: { ...pairFor(alg).privateJwk }, format: "jwk" });
  const { hash, options } = nodeOptions(alg);
  return async (input) => signByNode(hash, input, { key, ...options, dsaEncoding });
}

const importWebKey = async (alg: SignatureAlgorithm, extractable: boolean) => {
  const { key_ops: _, use: __, alg: ___, ...jwk } = pairFor(alg).privateJwk;
  return (await importJWK(jwk, alg, { extractable })) as CryptoKey; // it is no symmetric key
};

/** The forms that a key can have, and what must be said beside it. */
const forms: Readonly<
  Record<string, (alg: SignatureAlgorithm) => CardSignerOptions | Promise<CardSignerOptions>>
> = {
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
  "a key of Web Crypto": async (alg) => ({ key: await importWebKey(alg, false), kid: `key-${alg}`, alg }),
  "one that can be exported": async (alg) => ({ key: await importWebKey(alg, true), kid: `key-${alg}`, alg }),
  "somebody who signs": (alg) => ({ key: serviceFor(alg), kid: `key-${alg}`, alg }),
  "somebody whose public key is known": (alg) => ({
    key: serviceFor(alg),
    publicKey: pairFor(alg).publicJwk,
  }),
};

const text = JSON.stringify(plainCard);

for (const [form, optionsFor] of Object.entries(forms)) {
  describe(`signing with ${form}`, () => {
    for (const alg of names) {
      it(`verifies with ${alg} by jose and by Node (M-1, M-2)`, async () => {
        const signer = await createCardSigner(await optionsFor(alg));
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
        expect(signer.publicKey ?? pairFor(alg).publicJwk).toEqual(pairFor(alg).publicJwk);
      });
    }
  });
}

describe("createCardSigner", () => {
  it("knows the public key, but of keys that do not let it out", async () => {
    const known = await Promise.all(
      Object.entries(forms).map(async ([form, optionsFor]) => {
        const { publicKey } = await createCardSigner(await optionsFor("ES256"));
        return [form, publicKey !== undefined];
      }),
    );
    expect(known.filter(([, isKnown]) => isKnown === false)).toEqual([
      ["a key of Web Crypto", false],
      ["somebody who signs", false],
    ]);
  });

  it("takes the thumbprint for the id when there is none (RFC 7638)", async () => {
    const { kid: _, ...key } = (await generateSigningKey()).privateJwk;
    const fresh = await generateSigningKey();
    const { kid: __, ...unnamed } = fresh.privateJwk;
    expect((await createCardSigner({ key: unnamed })).kid).toBe(fresh.publicJwk.kid);
    expect((await createCardSigner({ key: { ...key, kid: "" } })).kid).toMatch(/^[\w-]{43}$/);
    expect((await createCardSigner({ key: await importWebKey("ES256", true) })).kid).toMatch(/^[\w-]{43}$/);
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

  it("takes from a key of Web Crypto what it was made for", async () => {
    for (const [alg, want] of [
      ["PS256", "PS256"],
      ["RS256", "RS256"],
      ["ES384", "ES384"],
      ["Ed25519", "EdDSA"],
    ] as const) {
      expect((await createCardSigner({ key: await importWebKey(alg, false), kid: "k" })).alg).toBe(want);
    }
  });

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
    options: () => CardSignerOptions | Promise<CardSignerOptions>,
    problem: RegExp,
    hint: RegExp,
  ][] = [
    [
      "a public key",
      () => ({ key: pairFor("ES256").publicJwk }),
      /public one, without its private part/,
      /private key/,
    ],
    [
      "a symmetric key",
      () => ({ key: { kty: "oct", k: "c2VjcmV0", alg: "HS256" } }),
      /symmetric|not signed with/,
      /ES256/,
    ],
    [
      "a symmetric key for an algorithm with key pairs",
      () => ({ key: { kty: "oct", k: "c2VjcmV0" }, alg: "ES256" }),
      /symmetric/,
      /ES256/,
    ],
    [
      "the wrong curve",
      () => ({ key: jwk("ES256", { alg: undefined }), alg: "ES384" }),
      /ES384 needs a key on the curve P-384/,
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
      /correct it or leave it away/,
    ],
    [
      "a key for an algorithm of no card",
      () => ({ key: jwk("ES256", { alg: "ES512" }) }),
      /cards are not signed with/,
      /ES256/,
    ],
    [
      "no algorithm at all",
      () => ({ key: jwk("ES256"), alg: "none" as SignatureAlgorithm }),
      /not signed with this/,
      /ES256, ES384/,
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
      /lacks some of p, q/,
      /PKCS#8/,
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
      "a hidden key without an id",
      async () => ({ key: await importWebKey("ES256", false) }),
      /\(kid\)/,
      /public key/,
    ],
    [
      "a hidden key for another algorithm",
      async () => ({ key: await importWebKey("ES256", false), kid: "k", alg: "ES384" }),
      /not for ES384/,
      /ES384/,
    ],
    [
      "somebody who signs, without an id",
      () => ({ key: serviceFor("ES256"), alg: "ES256" }),
      /\(kid\)/,
      /public key/,
    ],
    [
      "somebody who signs, nobody knows how",
      () => ({ key: serviceFor("ES256"), kid: "k" }),
      /\(alg\)/,
      /RS256/,
    ],
    ["what is no key", () => ({ key: 5 as unknown as SigningKey }), /neither a JWK/, /KeyObject/],
    [
      "a KeyObject of Node",
      () => ({ key: createPrivateKey({ key: { ...jwk("ES256") }, format: "jwk" }) as unknown as SigningKey }),
      /neither a JWK/,
      /format: 'jwk'/,
    ],
    ["text that is no key", () => ({ key: "hunter2" }), /neither a JWK/, /a2a keys new/],
    [
      "a public key of somebody else",
      () => ({ key: jwk("ES256"), publicKey: pairFor("ES384").publicJwk }),
      /ES256 needs/,
      /P-256/,
    ],
  ];

  for (const [title, optionsFor, problem, hint] of refusals) {
    it(`refuses ${title}, and says what to do`, async () => {
      const error: unknown = await createCardSigner(await optionsFor()).catch((reason: unknown) => reason);
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
    await expect(createCardSigner({ key: privateKey, kid: "k" })).rejects.toThrow(SigningError);
  });

  it("refuses two sides that are not of one key", async () => {
    for (const alg of names) {
      const { publicJwk } = await generateSigningKey({ alg });
      const { n, x, y } = publicJwk;
      const members =
        alg.endsWith("S256") && n !== undefined ? { n } : { x, ...(y === undefined ? {} : { y }) };
      await expect(createCardSigner({ key: jwk(alg, members) }), alg).rejects.toThrow(SigningError);
      const options = { key: await importWebKey(alg, false), kid: "k", publicKey: publicJwk, alg };
      await expect(createCardSigner(options), alg).rejects.toThrow(/do not belong together/);
    }
  }, 60_000);
});

describe("somebody who signs", () => {
  const input = new TextEncoder().encode("input");
  const returning = async (signature: unknown, alg: SignatureAlgorithm = "ES256", publicKey?: JWK) => {
    const key: RemoteSign = async () => signature as Uint8Array; // whatever it is
    const signer = await createCardSigner({
      key,
      kid: "k",
      alg,
      ...(publicKey === undefined ? {} : { publicKey }),
    });
    return await signer.sign(input);
  };

  it("is told the id and the algorithm, and given bytes that are his", async () => {
    const { publicJwk } = pairFor("ES256");
    const service = serviceFor("ES256");
    const told: unknown[] = [];
    const key: RemoteSign = async (bytes, about) => {
      told.push(about);
      const signature = await service(bytes, about);
      bytes.fill(0);
      return signature;
    };
    const signer = await createCardSigner({ key, publicKey: publicJwk });
    await signer.sign(input);
    expect(told).toEqual([{ kid: "key-ES256", alg: "ES256" }]);
    expect(new TextDecoder().decode(input)).toBe("input");
  });

  for (const alg of ["ES256", "ES384"] as const) {
    it(`is told when he returns DER for ${alg}`, async () => {
      const signer = await createCardSigner({ key: serviceFor(alg, "der"), kid: "k", alg });
      await expect(signer.sign(input)).rejects.toMatchObject({
        name: "SigningError",
        message: expect.stringContaining("returned DER"),
        hint: `convert it in the signer: return ecdsaFromDer(signature, "${alg}")`,
      });
    });
  }

  for (const [title, signature, alg, problem] of [
    ["text", "c2lnbmF0dXJl", "ES256", /no bytes/],
    ["nothing", undefined, "ES256", /no bytes/],
    ["a buffer", new ArrayBuffer(64), "ES256", /no bytes/],
    ["too few bytes", new Uint8Array(63), "ES256", /63 bytes, and a signature with ES256 has 64/],
    [
      "a signature of another curve",
      new Uint8Array(64),
      "ES384",
      /64 bytes, and a signature with ES384 has 96/,
    ],
    ["a digest", new Uint8Array(32), "RS256", /32 bytes, and a signature with RS256 has 256 to 1024/],
    ["no bytes", new Uint8Array(), "EdDSA", /0 bytes/],
  ] as const) {
    it(`is told when he returns ${title}`, async () => {
      await expect(returning(signature, alg)).rejects.toThrow(problem);
    });
  }

  it("is not believed when his public key is known", async () => {
    for (const alg of names) {
      const { publicJwk } = pairFor(alg);
      const length = algorithms[alg].signatureLength ?? 384;
      await expect(returning(new Uint8Array(length).fill(1), alg, publicJwk)).rejects.toThrow(
        /no signature by the public key/,
      );
    }
    await expect(returning(new Uint8Array(256), "RS256", pairFor("RS256").publicJwk)).rejects.toThrow(
      /RS256 has 384/,
    );
  });

  for (const [what, signature, alg] of [
    ["zeros", new Uint8Array(64), "ES256"],
    ["no R", new Uint8Array(64).fill(1, 32), "ES256"],
    ["no S", new Uint8Array(96).fill(1, 0, 48), "ES384"],
    ["zeros", new Uint8Array(64), "EdDSA"],
    ["zeros", new Uint8Array(256), "RS256"],
  ] as const) {
    it(`is told when he returns ${what} for ${alg}`, async () => {
      await expect(returning(signature, alg)).rejects.toThrow(/returned zeros/);
    });
  }

  it("may fail in his own words", async () => {
    const failure = new Error("throttled");
    const signer = await createCardSigner({ key: () => Promise.reject(failure), kid: "k", alg: "ES256" });
    await expect(signer.sign(input)).rejects.toBe(failure);
  });
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
      expect(String(error)).toMatch(/belong together/);
    }
  });
});
