import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { base64url, FlattenedSign } from "jose";
import { describe, expect, it } from "vitest";
import { encodeHeader, makeKey, plainCard, signAnyHeader, signText } from "../../test-support/signed-card.ts";
import { canonicalCard } from "../canonical/canonical-card.ts";
import { thumbprintOf } from "../keys/key.ts";
import type { VerificationKey } from "../keys/key-types.ts";
import type { TrustPolicy } from "../trust/trust-policy.ts";
import type { SignatureFault } from "./verdict.ts";
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

type Case = readonly [
  what: string,
  entry: JsonValue,
  policy: TrustPolicy,
  fault: SignatureFault,
  problem: string,
];

const cases: readonly Case[] = [
  // Shape and encoding (RFC 7515 §5.2).
  ["an entry that is null", null, trusted, "malformed-signature", "no JSON object"],
  ["an entry that is a text", "x", trusted, "malformed-signature", "no JSON object"],
  [
    "no protected header",
    { signature: good.signature },
    trusted,
    "malformed-signature",
    'no text "protected"',
  ],
  ["no signature", { protected: good.protected }, trusted, "malformed-signature", 'no text "signature"'],
  ["an empty signature", { ...good, signature: "" }, trusted, "malformed-signature", "not base64url"],
  [
    "a padded signature",
    { ...good, signature: `${good.signature}==` },
    trusted,
    "malformed-signature",
    "not base64url",
  ],
  [
    "a signature in base64",
    { ...good, signature: Buffer.from(new Uint8Array(64).fill(255)).toString("base64") },
    trusted,
    "malformed-signature",
    "not base64url",
  ],
  [
    "a signature longer than any",
    { ...good, signature: "A".repeat(2049) },
    trusted,
    "malformed-signature",
    "longer",
  ],
  [
    "a padded header",
    { ...good, protected: `${good.protected}=` },
    trusted,
    "malformed-signature",
    "not base64url",
  ],
  [
    "a header that is no JSON",
    await signAnyHeader(payload, key, "alg"),
    trusted,
    "malformed-signature",
    "is not JSON",
  ],
  [
    "a header that is an array",
    await signAnyHeader(payload, key, "[]"),
    trusted,
    "malformed-signature",
    "no JSON object",
  ],
  [
    "a header with a member twice",
    await signAnyHeader(payload, key, '{"alg":"ES256","kid":"k","kid":"l"}'),
    trusted,
    "malformed-signature",
    "has the member kid twice",
  ],
  [
    "an unprotected header that is an array",
    { ...good, header: [] },
    trusted,
    "malformed-signature",
    "no JSON object",
  ],
  [
    "an unprotected header that repeats a name",
    { ...good, header: { kid: "k" } },
    trusted,
    "malformed-signature",
    "repeats a name",
  ],
  [
    "a signature in DER",
    { ...good, signature: base64url.encode(toDer(bytesOf(good.signature))) },
    trusted,
    "malformed-signature",
    "R and S, not DER",
  ],
  [
    "a signature that is too short for its RSA key",
    { ...rsaGood, signature: base64url.encode(bytesOf(rsaGood.signature).subarray(1)) },
    trusting(rsa.public),
    "malformed-signature",
    "is 255 bytes long",
  ],
  // Algorithms (M-5).
  ["no algorithm", await without("alg"), trusted, "algorithm-not-allowed", "does not name an algorithm"],
  ["alg none", await signed({ alg: "none" }), trusted, "algorithm-not-allowed", "nobody has signed it"],
  ["alg NONE", await signed({ alg: "NONE" }), trusted, "algorithm-not-allowed", "nobody has signed it"],
  ["HMAC with the public key", await hmacOfPublicKey(), trusted, "algorithm-not-allowed", "is symmetric"],
  [
    "an unknown algorithm",
    await signed({ alg: "ES256K" }),
    trusted,
    "algorithm-not-allowed",
    "none of ES256",
  ],
  [
    "an algorithm in lower case",
    await signed({ alg: "es256" }),
    trusted,
    "algorithm-not-allowed",
    "none of ES256",
  ],
  [
    "an algorithm that is a list",
    await signed({ alg: ["ES256"] }),
    trusted,
    "algorithm-not-allowed",
    "none of ES256",
  ],
  [
    "a name of Object's",
    await signed({ alg: "constructor" }),
    trusted,
    "algorithm-not-allowed",
    "none of ES256",
  ],
  [
    "an algorithm that the policy leaves out",
    good,
    { ...trusted, algorithms: ["EdDSA"] },
    "algorithm-not-allowed",
    "the policy does not allow the algorithm ES256",
  ],
  // Extensions (RFC 7515 §4.1.11, RFC 7797).
  ["crit", await signed({ crit: ["exp"], exp: 0 }), trusted, "crit-not-understood", '"crit"'],
  ["an empty crit", await signed({ crit: [] }), trusted, "crit-not-understood", '"crit"'],
  [
    "crit in the unprotected header",
    { ...good, header: { crit: ["x"] } },
    trusted,
    "crit-not-understood",
    '"crit"',
  ],
  ["b64", await signed({ b64: true }), trusted, "crit-not-understood", '"b64"'],
  // Key ids (M-2).
  ["no kid", await without("kid"), trusted, "kid-missing", "does not say which key"],
  [
    "a kid in the unprotected header only",
    { ...(await without("kid")), header: { kid: "k" } },
    trusted,
    "kid-missing",
    "kid",
  ],
  ["an empty kid", await signed({ kid: "" }), trusted, "kid-missing", "does not say which key"],
  ["a kid that is a number", await signed({ kid: 7 }), trusted, "kid-missing", "does not say which key"],
  [
    "a kid with control characters",
    await signed({ kid: "k\u001b[2J" }),
    trusted,
    "kid-missing",
    "control characters",
  ],
  ["a very long kid", await signed({ kid: "k".repeat(257) }), trusted, "kid-missing", "more than 256"],
  // Types.
  ["typ JWT", await signed({ typ: "JWT" }), trusted, "typ-not-allowed", "it says that it is a JWT"],
  [
    "typ JWT by the profile raw",
    await signed({ typ: "JWT" }),
    { ...trusted, profiles: ["raw"] },
    "typ-not-allowed",
    "JWT",
  ],
  [
    "another typ",
    await signed({ typ: "at+jwt" }),
    { ...trusted, profiles: ["js-1"] },
    "typ-not-allowed",
    "something else",
  ],
  ["a typ that is null", await signed({ typ: null }), trusted, "typ-not-allowed", "something else"],
  // Keys (M-4).
  [
    "an unknown key",
    await signed({ kid: "l" }),
    trusted,
    "key-unknown",
    'none of the trusted keys has the id "l"',
  ],
  [
    "a key set that the policy does not ask",
    await signed({ kid: "l", jku: "https://keys.example.org/" }),
    trusted,
    "key-unknown",
    "does not let the key set be asked",
  ],
  [
    "a key set of another host",
    await signed({ kid: "l", jku: "https://evil.example/" }),
    { ...trusted, jku: { hosts: ["keys.example.org"] } },
    "jku-not-allowed",
    "none that the policy allows",
  ],
  ["a key revoked by its id", good, { ...trusted, revoked: ["k"] }, "key-revoked", "by the policy"],
  [
    "a key revoked by its thumbprint",
    good,
    { ...trusted, revoked: [await thumbprintOf(key.public)] },
    "key-revoked",
    "by the policy",
  ],
  [
    "a key that says it is revoked",
    good,
    trusting({ ...key.public, revoked: true }),
    "key-revoked",
    "marked",
  ],
  [
    "a key that says when it was revoked",
    good,
    trusting({ ...key.public, revoked: { revoked_at: 1, reason: "stolen" } }),
    "key-revoked",
    "marked",
  ],
  [
    "a key that is not valid yet",
    good,
    trusting({ ...key.public, nbf: seconds + 1 }),
    "key-not-yet-valid",
    "before 2026-01-01T00:00:01.000Z",
  ],
  [
    "a key that has expired at this second",
    good,
    trusting({ ...key.public, exp: seconds }),
    "key-expired",
    "since 2026-01-01T00:00:00.000Z",
  ],
  [
    "a key with a date that is none",
    good,
    trusting({ ...key.public, exp: "2030" as unknown as number }), // as a key set may have it
    "key-expired",
    "is no number of seconds",
  ],
  ["a key on another curve", good, trusting(p384.public), "key-mismatch", "cannot have signed it"],
  ["a key of another type", good, trusting(rsa.public), "key-mismatch", "cannot have signed it"],
  [
    "a key for encryption",
    good,
    trusting({ ...key.public, use: "enc" }),
    "key-mismatch",
    "not for signatures",
  ],
  [
    "a key for another algorithm",
    good,
    trusting({ ...key.public, alg: "ES384" }),
    "key-mismatch",
    "another algorithm",
  ],
  ["a symmetric key", good, trusting({ kid: "k", kty: "oct", k: "AAAA" }), "key-mismatch", "symmetric"],
  [
    "a key without its point",
    good,
    trusting({ kid: "k", kty: "EC", crv: "P-256" }),
    "key-mismatch",
    "cannot have",
  ],
  // The signature itself.
  [
    "another key with the same id",
    good,
    trusting(other.public),
    "signature-mismatch",
    "has not signed this card",
  ],
  [
    "another card",
    await signText(`${payload} `, key),
    trusted,
    "signature-mismatch",
    "as it stands (tried: strict)",
  ],
  [
    "another header with the same meaning",
    { ...good, protected: encodeHeader({ kid: "k", alg: "ES256" }) },
    trusted,
    "signature-mismatch",
    "has not signed this card",
  ],
  [
    "zeros",
    { ...good, signature: base64url.encode(new Uint8Array(64)) },
    trusted,
    "signature-mismatch",
    "not signed",
  ],
  [
    "Ed25519 by another key",
    await signText(payload, await makeKey("k", "Ed25519"), { alg: "EdDSA" }),
    trusting(ed.public),
    "signature-mismatch",
    "not signed",
  ],
];

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
  for (const [what, entry, policy, fault, problem] of cases) {
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
    expect(new Set(cases.map(([, , , fault]) => fault)).size).toBe(12); // all but jwks-unavailable
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
      expect(result.message).toContain("every field of it");
    });
  }
});

function verify(card: JsonObject, signatures: readonly JsonValue[], trustPolicy: TrustPolicy) {
  return verifyCard(JSON.stringify({ ...card, signatures }), { trustPolicy, now: () => now });
}
