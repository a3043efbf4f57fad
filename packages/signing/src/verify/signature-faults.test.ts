import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { base64url, FlattenedSign } from "jose";
import { describe, expect, it } from "vitest";
import { encodeHeader, makeKey, plainCard, signAnyHeader, signText } from "../../test-support/signed-card.ts";
import { canonicalCard } from "../canonical/canonical-card.ts";
import { thumbprintOf } from "../keys/key.ts";
import type { VerificationKey } from "../keys/key-type.ts";
import type { TrustPolicy } from "../trust/trust-policy.ts";
import type { SignatureFault } from "./faults.ts";
import { verifyCard } from "./verify-card.ts";

const now = Date.UTC(2026, 0, 1);
const seconds = now / 1000;

const key = await makeKey("k");
const other = await makeKey("k");
const p384 = await makeKey("k", "ES384");
const ed = await makeKey("k", "Ed25519");
const rsa = await makeKey("k", "RS256");

const payload = canonicalCard(JSON.stringify(plainCard));
const good = await signText(payload, key);
const header = { alg: "ES256", typ: "JOSE", kid: "k" };
const signed = (more: object) => signAnyHeader(payload, key, { ...header, ...more });
const without = (name: string) =>
  signAnyHeader(payload, key, Object.fromEntries(Object.entries(header).filter(([each]) => each !== name)));
const rsaGood = await signText(payload, rsa, { alg: "RS256" });
const bytesOf = (text: string) => base64url.decode(text);

/** A symmetric signature, made with the public key as the secret. */
async function hmacOfPublicKey() {
  const secret = new TextEncoder().encode(JSON.stringify(key.public));
  const { protected: protectedText = "", signature } = await new FlattenedSign(
    new TextEncoder().encode(payload),
  )
    .setProtectedHeader({ alg: "HS256", typ: "JOSE", kid: "k" })
    .sign(secret);
  return { protected: protectedText, signature };
}

/** An ECDSA signature as X.509 has it. */
function toDer(raw: Uint8Array): Uint8Array {
  const integer = (bytes: Uint8Array) => {
    const first = bytes.findIndex((byte) => byte !== 0);
    const trimmed = [...bytes.subarray(Math.max(0, first))];
    const body = (trimmed[0] ?? 0) > 127 ? [0, ...trimmed] : trimmed;
    return [2, body.length, ...body];
  };
  const both = [...integer(raw.subarray(0, 32)), ...integer(raw.subarray(32))];
  return Uint8Array.of(0x30, both.length, ...both);
}

const trusting = (...keys: VerificationKey[]): TrustPolicy => ({ keys });
const trusted = trusting(key.public);

type Case = readonly [what: string, problem: string, entry: JsonValue, policy?: TrustPolicy];

