import type { JsonObject } from "@bufbuild/protobuf";
import { base64url } from "jose";
import { baseCanonical, baseCard, baseWith } from "../base-card.ts";
import type { SignatureRecipe } from "../sign-vector.ts";
import { publicJwk, type TestKeyId } from "../test-keys.ts";
import type { CardSignature, ExpectedVerdict, Vector } from "../vector.ts";
import { es256, es256Header, type VectorCase } from "../vector-case.ts";
import { always, refused, verified } from "../verdicts.ts";

function signed(
  name: string,
  description: string,
  rule: readonly string[],
  signatures: readonly SignatureRecipe[],
  expected: ExpectedVerdict | Vector["expected"] = verified("es256-1", "ES256"),
): VectorCase {
  return {
    name,
    description,
    rule,
    card: baseCard,
    signatures,
    expected: "strict" in expected ? expected : always(expected),
  };
}

function algorithm(alg: string, key: TestKeyId): VectorCase {
  return signed(
    `alg-${alg.toLowerCase()}`,
    `A signature by ${alg}.`,
    ["M-1", "M-5", "RFC 7518 §3.1"],
    [{ key, header: { alg, kid: key, typ: "JOSE" } }],
    verified(key, alg),
  );
}

const bad: SignatureRecipe = { ...es256, payload: baseWith(["Tells the weather.", "Tells lies."]) };
const second: SignatureRecipe = { key: "es256-2", header: { alg: "ES256", kid: "es256-2", typ: "JOSE" } };

function header(members: JsonObject): SignatureRecipe {
  return { key: "es256-1", header: members, alg: "ES256" };
}

function spoilt(change: (signature: string) => string): SignatureRecipe {
  return { ...es256, spoil: (made) => ({ ...made, signature: change(made.signature) }) };
}

function spoiltHeader(change: (text: string) => string): SignatureRecipe {
  return { ...es256, spoil: (made: CardSignature) => ({ ...made, protected: change(made.protected) }) };
}

/** Sets one of the bits of the last character that stand for no byte: most decoders do not look at them. */
function withTrailingBits(text: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const last = alphabet.indexOf(text.slice(-1));
  return text.slice(0, -1) + alphabet[last | 1];
}

const malformed = refused("malformed-signature", "es256-1", "ES256");
const mismatch = refused("signature-mismatch", "es256-1", "ES256");

