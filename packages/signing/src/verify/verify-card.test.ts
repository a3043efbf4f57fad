import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { makeKey, plainCard, signText, type TestKey } from "../../test-support/signed-card.ts";
import { canonicalCard } from "../canonical/canonical-card.ts";
import { thumbprintOf } from "../keys/key.ts";
import type { CardMemory, RememberedCard } from "../trust/card-memory.ts";
import type { TrustPolicy } from "../trust/trust-policy.ts";
import type { CardFault } from "./faults.ts";
import type { VerifyCardOptions } from "./verify-card.ts";
import { createCardVerifier, verifyCard } from "./verify-card.ts";

const one = await makeKey("one");
const two = await makeKey("two");
const three = await makeKey("three");
const trustPolicy: TrustPolicy = { keys: [one.public, two.public] };
const text = JSON.stringify(plainCard);
const byOne = await signedBy(one);
const byBoth = await signedBy(one, two);
const byOneTwice = await signedBy(one, { ...one, public: { ...one.public, kid: "three" } });
const thumbprintOfTwo = await thumbprintOf(two.public);

/** The card with a signature of each key. */
async function signedBy(...keys: readonly TestKey[]): Promise<JsonObject> {
  const signatures = await Promise.all(keys.map((key) => signText(canonicalCard(text), key)));
  return { ...plainCard, signatures };
}

function verify(card: JsonObject | string, policy: TrustPolicy = trustPolicy) {
  return verifyCard(typeof card === "string" ? card : JSON.stringify(card), { trustPolicy: policy });
}

describe("a card that cannot be verified", () => {
  const { name: _, ...nameless } = plainCard;
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`scheme${index}`, 7]));
  const wrong: readonly (readonly [string, JsonObject | string, CardFault, string])[] = [
    ["nothing", "", "not-json", "is not JSON"],
    ["no JSON", "{", "not-json", "is not JSON"],
    ["a byte order mark", `\ufeff${text}`, "not-json", "is not JSON"],
    ["an array", "[]", "not-an-object", "is not a JSON object"],
    ["brackets without end", "[".repeat(1 << 20), "too-deep", "nested deeper"],
    ["more than a megabyte", " ".repeat((1 << 20) + 1), "too-large", "longer than"],
    ["a member twice", `{"name":"a",${text.slice(1)}`, "duplicate-member", "the member name twice"],
    ["both spellings", { ...plainCard, icon_url: "a", iconUrl: "b" }, "both-spellings", "icon"],
    ["half a character", { ...plainCard, name: "\ud800" }, "lone-surrogate", "not valid Unicode"],
    ["a number beyond all", text.replace("{", '{"x":1e999,'), "number-out-of-range", "out of range"],
    ["a missing member", nameless, "card-invalid", "name is missing"],
    ["a REQUIRED member that is null", { ...plainCard, name: null }, "card-invalid", "name is missing"],
    ["a wrong type", { ...plainCard, name: 7 }, "card-invalid", "name must be"],
    [
      "signatures that are no list",
      { ...plainCard, signatures: {} },
      "card-invalid",
      "signatures must be an array",
    ],
    ["many problems", { ...plainCard, securitySchemes: many }, "card-invalid", "and 5 more"],
    ["no signatures", plainCard, "no-signature", "has no signature"],
    ["an empty list of signatures", { ...plainCard, signatures: [] }, "no-signature", "has no signature"],
    ["signatures that are null", { ...plainCard, signatures: null }, "no-signature", "has no signature"],
  ];
  for (const [what, card, reason, words] of wrong) {
    it(`${reason}: ${what}`, async () => {
      const result = await verify(card);
      expect(result).toMatchObject({
        verified: false,
        reason,
        profile: undefined,
        signatures: [],
        alarms: [],
      });
      expect(result.message).toContain(words);
      expect(result.message).toMatch(/^[A-Z].*[.]$/);
    });
  }

  it("is read up to a mebibyte", async () => {
    const card = JSON.stringify(byOne).padEnd(1024 * 1024);
    expect(await verifyCard(card, { trustPolicy })).toMatchObject({ verified: true });
    expect(await verifyCard(`${card} `, { trustPolicy })).toMatchObject({ reason: "too-large" });
  });

  it("is told without control characters and at no great length", async () => {
    const key = `\u009b31m\u202e${"x".repeat(5000)}`;
    const results = await Promise.all([
      verify({ ...plainCard, securitySchemes: { [key]: 7 } }),
      verify({ ...plainCard, signatures: [{ protected: key, signature: key }] }),
      verify(`{${JSON.stringify(key)}:1,${JSON.stringify(key)}:2}`),
    ]);
    for (const { message } of results) {
      expect(message).not.toMatch(/[\p{Cc}\p{Cf}]|x{101}/u);
    }
  });
});

