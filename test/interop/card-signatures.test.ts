// Signatures of cards between us and `@a2a-js/sdk`: what it signs we verify, and say what it has left out; what we sign it
// verifies, as long as nothing in the card is empty; and what it lets pass we refuse.

import { serve } from "@a2a-connect/node";
import { CardRefusedError, connectAgent } from "@a2a-connect/node/client";
import { type AgentDefinition, createMemoryTaskStore } from "@a2a-connect/server";
import {
  type CardVerdict,
  createCardMemory,
  generateSigningKey,
  signCardText,
  verifyCard,
} from "@a2a-connect/signing";
import type { CardFault, LegacyProfile } from "@a2a-connect/signing/internal";
import { generateAgentCardSignature, type AgentCard as SdkCard, verifyAgentCardSignature } from "@a2a-js/sdk";
import { DefaultAgentCardResolver } from "@a2a-js/sdk/client";
import type { JsonObject } from "@bufbuild/protobuf";
import type { JWK } from "jose";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { rejectedWith } from "../../packages/client/test-support/outcomes.ts";
import { respondJson, startBrokenServer } from "../client/broken-server.ts";
import { fullCard, scopeFreeSecurity } from "../support/cards.ts";

const { privateJwk, publicJwk } = await generateSigningKey({ kid: "one" });

