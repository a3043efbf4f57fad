import type { JsonObject } from "@bufbuild/protobuf";
import fc from "fast-check";
import { base64url } from "jose";
import { describe, expect, it } from "vitest";
import { makeKey, plainCard, signText } from "../../test-support/signed-card.ts";
import { canonicalCard } from "../canonical/canonical-card.ts";
import type { TrustPolicy } from "../trust/trust-policy.ts";
import { verifyCard } from "./verify-card.ts";

const key = await makeKey("k");
const good = await signText(canonicalCard(JSON.stringify(plainCard)), key);
const trustPolicy: TrustPolicy = {
  keys: [key.public],
  jku: { hosts: ["keys.example.org"], fetch: async () => Response.json({ keys: [key.public] }) },
  profiles: ["js-1", "python-1", "raw"],
};

/** Verifies, and looks at what every verification has, whatever it is of. */
async function verify(text: string) {
  const result = await verifyCard(text, { trustPolicy, url: "https://agents.example.org/" });
  expect(result.verified).toBe(result.reason === undefined);
  expect(result.message).toMatch(/^[^\p{Cc}\p{Cf}]+[.]$/u);
  for (const { valid, fault, problem, profile, thumbprint } of result.signatures) {
    expect([
      fault === undefined,
      problem === undefined,
      profile !== undefined,
      thumbprint !== undefined,
    ]).toEqual(Array.from({ length: 4 }, () => valid));
  }
  return result;
}

/** Of any code points. `unit: "binary"` and `webUrl` of fast-check keep a table of all of them: 85 MB, as long as the process lives. */
const anyText = fc.oneof(
  fc.string(),
  fc.array(fc.nat(0x10_ffff)).map((codePoints) => String.fromCodePoint(...codePoints)),
);

const anyUrl = fc
  .tuple(fc.domain(), fc.string())
  .map(([domain, path]) => `https://${domain}/${encodeURIComponent(path)}`);

const members = fc.constantFrom(
  ...Object.keys(plainCard),
  "signatures",
  "icon_url",
  "__proto__",
  "constructor",
);

describe("verifyCard never throws", { timeout: 60_000 }, () => {
  it("for any text", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyText, fc.json()), async (text) => {
        expect((await verify(text)).verified).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it("for any change of a signed card", async () => {
    const card = JSON.stringify({ ...plainCard, signatures: [good] });
    await fc.assert(
      fc.asyncProperty(fc.nat(card.length - 1), fc.nat(3), anyText, async (at, cut, text) => {
        await verify(card.slice(0, at) + text + card.slice(at + cut));
      }),
      { numRuns: 500 },
    );
  });

  it("for any value of any member", async () => {
    await fc.assert(
      fc.asyncProperty(members, fc.jsonValue(), async (name, value) => {
        const card: JsonObject = { ...plainCard, signatures: [good] };
        const entries = Object.entries(card).filter(([each]) => each !== name);
        const text = [...entries, [name, value] as const]
          .map(([each, member]) => `${JSON.stringify(each)}:${JSON.stringify(member)}`)
          .join();
        await verify(`{${text}}`);
      }),
      { numRuns: 500 },
    );
  });

  it("for any protected header", async () => {
    const header = fc.record(
      {
        alg: fc.oneof(fc.constantFrom("ES256", "ES384", "RS256", "none", "HS256"), fc.jsonValue()),
        kid: fc.oneof(fc.constantFrom("k", "l"), fc.jsonValue()),
        typ: fc.oneof(fc.constantFrom("JOSE", "JWT"), fc.jsonValue()),
        jku: fc.oneof(fc.constant("https://keys.example.org/"), anyUrl, fc.jsonValue()),
        crit: fc.jsonValue(),
        b64: fc.boolean(),
        jwk: fc.constant(key.public),
      },
      { requiredKeys: [] },
    );
    const encoded = fc.oneof(
      header.map((each) => base64url.encode(JSON.stringify(each))),
      anyText.map((each) => base64url.encode(each)),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(
        encoded,
        fc.oneof(fc.constant(good.signature), fc.string()),
        async (text, signature) => {
          const entry = { protected: text, signature };
          const result = await verify(JSON.stringify({ ...plainCard, signatures: [entry] }));
          expect(result.verified).toBe(false);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("for any entries of signatures", async () => {
    const entry = fc.oneof(
      fc.jsonValue(),
      fc.record(
        { protected: fc.jsonValue(), signature: fc.jsonValue(), header: fc.jsonValue() },
        { requiredKeys: [] },
      ),
      fc.jsonValue().map((header) => ({ ...good, header })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 25 }), async (signatures) => {
        await verify(JSON.stringify({ ...plainCard, signatures }));
      }),
      { numRuns: 200 },
    );
  });
});
