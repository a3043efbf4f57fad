import { createPrivateKey } from "node:crypto";
import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { plainCard } from "../../test-support/signed-card.ts";
import type { SignatureAlgorithm } from "../keys/algorithms.ts";
import type { VerificationKey } from "../keys/key-type.ts";
import { generateSigningKey } from "../keys/private-key.ts";
import { createKeySet, publicKeyOf, readVerificationKeys } from "../keys/public-keys.ts";
import { createCardSigner } from "./card-signer.ts";
import { signCardText } from "./sign-card.ts";

const names: readonly SignatureAlgorithm[] = ["ES256", "ES384", "EdDSA", "RS256", "PS256"];
const pairs = await Promise.all(names.map((alg) => generateSigningKey({ alg })));
const secretMembers = ["d", "p", "q", "dp", "dq", "qi"] as const;

/** Everything that a caller, a log or a stranger may see of an outcome. */
const seen = (value: unknown): string =>
  `${inspect(value, { depth: 20, showHidden: true })}${JSON.stringify(value)}`;

describe("nothing private", () => {
  it("is in anything that comes out, whatever is done to a key", async () => {
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...pairs), arbitraryChange, async ({ privateJwk }, change) => {
        const secrets = secretMembers.flatMap((name) => privateJwk[name] ?? []);
        const key = { ...privateJwk, oth: [{ r: "oth-secret" }], password: "hunter2", ...change };
        const text = JSON.stringify(key);
        const pem = createPrivateKey({ key: { ...privateJwk }, format: "jwk" }).export({
          type: "pkcs8",
          format: "pem",
        });
        const body = String(pem).replaceAll(/-----.*-----|\s/g, "");
        const card = JSON.stringify(plainCard);
        const outcomes = await Promise.all(
          [
            () => createCardSigner({ key }),
            () => createCardSigner({ key: text }),
            () => createCardSigner({ key: text.slice(0, -1) }),
            () => createCardSigner({ key: `${pem}${pem}` }),
            () => signCardText(card, { key }),
            () => signCardText(card, { key: String(pem).replace("-----END", "----END") }),
            () => publicKeyOf(key),
            () => publicKeyOf(String(pem)),
            () => readVerificationKeys(text),
            () => readVerificationKeys(text.slice(1)),
            () => readVerificationKeys(JSON.stringify({ keys: [key] })),
            async () => createKeySet([key as VerificationKey]),
          ].map(async (act) => {
            try {
              return seen(await act());
            } catch (error) {
              refused += 1;
              return seen(error);
            }
          }),
        );
        const all = outcomes.join("\n");
        for (const secret of [
          ...secrets,
          "oth-secret",
          "hunter2",
          ...secrets.map((whole) => whole.slice(0, 20)),
          body.slice(40, 80),
        ]) {
          expect(all.includes(secret)).toBe(false);
        }
      }),
      { numRuns: 60 },
    );
    expect(refused).toBeGreaterThan(100); // else the errors were not looked at
  }, 60_000);
});

/** What may be wrong with a key, so that errors come about. */
const arbitraryChange = fc.constantFrom<object>(
  {},
  { alg: "HS256" },
  { alg: undefined, kty: "oct", k: "hunter2" },
  { kty: "AKP" },
  { crv: "P-521" },
  { use: "enc" },
  { key_ops: ["sign"] },
  { kid: 5 },
  { x: "x", n: "n" },
  { e: "AQ" },
  { p: 5, y: 5 },
);
