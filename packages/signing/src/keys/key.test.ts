import { base64url, exportJWK, generateKeyPair, type JWK } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import type { SignatureAlgorithm } from "./algorithms.ts";
import { algorithmNames, isSameAlgorithm, isSignatureAlgorithm } from "./algorithms.ts";
import { importVerificationKey, keyIdOf, thumbprintOf } from "./key.ts";
import type { VerificationKey } from "./key-type.ts";
import { SigningError } from "./key-type.ts";

const names: readonly SignatureAlgorithm[] = ["ES256", "ES384", "EdDSA", "Ed25519", "RS256", "PS256"];
const keys = new Map<SignatureAlgorithm, VerificationKey>();

beforeAll(async () => {
  for (const alg of names) {
    const { publicKey } = await generateKeyPair(alg, { extractable: true });
    keys.set(alg, { ...(await exportJWK(publicKey)), kid: alg });
  }
});

function keyFor(alg: SignatureAlgorithm): VerificationKey {
  const key = keys.get(alg);
  if (key === undefined) throw new Error(`no key for ${alg}`);
  return key;
}

describe("the table of algorithms (M-5)", () => {
  it("has what the types have", () => {
    expect(algorithmNames).toEqual(names);
  });

  for (const name of ["none", "HS256", "es256", "ES512", "toString", "__proto__", "", undefined, ["ES256"]]) {
    it(`does not have ${JSON.stringify(name)}`, () => expect(isSignatureAlgorithm(name)).toBe(false));
  }

  it("takes EdDSA and Ed25519 for the same, and nothing else", () => {
    const others = names.filter((name) => isSameAlgorithm("EdDSA", name));
    expect(others).toEqual(["EdDSA", "Ed25519"]);
    expect(names.filter((name) => isSameAlgorithm(name, "Ed25519"))).toEqual(others);
    for (const name of ["ES256", "ES384", "RS256", "PS256"]) {
      expect(names.filter((other) => isSameAlgorithm(name, other))).toEqual([name]);
    }
  });
});

describe("keyIdOf", () => {
  it("is the id that is given, else the key's own, else its thumbprint (RFC 7638)", async () => {
    const key = keyFor("ES256");
    expect(await keyIdOf(key, "given")).toBe("given");
    expect(await keyIdOf(key, undefined)).toBe("ES256");
    expect(await keyIdOf({ ...key, kid: "" }, undefined)).toBe(await thumbprintOf(key));
    await expect(keyIdOf(key, "")).rejects.toThrow("the id of the key (kid)");
  });
});