describe("a card that is verified", () => {
  it("may be written in any order, with any white space and defaults", async () => {
    const { signatures = [], ...card } = byOne;
    const turned = { signatures, iconUrl: null, ...Object.fromEntries(Object.entries(card).reverse()) };
    expect(await verifyCard(JSON.stringify(turned, null, 2), { trustPolicy })).toMatchObject({
      verified: true,
    });
  });

  it("may have REQUIRED members that are empty, and no interface", async () => {
    const card: JsonObject = {
      ...plainCard,
      description: "",
      skills: [],
      supportedInterfaces: [],
      capabilities: {},
    };
    const signature = await signText(canonicalCard(JSON.stringify(card)), one);
    expect(await verify({ ...card, signatures: [signature] })).toMatchObject({
      verified: true,
      uncovered: [],
    });
  });

  it("may have members that nobody knows, when they are signed, too (M-6)", async () => {
    const card: JsonObject = { ...plainCard, future: { a: null } };
    const signature = await signText(canonicalCard(JSON.stringify(card)), one);
    expect(await verify({ ...card, signatures: [signature] })).toMatchObject({ verified: true });
    expect(await verify({ ...plainCard, signatures: [signature] })).toMatchObject({
      reason: "signature-mismatch",
    });
  });

  it("tells the whole story", async () => {
    const thumbprint = await thumbprintOf(one.public);
    expect(await verify(byOne)).toEqual({
      verified: true,
      profile: "strict",
      kid: "one",
      alg: "ES256",
      uncovered: [],
      reason: undefined,
      message: 'Every field of the card is signed by the key "one" (ES256, a trusted key).',
      signatures: [
        {
          index: 0,
          valid: true,
          counts: true,
          hasGap: false,
          kid: "one",
          alg: "ES256",
          profile: "strict",
          uncovered: [],
          thumbprint,
          keySource: "trusted",
          fault: undefined,
          problem: undefined,
        },
      ],
      alarms: [],
    });
  });

  it("can be verified by keys alone", async () => {
    const card = JSON.stringify(byOne);
    expect(await verifyCard(card, { keys: [one.public] })).toMatchObject({ verified: true });
    expect(await verifyCard(card, { keys: [two.public] })).toMatchObject({ reason: "key-unknown" });
    expect(await verifyCard(card, { keys: [] })).toMatchObject({ reason: "key-unknown" });
  });
});

describe("several signatures", () => {
  it("need one good one (M-4)", async () => {
    const { signatures } = await signedBy(three, one);
    const [unknown, good] = signatures as readonly JsonValue[]; // as signedBy makes them
    const result = await verify({ ...plainCard, signatures: [null, unknown ?? null, good ?? null] });
    expect(result).toMatchObject({ verified: true, kid: "one" });
    expect(result.signatures.map(({ fault }) => fault)).toEqual([
      "malformed-signature",
      "key-unknown",
      undefined,
    ]);
  });

  it("tell of the one that came furthest when none is good", async () => {
    const { signatures } = await signedBy(three, one, two);
    const result = await verify({ ...plainCard, name: "Another", signatures: signatures ?? null });
    expect(result).toMatchObject({ verified: false, reason: "signature-mismatch", kid: "one", alg: "ES256" });
    expect(result.message).toContain("None of the 3 signatures of the card counts");
    expect(result.message).toContain("signatures[1]: ");
  });

  it("are looked at up to the twentieth", async () => {
    const { signatures } = byOne;
    const good = (signatures as readonly JsonValue[])[0] ?? null; // as signedBy makes them
    const junk = (count: number): JsonValue[] => Array.from({ length: count }, () => null);
    const twentieth = await verify({ ...plainCard, signatures: [...junk(19), good] });
    expect(twentieth).toMatchObject({ verified: true });
    const late = await verify({ ...plainCard, signatures: [...junk(20), good] });
    expect(late).toMatchObject({ verified: false, reason: "malformed-signature" });
    expect(late.signatures).toHaveLength(20);
    expect(late.message).toContain("Only the first 20 of 21 signatures were checked");
  });
});

describe("how many must have signed", () => {
  const keys = [one.public, two.public, { ...one.public, kid: "three" }];

  for (const [what, card, policy, expected] of [
    ["two different keys", byBoth, { keys, minSigners: 2 }, undefined],
    ["one of two", byOne, { keys, minSigners: 2 }, "too-few-signers"],
    ["one key under two ids", byOneTwice, { keys, minSigners: 2 }, "too-few-signers"],
    ["one that is named by its id", byBoth, { keys, signers: ["two"] }, undefined],
    ["one that is named by its thumbprint", byBoth, { keys, signers: [thumbprintOfTwo] }, undefined],
    ["none of those that are named", byOne, { keys, signers: ["two"] }, "too-few-signers"],
    [
      "two, of whom one is named",
      byBoth,
      { keys, minSigners: 2, signers: ["one", "four"] },
      "too-few-signers",
    ],
    ["both that are named", byBoth, { keys, minSigners: 2, signers: ["one", "two"] }, undefined],
  ] satisfies readonly (readonly [string, JsonObject, TrustPolicy, CardFault | undefined])[]) {
    it(`${what}: ${expected ?? "verified"}`, async () => {
      expect(await verify(card, policy)).toMatchObject({
        verified: expected === undefined,
        reason: expected,
      });
    });
  }

  it("tells of one of those who count", async () => {
    expect(await verify(byBoth, { keys, signers: ["two"] })).toMatchObject({ kid: "two" });
  });

  it("says how many there are, and why another does not count", async () => {
    const { signatures } = byBoth;
    const [first] = signatures as readonly JsonValue[]; // as signedBy makes them
    const result = await verify({ ...plainCard, signatures: [first ?? null, null] }, { keys, minSigners: 2 });
    expect(result.message).toContain(
      "The policy demands signatures by 2 different keys, but the card has only 1.",
    );
    expect(result.message).toContain("signatures[1] does not count: it is not a JSON object.");
  });
});

