import { createPrivateKey, createPublicKey } from "node:crypto";
import { describe, expect, it } from "vitest";
import { thumbprintOf } from "./key.ts";
import { generateSigningKey } from "./private-key.ts";
import { publicKeyOf } from "./public-keys.ts";

describe("generateSigningKey", () => {
  it("makes a key for ES256 by the name of its thumbprint", async () => {
    const { privateJwk, publicJwk } = await generateSigningKey();
    expect(Object.keys(publicJwk).toSorted()).toEqual(["alg", "crv", "kid", "kty", "use", "x", "y"]);
    expect(publicJwk).toMatchObject({ kty: "EC", crv: "P-256", alg: "ES256", use: "sig" });
    expect(publicJwk.kid).toBe(await thumbprintOf(publicJwk));
    const { d, ...rest } = privateJwk;
    expect(rest).toEqual(publicJwk);
    expect(d).toMatch(/^[\w-]{43}$/);
  });

  for (const [what, kid] of [
    ["none", ""],
    ["with control characters", "a\u001b[31mb\n"],
    ["that turns the direction of writing", "a\u202eb"],
    ["longer than verifiers look", "k".repeat(257)],
  ] as const) {
    it(`makes none with an id ${what}`, async () => {
      await expect(generateSigningKey({ kid })).rejects.toThrow("the id of the key (kid)");
      const { publicJwk } = await generateSigningKey();
      await expect(publicKeyOf(publicJwk, { kid })).rejects.toThrow("the id of the key (kid)");
    });
  }

  for (const [alg, type, details] of [
    ["ES256", "ec", { namedCurve: "prime256v1" }],
    ["ES384", "ec", { namedCurve: "secp384r1" }],
    ["EdDSA", "ed25519", {}],
    ["Ed25519", "ed25519", {}],
    ["RS256", "rsa", { modulusLength: 3072, publicExponent: 65537n }],
    ["PS256", "rsa", { modulusLength: 3072, publicExponent: 65537n }],
  ] as const) {
    it(`makes a key for ${alg} that others can read`, async () => {
      const { privateJwk, publicJwk } = await generateSigningKey({ alg, kid: "summer" });
      expect([privateJwk.kid, privateJwk.alg, publicJwk.kid, publicJwk.alg]).toEqual([
        "summer",
        alg,
        "summer",
        alg,
      ]);
      const secret = createPrivateKey({ key: { ...privateJwk }, format: "jwk" });
      const open = createPublicKey({ key: { ...publicJwk }, format: "jwk" });
      expect(createPublicKey(secret).equals(open)).toBe(true);
      expect([open.asymmetricKeyType, open.asymmetricKeyDetails]).toEqual([type, details]);
      expect(Object.keys(publicJwk)).not.toContain("d");
    });
  }
});