beforeEach(() => {
  vi.spyOn(console, "debug").mockReturnValue(); // the SDK prints every signature that it refuses
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** Signs as an agent author does who uses the SDK. */
async function signBySdk(card: JsonObject): Promise<JsonObject> {
  const sign = generateAgentCardSignature(privateJwk, {
    alg: "ES256",
    kid: "one",
    typ: "JOSE",
  });
  // The SDK reads JSON at run time, and says AgentCard in its types.
  return JSON.parse(JSON.stringify(await sign(card as unknown as SdkCard))) as JsonObject;
}

const verifyBySdk = verifyAgentCardSignature(async () => publicJwk);

async function sdkAccepts(card: JsonObject | SdkCard): Promise<boolean> {
  return verifyBySdk(card as unknown as SdkCard).then(
    () => true,
    () => false,
  );
}

function verifyByUs(card: JsonObject, ...profiles: LegacyProfile[]): Promise<CardVerdict> {
  return verifyCard(JSON.stringify(card), { trustPolicy: { keys: [publicJwk], profiles } });
}

describe("a card that the SDK has signed", () => {
  it("is one of the specification when nothing in it is empty", async () => {
    const card = await signBySdk(fullCard);
    expect(await verifyByUs(card)).toMatchObject({ verified: true, profile: "strict", uncovered: [] });
    expect(await sdkAccepts(card)).toBe(true);
  });

  for (const [what, empty, uncovered] of [
    ["an empty description", { description: "" }, ["description"]],
    [
      "skills without tags",
      { skills: [{ id: "s", name: "S", description: "Does.", tags: [] }] },
      ["skills[0].tags"],
    ],
    ["members that nobody knows", { somethingNew: { a: 1 } }, ["somethingNew"]],
    [
      "parameters that are empty",
      { capabilities: { extensions: [{ uri: "urn:x", params: { a: null, b: { c: "" }, d: 1 } }] } },
      ["capabilities.extensions[0].params.a", "capabilities.extensions[0].params.b"],
    ],
  ] satisfies readonly (readonly [string, JsonObject, readonly string[]])[]) {
    it(`is verified by the profile js-1 alone, which does not protect ${what}`, async () => {
      const card = await signBySdk({ ...fullCard, ...empty });
      expect(await verifyByUs(card)).toMatchObject({ verified: false, reason: "signature-mismatch" });
      const verification = await verifyByUs(card, "js-1");
      expect(verification).toMatchObject({ verified: true, profile: "js-1", kid: "one", alg: "ES256" });
      expect(verification.uncovered).toEqual(uncovered);
      expect(verification.alarms.map(({ kind }) => kind)).toEqual(["removable"]);
      expect(await sdkAccepts(card)).toBe(true);
    });
  }

  it("is refused when what it leaves out is a requirement without scopes", async () => {
    const card = await signBySdk({
      ...fullCard,
      securityRequirements: [{ schemes: { oauth: { list: [] } } }],
    });
    const verification = await verifyByUs(card, "js-1");
    expect(verification).toMatchObject({ verified: false, reason: "uncovered", profile: "js-1" });
    expect(verification.uncovered).toEqual(["securityRequirements"]);
    expect(await sdkAccepts(card)).toBe(true);
  });

  it("is used by our client under that profile, over the text that was served", async () => {
    const skills = [{ id: "s", name: "S", description: "Does.", tags: [] }];
    const card = await signBySdk({ ...fullCard, skills, somethingNew: 1 });
    await using server = await startBrokenServer({
      serveCard: (_, __, response) => respondJson(response, card),
    });
    const warnings: string[] = [];
    await using agent = await connectAgent(server.url, {
      trust: { keys: [publicJwk], profiles: ["js-1"] },
      onWarning: (warning) => warnings.push(warning),
    });
    expect(agent.card.signatures).toHaveLength(1);
    expect(warnings.join(" ")).toContain("js-1");
    const { message } = await rejectedWith(
      connectAgent(server.url, { trust: { keys: [publicJwk] } }),
      CardRefusedError,
    );
    expect(message).toContain("signature");
  });
});

describe("a card that the SDK has signed, and somebody has changed", () => {
  for (const [what, change, byProfile] of [
    [
      "a requirement was added that asks for nothing",
      (card) => ({ ...card, securityRequirements: [...(card["securityRequirements"] as JsonObject[]), {}] }),
      "uncovered",
    ],
    [
      "a requirement was added that asks for a key without scopes",
      (card) => ({
        ...card,
        securityRequirements: [
          ...(card["securityRequirements"] as JsonObject[]),
          { schemes: { key: { list: [] } } },
        ],
      }),
      "uncovered",
    ],
    [
      "a second flow was put beside the one of a scheme, with another token URL",
      (card) =>
        JSON.parse(
          JSON.stringify(card).replace(
            '"pkceRequired":true}',
            '"pkceRequired":true},"clientCredentials":{"tokenUrl":"https://mallory.example/token","scopes":{"work":"Work"}}',
          ),
        ),
      "card-invalid",
    ],
    [
      "a second kind was put beside the one of a scheme",
      (card) =>
        JSON.parse(
          JSON.stringify(card).replace(
            '"name":"x-key"}',
            '"name":"x-key"},"openIdConnectSecurityScheme":{"openIdConnectUrl":"https://mallory.example"}',
          ),
        ),
      "card-invalid",
    ],
    [
      "a scheme has a member more that nobody knows",
      (card) =>
        JSON.parse(
          JSON.stringify(card).replace('"name":"x-key"', '"name":"x-key","proxy":"https://mallory.example"'),
        ),
      "uncovered",
    ],
    [
      "the card has a member more that nobody knows",
      (card) => ({ ...card, trustedBy: "everybody" }),
      undefined,
    ],
  ] satisfies readonly (readonly [string, (card: JsonObject) => JsonObject, CardFault | undefined])[]) {
    it(`is accepted by the SDK, and refused by us: ${what}`, async () => {
      const good = await signBySdk(fullCard);
      const bad = change(good);
      expect(JSON.stringify(bad)).not.toBe(JSON.stringify(good));
      expect(await sdkAccepts(bad)).toBe(true);
      const strict = await verifyByUs(bad);
      expect(strict.verified).toBe(false);
      expect(["signature-mismatch", "card-invalid"]).toContain(strict.reason);
      const byJs1 = await verifyByUs(bad, "js-1");
      if (byProfile === undefined) {
        expect(byJs1).toMatchObject({ verified: true, profile: "js-1", uncovered: ["trustedBy"] }); // and so nobody relies on it
      } else {
        expect(byJs1).toMatchObject({ verified: false, reason: byProfile });
      }
    });
  }
});

describe("a card that the SDK has signed, out of which a requirement without scopes was taken", () => {
  const scopeFree: JsonObject = { ...fullCard, ...scopeFreeSecurity };
  const strip = ({ securityRequirements: _, ...card }: JsonObject): JsonObject => card;

  it("is accepted by the SDK, and refused by us under its profile, though no byte of what was signed has changed", async () => {
    const bad = strip(await signBySdk(scopeFree));
    expect(await sdkAccepts(bad)).toBe(true);
    expect(await verifyByUs(bad, "js-1")).toMatchObject({ verified: false, reason: "uncovered" });
  });

  // What is left is what a signer by the specification would have signed of it: nobody can tell by the card alone.
  it("is refused under strict alone by what a policy demands, and by what it remembers", async () => {
    const card = await signBySdk(scopeFree);
    const bad = JSON.stringify(strip(card));
    const keys = [publicJwk];
    expect(await verifyCard(bad, { keys })).toMatchObject({ verified: true, profile: "strict" });
    const demanding = { keys, minimumSecurity: { requirements: true } };
    expect(await verifyCard(bad, { trustPolicy: demanding })).toMatchObject({ reason: "security-too-weak" });
    const url = "https://a.example/.well-known/agent-card.json";
    const trustPolicy = { keys, memory: createCardMemory() };
    const proper = await signCardText(JSON.stringify(scopeFree), { key: privateJwk });
    expect(await verifyCard(proper, { trustPolicy, url })).toMatchObject({ verified: true });
    expect(await verifyCard(bad, { trustPolicy, url })).toMatchObject({ reason: "downgrade" });
  });
});

describe("a card that we have signed", () => {
  const ours = async (card: JsonObject): Promise<JsonObject> =>
    JSON.parse(await signCardText(JSON.stringify(card), { key: privateJwk })) as JsonObject;

  it("is verified by the SDK when nothing in it is empty, and not when it was changed", async () => {
    const card = await ours(fullCard);
    expect(await sdkAccepts(card)).toBe(true);
    expect(await verifyByUs(card)).toMatchObject({ verified: true, profile: "strict" });
    expect(await sdkAccepts({ ...card, version: "9.9.9" })).toBe(false);
  });

  for (const [what, empty, path] of [
    ["a description", { description: "" }, "description"],
    ["tags", { skills: [{ id: "s", name: "S", description: "Does.", tags: [] }] }, "skills[0].tags"],
    ["a member that it does not know", { somethingNew: 1 }, "somethingNew"],
  ] satisfies readonly (readonly [string, JsonObject, string])[]) {
    it(`is not verified by the SDK when the signature protects ${what} that it drops, and the signer is warned`, async () => {
      const warnings: string[] = [];
      const card = await signCardText(JSON.stringify({ ...fullCard, ...empty }), {
        key: privateJwk,
        onWarning: (warning) => warnings.push(warning),
      });
      expect(warnings.join(" ")).toContain("js-1");
      expect(warnings.join(" ")).toContain(path);
      expect(await sdkAccepts(JSON.parse(card))).toBe(false);
    });
  }

  it("is fetched from our server and verified by the SDK's resolver and verifier, with the key set that it names", async () => {
    const agent: AgentDefinition = {
      card: {
        name: "Signed",
        description: "Is signed.",
        version: "1.0.0",
        skills: [{ id: "s", name: "S", description: "Does.", tags: ["t"] }],
      },
      execute: () => [],
    };
    await using served = await serve(agent, {
      store: createMemoryTaskStore(),
      signing: { keys: [{ key: privateJwk }] },
    });
    const card = await new DefaultAgentCardResolver().resolve(served.url);
    const asked: (string | undefined)[] = [];
    const verify = verifyAgentCardSignature(async (kid, jku) => {
      asked.push(jku);
      const { keys } = (await (await fetch(jku ?? "")).json()) as { keys: (JWK & { kid: string })[] };
      const key = keys.find((each) => each.kid === kid);
      if (key === undefined) throw new Error(`no key ${kid}`);
      return key;
    });
    await verify(card);
    expect(asked).toEqual([`${served.url}/.well-known/jwks.json`]);
    await expect(verify({ ...card, version: "9.9.9" })).rejects.toThrow(/No valid signatures/);
    await using client = await connectAgent(served.url, { trust: { jku: {} } });
    expect(client.card.name).toBe("Signed");
  });
});
