import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { makeKey, plainCard, signText } from "../../test-support/signed-card.ts";
import { type LegacyProfile, legacyProfiles, type Profile } from "../profiles/profile-card.ts";
import { SignedCard } from "../signed-card.ts";
import type { TrustPolicy } from "../trust/trust-policy.ts";
import { verifyCard } from "./verify-card.ts";

const key = await makeKey("k");
const keys = [key.public];

/** Something REQUIRED is empty, the name is not ASCII, and something says nothing: each profile signs another text of it. */
const card: JsonObject = {
  ...plainCard,
  name: "Büro",
  description: "",
  defaultInputModes: [],
  capabilities: { streaming: true, extensions: [] },
};

const sign = (profile: Profile, json: JsonObject, header = {}) =>
  signText(new SignedCard(json).forms(profile)[0]?.payload ?? "", key, header);

/** Verifies what is received by the signature of what was signed. */
async function verify(
  profile: Profile,
  signed: JsonObject,
  policy: TrustPolicy = {},
  received: JsonObject = signed,
  header = {},
) {
  const signatures = [{ ...(await sign(profile, signed, header)) }];
  return await verifyCard(JSON.stringify({ ...received, signatures }), { trustPolicy: { keys, ...policy } });
}

describe("a legacy profile", () => {
  for (const profile of legacyProfiles) {
    it(`${profile} does not count by default, and the message says what would`, async () => {
      const result = await verify(profile, card);
      expect(result).toMatchObject({
        verified: false,
        reason: "signature-mismatch",
        profile: undefined,
        alarms: [],
      });
      expect(result.message).toContain(`only by the profile ${profile}, which the policy does not allow`);
    });

    it(`${profile} counts when it is enabled, and is told`, async () => {
      const result = await verify(profile, card, { profiles: [profile] });
      expect(result).toMatchObject({ verified: true, profile, signatures: [{ valid: true, profile }] });
      expect(result.message).toContain(`by the profile ${profile} and not as the specification says`);
    });

    it(`${profile} does not count when another is enabled`, async () => {
      const others = legacyProfiles.filter((each) => each !== profile);
      const result = await verify(profile, card, { profiles: others });
      expect(result).toMatchObject({ verified: false, reason: "signature-mismatch" });
    });
  }

  it("comes after strict, where both sign the same, and leaves its doubt", async () => {
    const result = await verify("js-1", plainCard, { profiles: ["raw", "python-1", "js-1"] });
    expect(result).toMatchObject({ verified: true, profile: "strict", uncovered: [] });
    expect(result.alarms.map(({ kind }) => kind)).toEqual(["removable"]);
  });

  it("makes a card doubtful whose scheme nothing demands, also where strict signs the same", async () => {
    const { securityRequirements: _, ...stripped } = plainCard;
    expect(await verify("strict", stripped)).toMatchObject({ verified: true });
    expect(await verify("strict", stripped, { profiles: ["raw"] })).toMatchObject({ verified: true });
    for (const profile of ["js-1", "python-1"] as const) {
      expect(await verify("strict", stripped, { profiles: [profile] })).toMatchObject({
        verified: false,
        reason: "uncovered",
        profile,
      });
    }
  });

  it("js-1 knows the cards that the JavaScript SDK signs without their schemes", async () => {
    const { securitySchemes: _, ...signed } = plainCard;
    const policy: TrustPolicy = { profiles: ["js-1"] };
    expect(await verify("strict", signed, policy, plainCard)).toMatchObject({
      verified: false,
      reason: "uncovered",
      profile: "js-1",
      uncovered: ["securitySchemes"],
    });
    expect(await verify("strict", signed, { ...policy, allowUncovered: true }, plainCard)).toMatchObject({
      verified: true,
      uncovered: ["securitySchemes"],
    });
  });

  it("comes in the order js-1, python-1, raw", async () => {
    const plain = { ...plainCard, description: "" };
    expect(await verify("js-1", plain, { profiles: ["raw", "python-1", "js-1"] })).toMatchObject({
      profile: "js-1",
    });
  });

  it("is no reason for the alarm about a scheme that nothing demands, which strict alone has", async () => {
    const { securityRequirements, ...stripped } = plainCard;
    const kinds = async (json: JsonObject, policy: TrustPolicy) =>
      (await verify("strict", json, policy)).alarms.map(({ kind }) => kind);
    expect(await kinds(stripped, {})).toEqual(["unrequired-scheme"]);
    expect(await kinds(stripped, { profiles: ["raw"] })).toEqual(["unrequired-scheme"]);
    expect(await kinds(stripped, { profiles: ["js-1"], allowUncovered: true })).toEqual(["removable"]);
    expect(await kinds(stripped, { revoked: ["k"] })).toEqual([]);
    expect(await kinds(plainCard, {})).toEqual([]);
    const [skill] = plainCard["skills"] as readonly JsonObject[]; // the card has one
    const onSkill = [{ ...skill, securityRequirements: securityRequirements ?? null }];
    expect(await kinds({ ...stripped, skills: onSkill }, {})).toEqual([]);
  });

  it("gives way to a strict signature beside it", async () => {
    const signatures = [await sign("js-1", card), await sign("strict", card)];
    const text = JSON.stringify({ ...card, signatures });
    const result = await verifyCard(text, { trustPolicy: { keys, profiles: ["js-1"] } });
    expect(result).toMatchObject({ verified: true, profile: "strict", uncovered: [], alarms: [] });
    expect(result.signatures.map(({ profile }) => profile)).toEqual(["js-1", "strict"]);
  });

  for (const profile of ["js-1", "python-1"] as const) {
    it(`${profile} allows the typ JWT`, async () => {
      const policy: TrustPolicy = { profiles: [profile] };
      expect(await verify(profile, card, policy, card, { typ: "JWT" })).toMatchObject({
        verified: true,
        profile,
      });
    });

    it(`${profile} does not make the typ JWT strict`, async () => {
      const result = await verify("strict", card, { profiles: [profile] }, card, { typ: "JWT" });
      expect(result).toMatchObject({ verified: false, reason: "signature-mismatch" });
    });
  }
});