describe("what else the policy demands", () => {
  it("is asked when the signatures are right, and keeps the card from being remembered", async () => {
    const memory = mapMemory();
    const policy: TrustPolicy = {
      ...trustPolicy,
      memory,
      minimumSecurity: { schemes: ["mtlsSecurityScheme"] },
    };
    const url = "https://agents.example.org/card";
    const card = JSON.stringify(byOne);
    const result = await verifyCard(card, { trustPolicy: policy, url });
    expect(result).toMatchObject({
      verified: false,
      reason: "security-too-weak",
      profile: "strict",
      kid: "one",
    });
    expect(result.message).toMatch(
      /^Every field of the card is signed by .*, but the card is not trusted\. /,
    );
    expect(memory.cards.size).toBe(0);
  });

  it("is not asked, and nothing remembered, when the signatures are not right", async () => {
    const memory = mapMemory();
    const policy: TrustPolicy = { keys: [two.public], memory };
    const card = JSON.stringify(byOne);
    await verifyCard(card, { trustPolicy: policy, url: "https://agents.example.org/card" });
    expect(memory.reads).toBe(0);
  });

  it("remembers a card that is trusted, by the URL that was asked for", async () => {
    const memory = mapMemory();
    const card = JSON.stringify(byOne);
    const verifier = createCardVerifier({ ...trustPolicy, memory });
    const [url, asked] = ["https://agents.example.org/card", "https://example.org/card"];
    const context = { url, asked, now: () => 0 };
    const first = await verifier.verify(card, context);
    expect(first.alarms).toMatchObject([{ kind: "first-use" }]);
    expect([...memory.cards.values()]).toMatchObject([
      {
        outline: expect.stringContaining('"name":"Clerk"'),
        thumbprints: [await thumbprintOf(one.public)],
        lastSeen: "1970-01-01T00:00:00.000Z",
      },
    ]);
    expect([...memory.cards.keys()]).toEqual([expect.stringMatching(/^https:\/\/example.org/)]);
    expect((await verifier.verify(card, context)).alarms).toEqual([]);
    const byOther = JSON.stringify(await signedBy(two));
    expect(await createCardVerifier({ keys: [two.public], memory }).verify(byOther, context)).toMatchObject({
      reason: "pin-changed",
    });
  });
});

describe("options that have no meaning", () => {
  const card = JSON.stringify(plainCard);
  for (const [what, options] of [
    ["neither keys nor a policy", {}],
    ["both", { keys: [], trustPolicy: {} }],
    ["a key without an id", { keys: [{ kty: "EC" }] }],
    ["a key that is null", { keys: [null] }],
    ["no signers at all", { trustPolicy: { minSigners: 0 } }],
    ["half a signer", { trustPolicy: { minSigners: 1.5 } }],
    ["more signers than are named", { trustPolicy: { minSigners: 2, signers: ["a"] } }],
    ["a host that is none", { trustPolicy: { jku: { hosts: ["https://example.org"] } } }],
    ["a URL that is none", { keys: [], url: "card.json" }],
    ["a policy that is none", { trustPolicy: null }],
    ["a limit that is no number", { trustPolicy: { jku: { maxBytes: Number.NaN } } }],
    ["a limit below nothing", { trustPolicy: { newKeyDelayMs: -1 } }],
  ] as const) {
    it(`are refused: ${what}`, async () => {
      // The compiler would refuse most of them, too.
      await expect(verifyCard(card, options as unknown as VerifyCardOptions)).rejects.toThrow(TypeError);
    });
  }

  it("are refused when the verifier is made", () => {
    expect(() => createCardVerifier({ minSigners: 0 })).toThrow(TypeError);
  });

  it("are refused when the card is no text", async () => {
    await expect(verifyCard({} as string, { keys: [] })).rejects.toThrow(TypeError);
  });
});

function mapMemory(): CardMemory & { readonly cards: Map<string, RememberedCard>; reads: number } {
  const cards = new Map<string, RememberedCard>();
  return {
    cards,
    reads: 0,
    async read(key) {
      this.reads += 1;
      return cards.get(key);
    },
    async write(key, remembered) {
      cards.set(key, remembered);
      return true;
    },
    async forget(key) {
      cards.delete(key);
    },
  };
}
