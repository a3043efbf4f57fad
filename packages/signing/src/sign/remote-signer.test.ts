import { describe, expect, it } from "vitest";
import { algorithmNames, makeKeyPairs } from "../../test-support/key-pairs.ts";
import { remoteSigner } from "../../test-support/remote-signer.ts";
import type { SignatureAlgorithm } from "../keys/algorithms.ts";
import type { RemoteSign } from "./card-signer.ts";
import { createCardSigner } from "./card-signer.ts";

const pairFor = await makeKeyPairs();

describe("a remote signer", () => {
  const input = new TextEncoder().encode("input");
  const returning = async (signature: unknown, alg: SignatureAlgorithm) => {
    const key: RemoteSign = async () => signature as Uint8Array; // some are of another type
    const signer = await createCardSigner({ key, publicKey: pairFor(alg).publicJwk });
    return await signer.sign(input);
  };

  it("is told the id and the algorithm, and given bytes of its own", async () => {
    const { publicJwk } = pairFor("ES256");
    const service = remoteSigner(pairFor("ES256"));
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
    it(`is told when it returns DER for ${alg}`, async () => {
      const signer = await createCardSigner({
        key: remoteSigner(pairFor(alg), "der"),
        publicKey: pairFor(alg).publicJwk,
      });
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
    ["too few bytes", new Uint8Array(63), "ES256", /does not verify/],
    ["a signature of another curve", new Uint8Array(64), "ES384", /does not verify/],
    ["a digest", new Uint8Array(32), "RS256", /does not verify/],
    ["no bytes", new Uint8Array(), "EdDSA", /does not verify/],
  ] as const) {
    it(`is told when it returns ${title}`, async () => {
      await expect(returning(signature, alg)).rejects.toThrow(problem);
    });
  }

  it("is not believed without a look at its signature", async () => {
    for (const alg of algorithmNames) {
      for (const length of [64, 96, 384]) {
        await expect(returning(new Uint8Array(length).fill(1), alg)).rejects.toThrow(
          /the public key does not belong to the private key/,
        );
      }
    }
  });

  it("may fail in its own words", async () => {
    const failure = new Error("throttled");
    const publicKey = pairFor("ES256").publicJwk;
    const signer = await createCardSigner({ key: () => Promise.reject(failure), publicKey });
    await expect(signer.sign(input)).rejects.toBe(failure);
  });
});