describe("what a legacy profile leaves out", () => {
  it("is listed, and alarmed about", async () => {
    const result = await verify("js-1", card, { profiles: ["js-1"] });
    expect(result.uncovered).toEqual(["description", "defaultInputModes"]);
    expect(result.alarms).toMatchObject([
      { kind: "removable", text: expect.stringContaining("without a trace") },
    ]);
    expect(result.message).toContain("do not rely on them: description, defaultInputModes.");
  });

  it("is nothing by the profile raw", async () => {
    const result = await verify("raw", card, { profiles: ["raw"] });
    expect(result).toMatchObject({ verified: true, uncovered: [], alarms: [] });
  });

  const [skill] = plainCard["skills"] as readonly JsonObject[]; // the card has one
  const scopeFree = { schemes: { google: { list: [] } } };
  const open: readonly (readonly [string, JsonObject, string])[] = [
    [
      "an alternative that demands nothing",
      { securityRequirements: [{ schemes: { google: { list: ["books"] } } }, {}] },
      "securityRequirements",
    ],
    [
      "a requirement without scopes",
      { securityRequirements: [{ schemes: { google: { list: ["books"] } } }, scopeFree] },
      "securityRequirements",
    ],
    [
      "a scheme that says nothing",
      {
        securitySchemes: {
          ...(plainCard["securitySchemes"] as JsonObject),
          none: { mtlsSecurityScheme: {} },
        },
      },
      "securitySchemes.none",
    ],
    [
      "an interface's empty tenant member of tomorrow",
      {
        supportedInterfaces: [
          { url: "https://a.example", protocolBinding: "JSONRPC", protocolVersion: "1.0", proxy: "x" },
        ],
      },
      "supportedInterfaces[0].proxy",
    ],
    [
      "a skill's requirement",
      { skills: [{ ...skill, securityRequirements: [scopeFree] }] },
      "skills[0].securityRequirements",
    ],
    [
      "a whole skill with a requirement",
      { skills: [skill ?? {}, { id: "", name: "", description: "", tags: [], securityRequirements: [{}] }] },
      "skills[1]",
    ],
    ["no interfaces", { supportedInterfaces: [] }, "supportedInterfaces"],
  ];
  for (const [what, more, path] of open) {
    for (const profile of ["js-1", "python-1"] as const) {
      it(`is refused by ${profile} when it matters to security: ${what}`, async () => {
        const received = { ...card, ...more };
        const result = await verify(profile, received, { profiles: [profile] });
        expect(result).toMatchObject({
          verified: false,
          reason: "uncovered",
          profile,
          signatures: [{ valid: true }],
        });
        expect(result.uncovered.join()).toContain(path);
        expect(result.message).toContain(`is right, but the profile ${profile} does not protect ${path}`);
        expect(result.alarms).toMatchObject([{ kind: "removable" }]);
      });
    }

    it(`is let pass when the policy takes the risk: ${what}`, async () => {
      const received = { ...card, ...more };
      const policy: TrustPolicy = { profiles: ["js-1"], allowUncovered: true };
      expect(await verify("js-1", received, policy)).toMatchObject({ verified: true, profile: "js-1" });
    });

    it(`is no matter by strict: ${what}`, async () => {
      expect(await verify("strict", { ...card, ...more })).toMatchObject({
        verified: true,
        profile: "strict",
      });
    });
  }

  it("may be an empty list of skills", async () => {
    const result = await verify("js-1", { ...card, skills: [] }, { profiles: ["js-1"] });
    expect(result).toMatchObject({ verified: true, uncovered: expect.arrayContaining(["skills"]) });
  });

  for (const profile of ["js-1", "python-1"] satisfies readonly LegacyProfile[]) {
    it(`is seen by ${profile} in a scheme that no requirement names any more: a stripped requirement`, async () => {
      const demanding = { ...card, securityRequirements: [scopeFree] };
      const { securityRequirements: _, ...stripped } = demanding;
      const result = await verify(profile, demanding, { profiles: [profile] }, stripped);
      expect(result).toMatchObject({
        verified: false,
        reason: "uncovered",
        signatures: [{ valid: true, profile }],
      });
      expect(result.message).toContain('securityRequirements (of "google")');
    });
  }

  it("is not looked for by raw, which loses nothing", async () => {
    const { securityRequirements: _, ...undemanding } = card;
    const result = await verify("raw", undemanding, { profiles: ["raw"] });
    expect(result).toMatchObject({ verified: true, profile: "raw" });
  });

  it("is no matter where a skill has requirements beside those of the card", async () => {
    const { securityRequirements } = card;
    const onSkill = { ...card, skills: [{ ...skill, securityRequirements: securityRequirements ?? null }] };
    const result = await verify("js-1", onSkill, { profiles: ["js-1"] });
    expect(result).toMatchObject({ verified: true });
  });
});