describe("importVerificationKey", () => {
  for (const alg of names) {
    it(`imports a key for ${alg}, once for each object`, async () => {
      const key = keyFor(alg);
      const imported = await importVerificationKey(key, alg);
      expect([imported.type, imported.usages]).toEqual(["public", ["verify"]]);
      expect(await importVerificationKey(key, alg)).toBe(imported);
      expect(await importVerificationKey({ ...key }, alg)).not.toBe(imported);
    });

    it(`imports it only for ${alg}, where it says so`, async () => {
      for (const other of names) {
        const outcome = importVerificationKey({ ...keyFor(alg), alg }, other);
        if (isSameAlgorithm(alg, other)) await outcome;
        else await expect(outcome, other).rejects.toThrow(SigningError);
      }
    });
  }

  it("imports an RSA key for both paddings when it does not say for which it is", async () => {
    const key = keyFor("RS256");
    const [pkcs1, pss] = [
      await importVerificationKey(key, "RS256"),
      await importVerificationKey(key, "PS256"),
    ];
    expect([pkcs1.algorithm.name, pss.algorithm.name]).toEqual(["RSASSA-PKCS1-v1_5", "RSA-PSS"]);
  });

  for (const [title, change, problem] of [
    ["for encryption", { use: "enc" }, /not for signatures/],
    ["that may only sign", { key_ops: ["sign"] }, /may not verify/],
    ["whose operations are no list", { key_ops: "verify" }, /may not verify/],
    ["on another curve", { crv: "P-384" }, /needs a key of the type EC on the curve P-256/],
    ["of another type", { kty: "RSA" }, /needs a key of the type EC/],
    ["without a type", { kty: undefined }, /needs a key of the type EC/],
    ["that is symmetric", { kty: "oct", k: "c2VjcmV0" }, /needs a key of the type EC/],
    ["with a point that is not on the curve", { x: "A".repeat(43) }, /malformed/],
    ["with a coordinate that is too short", { x: "AAAA" }, /"x" of the key is missing, or is not 32 bytes/],
    [
      "with padding",
      { x: `${"A".repeat(43)}=` },
      /"x" of the key is missing, or is not 32 bytes in base64url without padding/,
    ],
    ["with a coordinate that is no text", { y: 5 }, /"y" of the key is missing/],
    ["without a coordinate", { y: undefined }, /"y" of the key is missing/],
  ] as const) {
    it(`refuses a key ${title}`, async () => {
      const key = { ...keyFor("ES256"), ...change } as unknown as VerificationKey; // JSON has all of that
      await expect(importVerificationKey(key, "ES256")).rejects.toThrow(problem);
      await expect(importVerificationKey(key, "ES256")).rejects.toThrow(SigningError);
    });
  }

  it("refuses an algorithm that is none", async () => {
    for (const alg of ["none", "HS256", "toString"]) {
      const given = alg as SignatureAlgorithm; // as a caller without types could
      await expect(importVerificationKey({ ...keyFor("ES256") }, given)).rejects.toThrow(SigningError);
    }
  });

  for (const [title, n, e, problem] of [
    ["of 1024 bits", modulus(128), "AQAB", /1024 bits, not between 2048/],
    ["of 2047 bits", modulus(256, 0x7f), "AQAB", /2047 bits/],
    ["of 16384 bits", modulus(2048), "AQAB", /16384 bits, not between 2048 and 8192/],
    [
      "with a zero byte before its modulus",
      base64url.encode(new Uint8Array([0, ...new Uint8Array(256).fill(0xff)])),
      "AQAB",
      /number of the RSA key starts with a zero byte/,
    ],
    [
      "with a zero byte before its exponent",
      modulus(256),
      "AAEAAQ",
      /number of the RSA key starts with a zero byte/,
    ],
    ["with the exponent 1", modulus(256), "AQ", /even, less than 3/],
    ["with an even exponent", modulus(256), "AQAA", /even/],
    [
      "with an exponent of 72 bits",
      modulus(256),
      base64url.encode(new Uint8Array(9).fill(0xff)),
      /above 64 bits/,
    ],
    ["without an exponent", modulus(256), "", /"e" of the key is missing/],
  ] as const) {
    it(`refuses an RSA key ${title}`, async () => {
      await expect(importVerificationKey({ kty: "RSA", n, e, kid: "k" }, "RS256")).rejects.toThrow(problem);
    });
  }

  it("looks at nothing private", async () => {
    const key = { ...keyFor("ES256"), d: "not even base64" };
    expect((await importVerificationKey(key, "ES256")).type).toBe("public");
  });
});

describe("thumbprintOf", () => {
  it("knows one spelling of a key only, so that none has two thumbprints", async () => {
    const { x = "" } = keyFor("ES256");
    const last = x.at(-1) ?? "";
    // 32 bytes leave two bits of the last character unused.
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const twin = `${x.slice(0, -1)}${alphabet[alphabet.indexOf(last) + 1]}`;
    const spellings: readonly JWK[] = [twin, `${x}=`, `A${x}`, ` ${x}`].map((text) => ({
      ...keyFor("ES256"),
      x: text,
    }));
    for (const key of spellings) await expect(thumbprintOf(key)).rejects.toThrow(SigningError);
  });

  it("refuses symmetric keys: their thumbprint would tell of a secret", async () => {
    await expect(thumbprintOf({ kty: "oct", k: "c2VjcmV0" })).rejects.toThrow(/symmetric/);
  });
});

/** A number of so many bytes, as base64url. No RSA key, but as long as one. */
function modulus(bytes: number, first = 0xff): string {
  return base64url.encode(new Uint8Array(bytes).fill(0xff).fill(first, 0, 1));
}