/** The signature itself: its header, its encoding, its algorithm (RFC 7515). */
export const signatureCases: readonly VectorCase[] = [
  algorithm("ES256", "es256-1"),
  algorithm("ES384", "es384-1"),
  algorithm("EdDSA", "ed25519-1"),
  algorithm("Ed25519", "ed25519-1"),
  algorithm("RS256", "rsa-1"),
  algorithm("PS256", "rsa-1"),
  signed("no-signature", "A card without signatures.", ["M-3", "M-4"], [], refused("no-signature")),
  signed(
    "two-signatures",
    "Two keys have signed, as they do while one replaces the other. The first one is reported.",
    ["M-4", "§8.4.3"],
    [es256, second],
  ),
  signed(
    "two-signatures-first-bad",
    "The first of two signatures is not of this card: the second one counts.",
    ["M-4", "§8.4.3"],
    [bad, second],
    verified("es256-2", "ES256"),
  ),
  signed(
    "two-signatures-last-bad",
    "The second of two signatures is not of this card: the first one counts.",
    ["M-4", "§8.4.3"],
    [second, bad],
    verified("es256-2", "ES256"),
  ),
  signed(
    "kid-missing",
    "The protected header has no `kid`, though only one key is trusted.",
    ["M-2", "§8.4.2"],
    [header({ alg: "ES256", typ: "JOSE" })],
    refused("kid-missing", null, "ES256"),
  ),
  signed(
    "kid-unprotected",
    "`kid` stands only in the unprotected header, which anybody may change.",
    ["M-2", "§8.4.2"],
    [{ ...header({ alg: "ES256", typ: "JOSE" }), unprotected: { kid: "es256-1" } }],
    refused("kid-missing", null, "ES256"),
  ),
  signed(
    "header-names-twice",
    "The unprotected header repeats a name of the protected one.",
    ["M-1", "RFC 7515 §7.2.1"],
    [{ ...es256, unprotected: { kid: "es256-1" } }],
    refused("malformed-signature", "es256-1", "ES256"),
  ),
  signed(
    "kid-unknown",
    "Nobody knows the key.",
    ["M-3"],
    [header({ alg: "ES256", kid: "es256-99", typ: "JOSE" })],
    refused("key-unknown", "es256-99", "ES256"),
  ),
  signed(
    "kid-of-another-key",
    "`kid` names another trusted key than the one that has signed.",
    ["M-3"],
    [header({ alg: "ES256", kid: "es256-2", typ: "JOSE" })],
    refused("signature-mismatch", "es256-2", "ES256"),
  ),
  signed(
    "jwk-in-header",
    "The header brings a key of its own. It is not looked at.",
    ["M-3", "RFC 7515 §4.1.3"],
    [{ key: "es256-2", header: { alg: "ES256", kid: "mine", typ: "JOSE", jwk: publicJwk("es256-2") } }],
    refused("key-unknown", "mine", "ES256"),
  ),
  signed(
    "typ-missing",
    "`typ` is only a SHOULD.",
    ["M-2", "RFC 7515 §4.1.9"],
    [{ key: "es256-1", header: { alg: "ES256", kid: "es256-1" } }],
  ),
  signed("typ-jose", "`typ` is JOSE.", ["M-2", "RFC 7515 §4.1.9"], [es256]),
  signed(
    "typ-jose-lower-case",
    "Media types are the same in any case.",
    ["M-2", "RFC 7515 §4.1.9"],
    [{ key: "es256-1", header: { alg: "ES256", kid: "es256-1", typ: "jose" } }],
  ),
  signed(
    "typ-jwt",
    "`typ` is JWT, as PyJWT has it by default. That is no card for `strict` and `raw`; where a profile of deployed signers is enabled it is one, and counts as theirs.",
    ["M-2", "M-7", "RFC 7515 §4.1.9"],
    [{ key: "es256-1", header: { alg: "ES256", kid: "es256-1", typ: "JWT" } }],
    always(refused("typ-not-allowed", "es256-1", "ES256"), {
      "js-1": verified("es256-1", "ES256", "js-1"),
      "python-1": verified("es256-1", "ES256", "python-1"),
    }),
  ),
  signed(
    "typ-other",
    "`typ` says that something else was signed.",
    ["M-2", "RFC 7515 §4.1.9"],
    [{ key: "es256-1", header: { alg: "ES256", kid: "es256-1", typ: "at+jwt" } }],
    refused("typ-not-allowed", "es256-1", "ES256"),
  ),
  signed(
    "alg-none",
    "Not signed at all.",
    ["M-5", "RFC 7515 §8", "RFC 8725 §3.1"],
    [{ key: "es256-1", header: { alg: "none", kid: "es256-1", typ: "JOSE" } }],
    refused("algorithm-not-allowed", "es256-1", "none"),
  ),
  signed(
    "alg-none-with-signature",
    "`none` in another spelling, with a signature that is right for ES256.",
    ["M-5", "RFC 7515 §8"],
    [header({ alg: "NoNe", kid: "es256-1", typ: "JOSE" })],
    refused("algorithm-not-allowed", "es256-1", "NoNe"),
  ),
  signed(
    "alg-hs256-public-key",
    "HMAC with the text of a public RSA key (SPKI, PEM) as the shared secret.",
    ["M-5", "RFC 8725 §2.1", "RFC 8725 §3.1"],
    [{ key: "rsa-1", header: { alg: "HS256", kid: "rsa-1", typ: "JOSE" } }],
    refused("algorithm-not-allowed", "rsa-1", "HS256"),
  ),
  signed(
    "alg-unknown",
    "An algorithm that is not in the list.",
    ["M-5"],
    [header({ alg: "ES256K", kid: "es256-1", typ: "JOSE" })],
    refused("algorithm-not-allowed", "es256-1", "ES256K"),
  ),
  signed(
    "alg-missing",
    "No algorithm. One must not be guessed from the key.",
    ["M-2", "M-5", "RFC 7515 §4.1.1"],
    [{ ...header({ kid: "es256-1", typ: "JOSE" }) }],
    refused("algorithm-not-allowed", "es256-1", null),
  ),
  {
    ...signed(
      "alg-not-in-policy",
      "The policy allows RSA only.",
      ["M-5"],
      [es256],
      refused("algorithm-not-allowed", "es256-1", "ES256"),
    ),
    policy: { algorithms: ["RS256", "PS256"] },
  },
  signed(
    "alg-key-mismatch",
    "RS256 by the header, and the key with this `kid` is an elliptic curve.",
    ["M-5", "RFC 8725 §3.1"],
    [{ key: "rsa-1", header: { alg: "RS256", kid: "es256-1", typ: "JOSE" }, alg: "RS256" }],
    refused("key-mismatch", "es256-1", "RS256"),
  ),
  signed(
    "alg-curve-mismatch",
    "ES256 by the header, and the key is on P-384.",
    ["M-5", "RFC 7518 §3.4"],
    [{ key: "es256-1", header: { alg: "ES256", kid: "es384-1", typ: "JOSE" }, alg: "ES256" }],
    refused("key-mismatch", "es384-1", "ES256"),
  ),
  signed(
    "crit-unknown",
    "`crit` demands what nobody understands.",
    ["M-5", "RFC 7515 §4.1.11"],
    [header({ ...es256Header, crit: ["a2a-exp"], "a2a-exp": 1 })],
    refused("crit-not-understood", "es256-1", "ES256"),
  ),
  signed(
    "crit-empty",
    "`crit` must not be empty.",
    ["M-5", "RFC 7515 §4.1.11"],
    [header({ ...es256Header, crit: [] })],
    refused("crit-not-understood", "es256-1", "ES256"),
  ),
  signed(
    "crit-b64",
    "`b64` false (RFC 7797): the payload would have been signed without base64url.",
    ["M-1", "M-5", "RFC 7797 §6"],
    [header({ ...es256Header, b64: false, crit: ["b64"] })],
    refused("crit-not-understood", "es256-1", "ES256"),
  ),
  signed(
    "b64-without-crit",
    "`b64` without the `crit` that it needs.",
    ["M-1", "M-5", "RFC 7797 §6"],
    [header({ ...es256Header, b64: true })],
    refused("crit-not-understood", "es256-1", "ES256"),
  ),
  signed(
    "signature-padded",
    "base64url with padding.",
    ["M-1", "RFC 7515 §2"],
    [spoilt((text) => `${text}==`)],
    malformed,
  ),
  signed(
    "signature-standard-base64",
    "The alphabet of base64, not of base64url.",
    ["M-1", "RFC 7515 §2"],
    [spoilt((text) => `+/${text.slice(2)}`)],
    malformed,
  ),
  signed(
    "signature-trailing-bits",
    "The last character has bits that stand for nothing, and they are not zero: a second spelling of a right signature.",
    ["M-1", "RFC 4648 §3.5"],
    [spoilt(withTrailingBits)],
    malformed,
  ),
  signed(
    "signature-whitespace",
    "A line break in the signature.",
    ["M-1", "RFC 7515 §2"],
    [spoilt((text) => `${text.slice(0, 40)}\n${text.slice(40)}`)],
    malformed,
  ),
  signed(
    "signature-der",
    "ECDSA as DER, not as R||S.",
    ["M-1", "M-5", "RFC 7518 §3.4"],
    [{ ...es256, alg: "ES256-DER" }],
    malformed,
  ),
  signed(
    "signature-short",
    "A byte is missing.",
    ["M-1", "RFC 7518 §3.4"],
    [spoilt((text) => base64url.encode(base64url.decode(text).slice(0, 63)))],
    malformed,
  ),
  signed("signature-empty", "No signature.", ["M-1"], [spoilt(() => "")], malformed),
  signed(
    "signature-zero",
    "R and S are zero, for which careless ECDSA says yes to everything.",
    ["M-5", "RFC 7518 §3.4"],
    [spoilt(() => base64url.encode(new Uint8Array(64)))],
    mismatch,
  ),
  signed(
    "protected-padded",
    "The protected header as base64url with padding.",
    ["M-1", "RFC 7515 §2"],
    [
      {
        key: "es256-1",
        header: '{"alg":"ES256","kid":"es256-1", "typ":"JOSE"}',
        spoil: (made) => ({ ...made, protected: `${made.protected}=` }),
      },
    ],
    refused("malformed-signature"),
  ),
  signed(
    "protected-not-json",
    "The protected header is no JSON.",
    ["M-1", "RFC 7515 §5.2"],
    [{ key: "es256-1", header: "ES256 es256-1", alg: "ES256" }],
    refused("malformed-signature"),
  ),
  signed(
    "protected-duplicate-member",
    "The protected header names two algorithms.",
    ["M-1", "RFC 7515 §4", "RFC 7515 §5.2"],
    [{ key: "es256-1", header: '{"alg":"none","alg":"ES256","kid":"es256-1"}', alg: "ES256" }],
    refused("malformed-signature"),
  ),
  signed(
    "protected-re-encoded",
    "The same header with a space in it: what was signed are its bytes, not its meaning.",
    ["M-3", "RFC 7515 §5.2"],
    [spoiltHeader(() => base64url.encode('{"alg":"ES256", "kid":"es256-1","typ":"JOSE"}'))],
    mismatch,
  ),
  signed(
    "protected-whitespace-inside",
    "A header with spaces that was signed with them.",
    ["M-3", "RFC 7515 §5.2"],
    [{ key: "es256-1", header: '{ "typ" : "JOSE",\n "kid" : "es256-1",\n "alg" : "ES256" }' }],
  ),
  signed(
    "payload-encoded-twice",
    "Signed over the base64url of the base64url of the canonical text.",
    ["M-1", "RFC 7515 §5.1"],
    [{ ...es256, payload: base64url.encode(baseCanonical) }],
    mismatch,
  ),
  {
    ...signed(
      "two-signers",
      "The policy demands two signers, and two keys have signed.",
      ["M-4"],
      [es256, second],
    ),
    policy: { minSigners: 2 },
  },
  {
    ...signed(
      "one-signer-twice",
      "The policy demands two signers, and one key has signed twice.",
      ["M-4"],
      [es256, { key: "es256-1", header: { alg: "ES256", kid: "es256-1" } }],
      {
        strict: { ...refused("too-few-signers", "es256-1", "ES256"), profile: "strict" },
        "js-1": { ...refused("too-few-signers", "es256-1", "ES256"), profile: "strict" },
        "python-1": { ...refused("too-few-signers", "es256-1", "ES256"), profile: "strict" },
        raw: { ...refused("too-few-signers", "es256-1", "ES256"), profile: "strict" },
      },
    ),
    policy: { minSigners: 2 },
  },
];
