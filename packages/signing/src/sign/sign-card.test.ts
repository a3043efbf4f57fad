import { type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import { clone, fromBinary, fromJson, toBinary } from "@bufbuild/protobuf";
import { base64url, flattenedVerify, importJWK } from "jose";
import { describe, expect, it } from "vitest";
import { plainCard } from "../../test-support/signed-card.ts";
import { canonicalCard, canonicalSignedCard } from "../canonical/canonical-card.ts";
import { CardTextError } from "../canonical/unambiguous-text.ts";
import { SigningError } from "../keys/key-type.ts";
import { generateSigningKey } from "../keys/private-key.ts";
import { verifyCard } from "../verify/verify-card.ts";
import { createCardSigner } from "./card-signer.ts";
import type { SignatureOptions } from "./sign-card.ts";
import { signCard, signCardText } from "./sign-card.ts";

const { privateJwk, publicJwk } = await generateSigningKey({ kid: "one" });
const second = await generateSigningKey({ alg: "EdDSA", kid: "two" });
const signer = await createCardSigner({ key: privateJwk });
const text = JSON.stringify(plainCard);
const message: AgentCard = fromJson(AgentCardSchema, plainCard);
const jku = "https://keys.example.org/jwks.json";

const headerOf = (signed: string, index = 0): string =>
  new TextDecoder().decode(base64url.decode(JSON.parse(signed).signatures[index].protected));

describe("signCard", () => {
  it("adds a signature to a copy", async () => {
    const before = clone(AgentCardSchema, message);
    const signed = await signCard(message, { key: privateJwk });
    expect(message).toEqual(before);
    expect(signed.signatures).toHaveLength(1);
    expect(canonicalCard(signed)).toBe(canonicalCard(message));
    expect(await verifyCard(canonicalSignedCard(signed), { keys: [publicJwk] })).toMatchObject({
      verified: true,
      profile: "strict",
      kid: "one",
    });
  });

  it("signs the same bytes whether the card is text or a message, also over a binary wire", async () => {
    const signed = await signCard(fromBinary(AgentCardSchema, toBinary(AgentCardSchema, message)), {
      signer,
    });
    const [signature] = signed.signatures;
    const payload = base64url.encode(canonicalCard(text));
    const parts = { protected: signature?.protected ?? "", signature: signature?.signature ?? "", payload };
    await flattenedVerify(parts, await importJWK({ ...publicJwk }));
    parts.payload = base64url.encode(canonicalCard(text).replace("Clerk", "Clerc"));
    await expect(flattenedVerify(parts, await importJWK({ ...publicJwk }))).rejects.toThrow();
  });

  it("keeps what was signed before: keys can be rotated", async () => {
    const twice = await signCard(await signCard(message, { signer }), { key: second.privateJwk, jku });
    expect(twice.signatures).toHaveLength(2);
    const served = canonicalSignedCard(twice);
    for (const key of [publicJwk, second.publicJwk]) {
      expect((await verifyCard(served, { keys: [key] })).verified).toBe(true);
    }
    const { signatures } = await verifyCard(served, { keys: [publicJwk, second.publicJwk] });
    expect(signatures.map(({ valid, kid }) => [valid, kid])).toEqual([
      [true, "one"],
      [true, "two"],
    ]);
  });

  it("signs a card whose REQUIRED members are there, though they are empty (spec §8.4.1)", async () => {
    const card = clone(AgentCardSchema, { ...message, description: "", skills: [] });
    expect(
      (await verifyCard(canonicalSignedCard(await signCard(card, { signer })), { keys: [publicJwk] }))
        .verified,
    ).toBe(true);
  });

  it("refuses a card that no verifier would take, and names the member", async () => {
    const card = clone(AgentCardSchema, message);
    delete card.capabilities;
    await expect(signCard(card, { signer })).rejects.toThrow(/capabilities is missing/);
  });
});

describe("a card that verifiers would not look at to its end", () => {
  const entry = { protected: "e30", signature: "AAAA" };
  it("is not signed when it has twenty signatures already", async () => {
    const signatures = Array.from({ length: 19 }, () => entry);
    const full = await signCardText(JSON.stringify({ ...plainCard, signatures }), { signer });
    expect(await verifyCard(full, { keys: [publicJwk] })).toMatchObject({ verified: true });
    expect(JSON.parse(await signCardText(full, { signer })).signatures).toHaveLength(20); // its own is replaced
    const options = { key: second.privateJwk };
    await expect(signCardText(full, options)).rejects.toThrow(/20 signatures already/);
    const message = fromJson(AgentCardSchema, JSON.parse(full));
    await expect(signCard(message, options)).rejects.toThrow(/20 signatures already/);
  });

  it("is not signed when it is longer than they read", async () => {
    const long = { ...message, description: "x".repeat(1024 * 1024) };
    await expect(signCard(long, { signer })).rejects.toThrow(SigningError);
  });
});

describe("signCardText", () => {
  it("returns the canonical bytes to be served, and keeps what nobody knows (M-6)", async () => {
    const odd = JSON.stringify({ ...plainCard, future: { b: [1, null, ""], a: {} } }, null, 2);
    const signed = await signCardText(odd, { signer });
    expect(canonicalSignedCard(signed)).toBe(signed);
    expect(canonicalCard(signed)).toBe(canonicalCard(odd));
    expect(signed).toContain('"future":{"a":{},"b":[1,null,""]}');
    const { verified } = await verifyCard(signed, { keys: [publicJwk] });
    expect(verified).toBe(true);
    expect((await verifyCard(signed.replace('"b":[1,', '"b":[2,'), { keys: [publicJwk] })).verified).toBe(
      false,
    );
  });

  it("signs a signed card the same as the card, and has one signature of a key", async () => {
    const once = await signCardText(text, { key: second.privateJwk });
    expect(await signCardText(once, { key: second.privateJwk })).toBe(once); // Ed25519 signs the same bytes the same way
  });

  it("replaces what the key has signed before where it stands, and keeps what others have signed", async () => {
    const both = await signCardText(await signCardText(text, { signer }), { key: second.privateJwk });
    const stray = { ...JSON.parse(both), name: "Changed", extra: 1 };
    stray.signatures.push(5, { protected: "?" }, stray.signatures[0]);
    const anew = JSON.parse(await signCardText(JSON.stringify(stray), { signer }));
    expect(anew.signatures.slice(1)).toEqual([stray.signatures[1], 5, { protected: "?" }]);
    anew.signatures = anew.signatures.slice(0, 1);
    expect(await verifyCard(JSON.stringify(anew), { keys: [publicJwk] })).toMatchObject({ verified: true });
  });

  it("keeps the signature of another key that has the same id: its algorithm tells", async () => {
    const namesake = await generateSigningKey({ alg: "EdDSA", kid: "one" });
    const both = await signCardText(await signCardText(text, { signer }), { key: namesake.privateJwk });
    expect(JSON.parse(both).signatures).toHaveLength(2);
  });

  for (const [title, card, problem] of [
    ["without a member", { ...plainCard, version: undefined }, /cannot be signed: version is missing/],
    [
      "without one further down",
      { ...plainCard, skills: [{ id: "a", name: "b", tags: [] }] },
      /skills\[0\]\.description is missing/,
    ],
    ["with a wrong type", { ...plainCard, name: 5 }, /cannot be signed: name /],
    [
      "with a member that no parser lets through",
      JSON.parse(text.replace("{", '{"__proto__":{},')),
      /__proto__/,
    ],
    ["whose signatures are no list", { ...plainCard, signatures: {} }, /signatures is not a list/],
  ] as const) {
    it(`refuses a card ${title}`, async () => {
      const refused = signCardText(JSON.stringify(card), { signer });
      await expect(refused).rejects.toThrow(problem);
      await expect(refused).rejects.toThrow(SigningError);
    });
  }

  for (const [title, odd] of [
    ["is no JSON", "{"],
    ["has a member twice", text.replace("{", '{"name":"x",')],
    ["has both spellings of a field", text.replace("{", '{"supported_interfaces":[],')],
    ["has half a character", text.replace("Clerk", "\\ud800")],
  ] as const) {
    it(`refuses a text that ${title}`, async () => {
      await expect(signCardText(odd, { signer })).rejects.toThrow(CardTextError);
    });
  }
});

describe("the protected header (M-2)", () => {
  it("has alg, typ, kid and jku, in this order", async () => {
    expect(headerOf(await signCardText(text, { signer, jku }))).toBe(
      `{"alg":"ES256","typ":"JOSE","kid":"one","jku":"${jku}"}`,
    );
    expect(headerOf(await signCardText(text, { signer }))).toBe('{"alg":"ES256","typ":"JOSE","kid":"one"}');
  });

  it("is the specification's example, byte for byte (§8.4.2)", async () => {
    const signed = await signCardText(text, {
      key: privateJwk,
      kid: "key-1",
      jku: "https://example.com/agent/jwks.json",
    });
    expect(JSON.parse(signed).signatures[0].protected).toBe(
      "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpPU0UiLCJraWQiOiJrZXktMSIsImprdSI6Imh0dHBzOi8vZXhhbXBsZS5jb20vYWdlbnQvandrcy5qc29uIn0",
    );
  });

  for (const url of [
    "http://localhost:4000/jwks.json",
    "http://127.0.0.1/jwks.json",
    "http://[::1]:1/jwks.json",
  ]) {
    it(`may name ${url}, which is this machine`, async () => {
      expect(JSON.parse(headerOf(await signCardText(text, { signer, jku: url }))).jku).toBe(url);
    });
  }

  for (const [url, problem] of [
    ["http://keys.example.org/jwks.json", /not an https URL/],
    ["http://127.0.0.1.example.org/jwks.json", /not an https URL/],
    ["file:///jwks.json", /not an https URL/],
    ["https://me:hunter2@keys.example.org/jwks.json", /user name or password/],
    ["/.well-known/jwks.json", /not an absolute URL/],
    ["", /not an absolute URL/],
    [`https://keys.example.org/${"x".repeat(2048)}`, /not an absolute URL/],
  ] as const) {
    it(`may not name ${url.slice(0, 60)}`, async () => {
      const error: unknown = await signCardText(text, { signer, jku: url }).catch(
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(SigningError);
      expect(error).toMatchObject({ message: expect.stringMatching(problem) });
      expect(JSON.stringify(error)).not.toContain("hunter2");
    });
  }
});

describe("warnings", () => {
  const warningsOf = async (card: object, options: SignatureOptions = {}) => {
    const warnings: string[] = [];
    await signCardText(JSON.stringify(card), {
      signer,
      ...options,
      onWarning: (warning) => void warnings.push(warning),
    });
    return warnings;
  };

  const { securitySchemes: _, securityRequirements: __, ...openCard } = plainCard;

  it("are none for a card that everybody reads the same", async () => {
    expect(await warningsOf(openCard)).toEqual([]);
  });

  it("tell that the JavaScript SDK signs no schemes of cards of its own type", async () => {
    expect(await warningsOf(plainCard)).toEqual([
      expect.stringMatching(
        /\(js-1\) will refuse .* ignore these fields, or parts of them: securitySchemes; give /,
      ),
    ]);
  });

  it("name for each legacy verifier what it would leave uncovered", async () => {
    const card = {
      ...plainCard,
      description: "",
      skills: [{ id: "a", name: "b", description: "c", tags: [] }],
      future: 1,
    };
    const [js = "", python = "", ...others] = await warningsOf(card);
    expect(js).toMatch(
      /\(js-1\) will refuse this signature, because they ignore these fields, or parts of them: /,
    );
    for (const field of ["description", "skills[0].tags", "future"]) expect(js).toContain(field);
    expect(python).toContain("(python-1)");
    expect(others).toEqual([]);
    expect(await warningsOf(card, { legacyVerifiers: ["js-1"] })).toEqual([js]);
    expect(await warningsOf(card, { legacyVerifiers: [] })).toEqual([]);
  });

  it("tell who writes the same card in another way", async () => {
    const extensions = [{ uri: "urn:x", params: { zähler: 1, counts: ["a", 2] } }];
    const known = { ...openCard, name: "Büro", capabilities: { extensions } };
    expect(await warningsOf(known)).toEqual([
      "a2a-sdk of Python up to 1.1.3 (python-1) will refuse this signature, because they write numbers and characters outside ASCII in another way",
    ]);
  });

  it("name no more fields than anybody reads, each in one line", async () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`x${index}\u202e\n`, 1]));
    const [js = ""] = await warningsOf({ ...openCard, ...many });
    expect(js).toContain(" and 30 more");
    expect(js).not.toMatch(/[\n\u202e]/u);
  });
});