/** By the fault that each has. Where a case names no policy, the key is trusted. */
const cases: Readonly<Partial<Record<SignatureFault, readonly Case[]>>> = {
  // Shape and encoding (RFC 7515 §5.2).
  "malformed-signature": [
    ["an entry that is null", "not a JSON object", null],
    ["an entry that is a text", "not a JSON object", "x"],
    [
      "no protected header",
      'its member "protected" is missing, or not a string',
      { signature: good.signature },
    ],
    ["no signature", 'its member "signature" is missing, or not a string', { protected: good.protected }],
    ["an empty signature", "not base64url", { ...good, signature: "" }],
    ["a padded signature", "not base64url", { ...good, signature: `${good.signature}==` }],
    [
      "a signature in base64",
      "not base64url",
      { ...good, signature: Buffer.from(new Uint8Array(64).fill(255)).toString("base64") },
    ],
    ["a signature longer than any", "longer", { ...good, signature: "A".repeat(2049) }],
    ["a padded header", "not base64url", { ...good, protected: `${good.protected}=` }],
    ["a header that is no JSON", "is not JSON", await signAnyHeader(payload, key, "alg")],
    ["a header that is an array", "not a JSON object", await signAnyHeader(payload, key, "[]")],
    [
      "a header with a member twice",
      "has the member kid twice",
      await signAnyHeader(payload, key, '{"alg":"ES256","kid":"k","kid":"l"}'),
    ],
    ["an unprotected header that is an array", "not a JSON object", { ...good, header: [] }],
    [
      "an unprotected header that have a member of the same name",
      "have a member of the same name",
      { ...good, header: { kid: "k" } },
    ],
    [
      "a signature in DER",
      "R and S, not DER",
      { ...good, signature: base64url.encode(toDer(bytesOf(good.signature))) },
    ],
    [
      "a signature that is too short for its RSA key",
      "is 255 bytes long",
      { ...rsaGood, signature: base64url.encode(bytesOf(rsaGood.signature).subarray(1)) },
      trusting(rsa.public),
    ],
  ],
  // M-5.
  "algorithm-not-allowed": [
    ["no algorithm", "its algorithm (alg) is not one of", await without("alg")],
    ["alg none", 'algorithm (alg) "none" is not one of', await signed({ alg: "none" })],
    ["alg NONE", 'algorithm (alg) "NONE" is not one of', await signed({ alg: "NONE" })],
    ["HMAC with the public key", '"HS256" is not one of', await hmacOfPublicKey()],
    ["an unknown algorithm", "not one of ES256", await signed({ alg: "ES256K" })],
    ["an algorithm in lower case", "not one of ES256", await signed({ alg: "es256" })],
    ["an algorithm that is a list", "not one of ES256", await signed({ alg: ["ES256"] })],
    ["a name of Object's", "not one of ES256", await signed({ alg: "constructor" })],
    [
      "an algorithm that the policy leaves out",
      'its algorithm (alg) "ES256" is not one of EdDSA',
      good,
      { ...trusted, algorithms: ["EdDSA"] },
    ],
  ],
  // Extensions (RFC 7515 §4.1.11, RFC 7797).
  "crit-not-understood": [
    ["crit", '"crit"', await signed({ crit: ["exp"], exp: 0 })],
    ["an empty crit", '"crit"', await signed({ crit: [] })],
    ["crit in the unprotected header", '"crit"', { ...good, header: { crit: ["x"] } }],
    ["b64", '"b64"', await signed({ b64: true })],
  ],
  // M-2.
  "kid-missing": [
    ["no kid", "does not say which key", await without("kid")],
    ["a kid in the unprotected header only", "kid", { ...(await without("kid")), header: { kid: "k" } }],
    ["an empty kid", "does not say which key", await signed({ kid: "" })],
    ["a kid that is a number", "does not say which key", await signed({ kid: 7 })],
    ["a kid with control characters", "control characters", await signed({ kid: "k\u001b[2J" })],
    ["a very long kid", "more than 256", await signed({ kid: "k".repeat(257) })],
  ],
  "typ-not-allowed": [
    ["typ JWT", '"JWT" counts only with', await signed({ typ: "JWT" })],
    ["typ JWT by the profile raw", "JWT", await signed({ typ: "JWT" }), { ...trusted, profiles: ["raw"] }],
    ["another typ", 'not "JOSE"', await signed({ typ: "at+jwt" }), { ...trusted, profiles: ["js-1"] }],
    ["a typ that is null", 'not "JOSE"', await signed({ typ: null })],
  ],
  // Keys (M-4).
  "key-unknown": [
    ["an unknown key", 'none of the trusted keys has the id "l"', await signed({ kid: "l" })],
    [
      "a key set that the policy does not ask",
      "does not allow the key set",
      await signed({ kid: "l", jku: "https://keys.example.org/" }),
    ],
  ],
  "jku-not-allowed": [
    [
      "a key set of another host",
      "that the policy does not allow",
      await signed({ kid: "l", jku: "https://evil.example/" }),
      { ...trusted, jku: { hosts: ["keys.example.org"] } },
    ],
  ],
  "key-revoked": [
    ["a key revoked by its id", "by the policy", good, { ...trusted, revoked: ["k"] }],
    [
      "a key revoked by its thumbprint",
      "by the policy",
      good,
      { ...trusted, revoked: [await thumbprintOf(key.public)] },
    ],
    ["a key that says it is revoked", "marked", good, trusting({ ...key.public, revoked: true })],
    [
      "a key that says when it was revoked",
      "marked",
      good,
      trusting({ ...key.public, revoked: { revoked_at: 1, reason: "stolen" } }),
    ],
  ],
  "key-not-yet-valid": [
    [
      "a key that is not valid yet",
      "before 2026-01-01T00:00:01.000Z",
      good,
      trusting({ ...key.public, nbf: seconds + 1 }),
    ],
  ],
  "key-expired": [
    [
      "a key that has expired at this second",
      "expired at 2026-01-01T00:00:00.000Z",
      good,
      trusting({ ...key.public, exp: seconds }),
    ],
    [
      "a key with a date that is none",
      "is not a number of seconds",
      good,
      trusting({ ...key.public, exp: "2030" as unknown as number }),
    ],
  ],
  "key-mismatch": [
    ["a key on another curve", "cannot have signed it", good, trusting(p384.public)],
    ["a key of another type", "cannot have signed it", good, trusting(rsa.public)],
    ["a key for encryption", "not for signatures", good, trusting({ ...key.public, use: "enc" })],
    ["a key for another algorithm", "another algorithm", good, trusting({ ...key.public, alg: "ES384" })],
    ["a symmetric key", "symmetric", good, trusting({ kid: "k", kty: "oct", k: "AAAA" })],
    ["a key without its point", "cannot have", good, trusting({ kid: "k", kty: "EC", crv: "P-256" })],
  ],
  "signature-mismatch": [
    ["another key with the same id", "has not signed this card", good, trusting(other.public)],
    ["another card", "as it stands (profiles tried: strict)", await signText(`${payload} `, key)],
    [
      "another header with the same meaning",
      "has not signed this card",
      { ...good, protected: encodeHeader({ kid: "k", alg: "ES256" }) },
    ],
    ["zeros", "not signed", { ...good, signature: base64url.encode(new Uint8Array(64)) }],
    [
      "Ed25519 by another key",
      "not signed",
      await signText(payload, await makeKey("k", "Ed25519"), { alg: "EdDSA" }),
      trusting(ed.public),
    ],
  ],
};