describe("any change of a card", () => {
  it("breaks a strict signature, wherever it is", async () => {
    const signatures = [await sign("strict", plainCard)];
    const changes = [...changesOf(plainCard)];
    expect(changes.length).toBeGreaterThan(40);
    for (const [what, changed] of changes) {
      const result = await verifyCard(JSON.stringify({ ...changed, signatures }), { keys });
      expect([what, result.verified]).toEqual([what, false]);
    }
  });
});

/** The card with one member or element gone, added or changed. */
function* changesOf(json: JsonObject): Generator<readonly [string, JsonObject]> {
  const text = JSON.stringify(json);
  function* places(value: unknown, path: readonly string[]): Generator<readonly string[]> {
    yield path;
    if (typeof value === "object" && value !== null) {
      for (const [name, below] of Object.entries(value)) yield* places(below, [...path, name]);
    }
  }
  function change(
    path: readonly string[],
    how: (parent: Record<string, unknown>, name: string) => void,
  ): JsonObject {
    const copy: JsonObject = JSON.parse(text);
    const parent = path.slice(0, -1).reduce<Record<string, unknown>>(
      (at, name) => at[name] as Record<string, unknown>, // a place of this card
      copy,
    );
    how(parent, path.at(-1) ?? "");
    return copy;
  }
  for (const path of places(json, [])) {
    if (path.length === 0) continue;
    const where = path.join(".");
    yield [
      `${where} gone`,
      change(path, (parent, name) =>
        Array.isArray(parent) ? parent.splice(Number(name), 1) : delete parent[name],
      ),
    ];
    yield [
      `${where} changed`,
      change(path, (parent, name) => {
        parent[name] = `${JSON.stringify(parent[name])}x`;
      }),
    ];
    yield [
      `${where} with more`,
      change(path, (parent, name) => {
        const value = parent[name];
        if (Array.isArray(value)) value.push({});
        else if (typeof value === "object" && value !== null) Object.assign(value, { more: {} });
        else if (!Array.isArray(parent)) parent["more"] = {};
        else parent.push("");
      }),
    ];
  }
}
