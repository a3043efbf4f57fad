import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { makeKey, plainCard, signText } from "../../test-support/signed-card.ts";
import { canonicalCard } from "../canonical/canonical-card.ts";
import { profileCard } from "../profiles/profile-card.ts";
import type { TrustPolicy } from "../trust/trust-policy.ts";
import { verifyCard } from "./verify-card.ts";

const key = await makeKey("k");
const keys = [key.public];
const losing = ["js-1", "python-1"] as const;

const { securitySchemes, securityRequirements, ...bare } = plainCard;
const scoped = (name: string) => ({ schemes: { [name]: { list: ["books"] } } });
const [skill] = plainCard["skills"] as readonly JsonObject[]; // the card has one

/** Cards out of which something empty may have been taken: each is, byte for byte, what a strict signer would sign of it. */
const doubtful: readonly (readonly [
  what: string,
  card: JsonObject,
  paths: readonly string[],
  words: string,
])[] = [
  [
    "all security is gone",
    bare,
    ["securityRequirements", "securitySchemes"],
    "from securityRequirements and securitySchemes",
  ],
  [
    "the requirements are gone",
    { ...bare, securitySchemes: securitySchemes ?? null },
    ["securityRequirements"],
    'securityRequirements (of "google")',
  ],
  [
    "the schemes are gone",
    { ...bare, securityRequirements: securityRequirements ?? null },
    ["securitySchemes"],
    'securitySchemes (of "google")',
  ],
  [
    "one of the schemes is gone",
    { ...plainCard, securityRequirements: [scoped("google"), scoped("client")] },
    ["securitySchemes"],
    'securitySchemes (of "client")',
  ],
  [
    "the card's only requirement is gone, and a skill still names the scheme",
    {
      ...bare,
      securitySchemes: securitySchemes ?? null,
      skills: [{ ...skill, securityRequirements: [scoped("google")] }],
    },
    ["securityRequirements"],
    'securityRequirements (of "google")',
  ],
  [
    "a skill names a scheme that is gone",
    { ...plainCard, skills: [{ ...skill, securityRequirements: [scoped("client")] }] },
    ["securitySchemes"],
    'securitySchemes (of "client")',
  ],
];

async function verify(payload: string, received: JsonObject, policy: TrustPolicy) {
  const signatures: JsonObject[] = [{ ...(await signText(payload, key)) }];
  return await verifyCard(JSON.stringify({ ...received, signatures }), { trustPolicy: { keys, ...policy } });
}

describe("a card by signers that lose what is empty", () => {
  for (const [what, card, paths, words] of doubtful) {
    for (const profile of losing) {
      it(`is refused by ${profile} when it may be that ${what}`, async () => {
        const [form] = profileCard(profile, card);
        const result = await verify(form?.payload ?? "", card, { profiles: [profile] });
        expect(result).toMatchObject({ verified: false, reason: "uncovered", profile, uncovered: paths });
        expect(result.message).toContain(words);
        expect(result.message).toContain("may have removed some from");
        expect(result.message).toContain("allowUncovered");
      });
    }

    it(`is let pass when the policy takes the risk that ${what}`, async () => {
      const policy: TrustPolicy = { profiles: ["js-1"], allowUncovered: true };
      expect(await verify(canonicalCard(JSON.stringify(card)), card, policy)).toMatchObject({
        verified: true,
        profile: "strict",
      });
    });

    it(`is no matter by strict or raw: ${what}`, async () => {
      const payload = canonicalCard(JSON.stringify(card));
      for (const policy of [{}, { profiles: ["raw"] }] satisfies readonly TrustPolicy[]) {
        expect(await verify(payload, card, policy)).toMatchObject({ verified: true, profile: "strict" });
      }
    });
  }

  it("is not told to be signed in every field, for something empty may be gone", async () => {
    const payload = canonicalCard(JSON.stringify(plainCard));
    const result = await verify(payload, plainCard, { profiles: ["js-1"] });
    expect(result).toMatchObject({ verified: true, profile: "strict", uncovered: [] });
    expect(result.message).not.toContain("Every field");
    expect(result.message).toContain("the policy trusts signers that leave out empty values (js-1)");
    for (const profiles of [[], ["raw"]] satisfies readonly TrustPolicy["profiles"][]) {
      const strict = await verify(payload, plainCard, { profiles });
      expect(strict.message).toContain("Every field of the card");
    }
  });
});

describe("a card with thousands of schemes and requirements", { timeout: 60_000 }, () => {
  it("is judged in no time, however often its signature stands there", async () => {
    const names = Array.from({ length: 8_000 }, (_, index) => `scheme${index}`);
    const card: JsonObject = {
      ...bare,
      description: "",
      securitySchemes: Object.fromEntries(
        names.map((name) => [
          name,
          { openIdConnectSecurityScheme: { openIdConnectUrl: "https://i.example" } },
        ]),
      ),
      securityRequirements: names.map((name) => ({ schemes: { [name]: { list: ["a"] } } })),
    };
    const [form] = profileCard("js-1", card);
    const signature = await signText(form?.payload ?? "", key);
    const text = JSON.stringify({ ...card, signatures: Array.from({ length: 20 }, () => signature) });
    const begun = process.cpuUsage();
    const result = await verifyCard(text, { trustPolicy: { keys, profiles: ["js-1"] } });
    expect(process.cpuUsage(begun).user).toBeLessThan(10_000_000); // µs; it took more than half a minute
    expect(result).toMatchObject({ verified: true, profile: "js-1", uncovered: ["description"] });
    expect(result.signatures.map(({ index, valid }) => [index, valid])).toEqual(
      Array.from({ length: 20 }, (_, index) => [index, true]),
    );
  });
});

describe("the list of what is not protected", () => {
  it("has the path of every value, cut off where it gets long", async () => {
    const long = "x".repeat(300);
    const card: JsonObject = {
      ...plainCard,
      capabilities: {
        extensions: [{ uri: "urn:x", params: { [long]: { a: "", b: null, c: [], kept: 1 } } }],
      },
    };
    const [form] = profileCard("js-1", card);
    const result = await verify(form?.payload ?? "", card, { profiles: ["js-1"] });
    const base = `capabilities.extensions[0].params["${"x".repeat(40)}…"]`;
    expect(result.uncovered).toEqual([`${base}.a`, `${base}.b`, `${base}.c`]);
    expect(result.message.length).toBeLessThan(1_000);
  });

  it("names whole members of the card when it would be far longer than the card itself", async () => {
    const long = "x".repeat(100_000);
    const empties = Array.from({ length: 150_000 }, () => "");
    const card: JsonObject = {
      ...plainCard,
      capabilities: { extensions: [{ uri: "urn:x", params: { [long]: ["kept", ...empties] } }] },
    };
    const [form] = profileCard("js-1", card);
    const result = await verify(form?.payload ?? "", card, { profiles: ["js-1"] });
    expect(result).toMatchObject({ verified: true, profile: "js-1" });
    expect(result.uncovered).toContain("capabilities");
    expect(result.uncovered.join("").length).toBeLessThan(3_000_000);
  });
});