const counting: readonly (readonly [what: string, entry: JsonObject, policy: TrustPolicy])[] = [
  ["ES256", good, trusted],
  ["ES384", await signText(payload, p384, { alg: "ES384" }), trusting(p384.public)],
  ["EdDSA", await signText(payload, ed, { alg: "EdDSA" }), trusting(ed.public)],
  ["Ed25519", await signText(payload, ed, { alg: "Ed25519" }), trusting(ed.public)],
  ["RS256", rsaGood, trusting(rsa.public)],
  ["PS256", await signText(payload, rsa, { alg: "PS256" }), trusting(rsa.public)],
  ["no typ", await without("typ"), trusted],
  ["typ jose", await signed({ typ: "jose" }), trusted],
  ["members that nobody knows", await signed({ iat: 1, "https://example.org/x": {} }), trusted],
  ["an unprotected header that says something else", { ...good, header: { x: 1 } }, trusted],
  ["an unprotected header that is null", { ...good, header: null }, trusted],
  ["an algorithm that the policy has", good, { ...trusted, algorithms: ["ES256"] }],
  ["a key until its last second", good, trusting({ ...key.public, exp: seconds + 1 })],
  ["a key from its first second", good, trusting({ ...key.public, nbf: seconds })],
  ["a key that is not revoked", good, trusting({ ...key.public, revoked: false })],
  ["the second of two keys with one id", good, trusting(other.public, key.public)],
  ["a good key beside an expired one with its id", good, trusting({ ...other.public, exp: 0 }, key.public)],
  ["a key for signatures", good, trusting({ ...key.public, use: "sig", key_ops: ["verify"], alg: "ES256" })],
  ["a private key", good, trusting({ ...key.private, kid: "k" } as VerificationKey)], // whose public half is used
];

describe("a signature that does not count", () => {
  const all = Object.entries(cases).flatMap(([fault, each]) => each.map((one) => [fault, ...one] as const));
  for (const [fault, what, problem, entry, policy = trusted] of all) {
    it(`${fault}: ${what}`, async () => {
      const result = await verify(plainCard, [entry], policy);
      expect(result).toMatchObject({
        verified: false,
        reason: fault,
        profile: undefined,
        uncovered: [],
        alarms: [],
        signatures: [
          { index: 0, valid: false, fault, profile: undefined, thumbprint: undefined, keySource: undefined },
        ],
      });
      expect(result.signatures[0]?.problem).toContain(problem);
      expect(result.message).toContain(`does not count: ${result.signatures[0]?.problem}. `);
      expect(result.message).toMatch(/[.]$/);
    });
  }

  it("tells the faults of all that is checked in this table apart", () => {
    expect(Object.keys(cases)).toHaveLength(12); // all but jwks-unavailable
  });
});

describe("a signature that counts", () => {
  for (const [what, entry, policy] of counting) {
    it(`with ${what}`, async () => {
      const result = await verify(plainCard, [entry], policy);
      expect(result).toMatchObject({
        verified: true,
        profile: "strict",
        kid: "k",
        uncovered: [],
        reason: undefined,
        signatures: [{ index: 0, valid: true, keySource: "trusted", fault: undefined, problem: undefined }],
      });
      expect(result.message).toContain("Every field of the card");
    });
  }
});

function verify(card: JsonObject, signatures: readonly JsonValue[], trustPolicy: TrustPolicy) {
  return verifyCard(JSON.stringify({ ...card, signatures }), { trustPolicy, now: () => now });
}
