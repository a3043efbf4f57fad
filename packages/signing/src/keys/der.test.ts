import { generateKeyPairSync, sign, verify } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ecdsaFromDer } from "./der.ts";

describe("ecdsaFromDer", () => {
  for (const [alg, namedCurve, hash] of [
    ["ES256", "P-256", "sha256"],
    ["ES384", "P-384", "sha384"],
  ] as const) {
    it(`makes of OpenSSL's signatures what JWS wants, with ${alg}`, () => {
      const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve });
      // Enough for numbers that are shorter than their field, and for such that need a byte for their sign.
      for (let round = 0; round < 500; round += 1) {
        const input = new TextEncoder().encode(String(round));
        const der = sign(hash, input, { key: privateKey, dsaEncoding: "der" });
        const signature = ecdsaFromDer(der, alg) ?? new Uint8Array();
        expect(verify(hash, input, { key: publicKey, dsaEncoding: "ieee-p1363" }, signature)).toBe(true);
      }
    });
  }

  const minimal = [0x30, 0x06, 0x02, 0x01, 0x05, 0x02, 0x01, 0x07];

  it("puts short numbers to the right", () => {
    const signature = ecdsaFromDer(new Uint8Array(minimal), "ES256");
    expect([signature?.length, signature?.[31], signature?.[63]]).toEqual([64, 5, 7]);
  });

  for (const [title, bytes] of [
    ["nothing", []],
    ["something after it", [...minimal, 0]],
    ["a third number", [0x30, 0x09, ...minimal.slice(2), 0x02, 0x01, 0x01]],
    ["one number", [0x30, 0x03, 0x02, 0x01, 0x05]],
    ["a negative number", [0x30, 0x06, 0x02, 0x01, 0x85, 0x02, 0x01, 0x07]],
    ["zero", [0x30, 0x06, 0x02, 0x01, 0x00, 0x02, 0x01, 0x07]],
    ["an empty number", [0x30, 0x05, 0x02, 0x00, 0x02, 0x01, 0x07]],
    ["texts", [0x30, 0x06, 0x0c, 0x01, 0x05, 0x0c, 0x01, 0x07]],
    ["no sequence", [0x31, ...minimal.slice(1)]],
    ["a length of its own kind", [0x30, 0x80, ...minimal.slice(2), 0, 0]],
    ["a length that is not the shortest", [0x30, 0x81, ...minimal.slice(1)]],
    ["a length beyond the end", [0x30, 0x07, ...minimal.slice(2)]],
    ["a number of 33 bytes", [0x30, 0x26, 0x02, 0x21, ...Array<number>(33).fill(1), 0x02, 0x01, 0x07]],
  ] as const) {
    it(`knows no signature in ${title}`, () => {
      expect(ecdsaFromDer(new Uint8Array(bytes), "ES256")).toBeUndefined();
    });
  }

  it("takes no signature that is R||S for DER, and throws for no bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        const signature = ecdsaFromDer(bytes, "ES256");
        expect(signature === undefined || signature.length === 64).toBe(true);
      }),
    );
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 64, maxLength: 64 }),
        (bytes) => ecdsaFromDer(bytes, "ES256") === undefined,
      ),
    );
  });
});
