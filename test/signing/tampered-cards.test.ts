import { AgentCapabilitiesSchema, type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import {
  canonicalCard,
  canonicalSignedCard,
  createCardSigner,
  createCardVerifier,
  generateSigningKey,
  signCard,
} from "@a2a-connect/signing";
import { generateAgentCardSignature, AgentCard as SdkCard } from "@a2a-js/sdk";
import { create, equals, fromJson, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import { base64url, importJWK } from "jose";
import { describe, expect, it } from "vitest";
import { isLong } from "../faults/report.ts";
import { arbitraryMessage } from "../openapi/arbitrary-message.ts";
import { fullCard, scopeFreeSecurity, wholeCard } from "../support/cards.ts";
import { type JsonPath, pathsOf, replaceAt } from "./json-paths.ts";

const { privateJwk, publicJwk } = await generateSigningKey({ alg: "Ed25519", kid: "one" });
const signer = await createCardSigner({ key: privateJwk });
const strict = createCardVerifier({ keys: [publicJwk] });
const legacy = { keys: [publicJwk], profiles: ["js-1", "python-1", "raw"] } as const;
const careful = createCardVerifier(legacy);
const lenient = createCardVerifier({ ...legacy, allowUncovered: true });

/** Any card that can be signed: REQUIRED messages have no default that could stand for them. */
const arbitraryCard = arbitraryMessage(AgentCardSchema)
  .map((init) => {
    const card = init as unknown as AgentCard; // what it makes
    return { ...card, capabilities: card.capabilities ?? create(AgentCapabilitiesSchema), signatures: [] };
  })
  .filter(({ securitySchemes }) =>
    Object.values(securitySchemes).every(
      ({ scheme }) => scheme.case !== "oauth2SecurityScheme" || scheme.value.flows !== undefined,
    ),
  );

describe("a card that has something of everything, signed, and then changed in one place", () => {
  it("is refused, whichever place it is and whatever is put there, unless it still says the same", async () => {
    const signed = await signedJson(fromJson(AgentCardSchema, wholeCard));
    let refused = 0;
    for (const path of pathsOfClaims(signed)) {
      for (const [which, change] of changes.entries()) {
        const tampered = replaceAt(signed, path, (value) => change(value, which)) as JsonObject;
        refused += Number(await isRefused(tampered, signed));
      }
    }
    expect(refused).toBeGreaterThan(500); // most of the others say the same
  });
});

describe("a signed card in which one thing was changed", () => {
  it("is refused, unless it still says the same", async () => {
    const numRuns = isLong ? 1_000 : 300;
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(
        arbitraryCard,
        fc.nat(),
        fc.nat(),
        arbitraryChange,
        async (card, pick, which, change) => {
          const signed = await signedJson(card);
          const paths = pathsOfClaims(signed);
          const path = paths[pick % paths.length] ?? [];
          const tampered = replaceAt(signed, path, (value) => change(value, which)) as JsonObject;
          refused += Number(await isRefused(tampered, signed));
        },
      ),
      { numRuns },
    );
    expect(refused).toBeGreaterThan(numRuns / 2); // else next to nothing was changed
  });

  it("is refused by the legacy profiles, but for additions that are called uncovered, and what was empty", async () => {
    const signed = JSON.parse(await signAsSdk(wholeCard)) as JsonObject;
    const counts = { added: 0, removed: 0 };
    for (const { tampered, path } of tamperedCards(signed)) {
      const { verified, profile, uncovered } = await lenient.verify(JSON.stringify(tampered));
      if (!verified || saysTheSame(tampered, signed)) continue;
      expect(profile).toBe("js-1");
      const { added, removed } = differences(canonicalJson(signed), canonicalJson(tampered));
      for (const place of added) {
        // By its own path or by that of something around it: nothing is named by what stands below it.
        expect(
          uncovered.some((named) => isAtOrAbove(named, formatPath(place))),
          formatPath(place),
        ).toBe(true);
      }
      for (const value of removed) {
        expect(isEmptyThroughout(value), `${formatPath(path)}: ${JSON.stringify(value)}`).toBe(true);
      }
      counts.added += added.length;
      counts.removed += removed.length;
    }
    // Else the profile is not what it is said to be.
    expect(counts.added).toBeGreaterThan(10);
    expect(counts.removed).toBeGreaterThan(10);
  });

  it("is refused by the legacy profiles, when it is changed in where or by whom the agent may be called", async () => {
    const signedCards = {
      "the SDK": await signAsSdk(fullCard),
      us: canonicalSignedCard(await signCard(fromJson(AgentCardSchema, fullCard), { signer })),
      "the SDK, as it signs objects of its own": await signAsSdk(fullCard, { isTyped: true }),
      "the SDK, though it loses a requirement": await signAsSdk({ ...fullCard, ...scopeFreeSecurity }),
    };
    for (const [who, text] of Object.entries(signedCards)) {
      const signed = JSON.parse(text) as JsonObject;
      let refused = 0;
      for (const { tampered } of tamperedCards(signed)) {
        if (securityOf(tampered) === securityOf(signed)) continue;
        const { verified } = await careful.verify(JSON.stringify(tampered));
        expect(verified, `${who}: ${JSON.stringify(tampered)}`).toBe(false);
        refused += 1;
      }
      expect(refused).toBeGreaterThan(300); // else nothing of that was changed
    }
  });
});

describe("the verifier", () => {
  it("has a verdict for whatever it is given, and trusts nothing but what was signed", {
    timeout: 600_000,
  }, async () => {
    const card = fromJson(AgentCardSchema, wholeCard);
    const text = canonicalSignedCard(await signCard(card, { signer }));
    const canonical = canonicalCard(card);
    expect((await strict.verify(text, {})).verified).toBe(true);
    let trusted = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(mutatedText(text), mutatedSignature(text), fc.json(), fc.string()),
        async (mutated) => {
          const verification = await (mutated.length % 2 === 0 ? strict : lenient).verify(mutated, {});
          expect(verification.message).not.toBe("");
          expect(verification.reason === undefined).toBe(verification.verified);
          if (verification.verified && verification.profile === "strict") {
            trusted += 1;
            expect(canonicalCard(mutated)).toBe(canonical);
          }
        },
      ),
      { numRuns: isLong ? 100_000 : 3_000 },
    );
    expect(trusted).toBeGreaterThan(0); // else nothing was left whole, and nothing was shown
  });
});

/** A card with each of its places changed in each way, and with members of its security taken out together. */
function* tamperedCards(
  signed: JsonObject,
): Generator<{ readonly tampered: JsonObject; readonly path: JsonPath }> {
  for (const path of pathsOfClaims(signed)) {
    for (const [which, change] of changes.entries()) {
      const tampered = replaceAt(signed, path, (value) => change(value, which)) as JsonObject;
      yield { tampered, path };
    }
  }
  const { securitySchemes, securityRequirements, ...bare } = signed;
  yield { tampered: bare, path: [] };
  const withSchemes = securitySchemes === undefined ? bare : { ...bare, securitySchemes };
  const onSkill = [
    { id: "s", name: "S", description: "d", tags: [], securityRequirements: securityRequirements ?? [] },
  ];
  yield { tampered: { ...withSchemes, skills: onSkill }, path: ["skills"] };
}

/** What of a card says where it is called, and by whom, to whoever reads it as a message. */
function securityOf(json: JsonObject): string {
  try {
    const { supportedInterfaces, securitySchemes, securityRequirements } = fromJson(
      AgentCardSchema,
      { ...json, signatures: [] },
      { ignoreUnknownFields: true },
    );
    const card = create(AgentCardSchema, { supportedInterfaces, securitySchemes, securityRequirements });
    return canonicalCard(card);
  } catch {
    return "no card";
  }
}

/** A card without signatures and what says nothing. */
function canonicalJson(json: JsonObject): JsonObject {
  return JSON.parse(canonicalCard(JSON.stringify(json))) as JsonObject;
}

interface Differences {
  /** Paths of what stands in the second alone, or is another thing there. */
  readonly added: readonly JsonPath[];
  /** Values that stand in the first alone, or are another thing in the second. */
  readonly removed: readonly JsonValue[];
}

/** What one JSON value has that another has not. Lists are compared as those who lose empty elements see them. */
function differences(one: JsonValue, other: JsonValue, path: JsonPath = []): Differences {
  if (Array.isArray(one) && Array.isArray(other)) return listDifferences(one, other, path);
  if (!isObject(one) || !isObject(other)) {
    return one === other ? { added: [], removed: [] } : { added: [path], removed: [one] };
  }
  return join(
    [...new Set([...Object.keys(one), ...Object.keys(other)])].map((name) => {
      const place = [...path, name];
      if (!Object.hasOwn(other, name)) return { added: [], removed: [one[name] ?? null] };
      if (!Object.hasOwn(one, name)) return { added: [place], removed: [] };
      return differences(one[name] ?? null, other[name] ?? null, place);
    }),
  );
}

/** The elements that are not empty are compared one by one; of the others, more is added, and less is removed. */
function listDifferences(
  one: readonly JsonValue[],
  other: readonly JsonValue[],
  path: JsonPath,
): Differences {
  const solid = [...other.entries()].filter(([, element]) => !isEmptyThroughout(element));
  const before = one.filter((element) => !isEmptyThroughout(element));
  const empties = [...other.entries()].filter(([, element]) => isEmptyThroughout(element));
  const emptiesBefore = one.filter(isEmptyThroughout);
  return join([
    ...solid.map(([index, element], position) => {
      const place = [...path, index];
      const original = before[position];
      return original === undefined ? { added: [place], removed: [] } : differences(original, element, place);
    }),
    {
      added: empties.slice(emptiesBefore.length).map(([index]) => [...path, index]),
      removed: [...before.slice(solid.length), ...emptiesBefore.slice(empties.length)],
    },
  ]);
}

function join(parts: readonly Differences[]): Differences {
  return {
    added: parts.flatMap(({ added }) => added),
    removed: parts.flatMap(({ removed }) => removed),
  };
}

/** Whether nothing is in a value, or nothing but what is empty itself. */
function isEmptyThroughout(value: JsonValue): boolean {
  if (value === null || value === "") return true;
  return typeof value === "object" && Object.values(value).every((each) => isEmptyThroughout(each ?? null));
}

/** Whether a path of a result is the path of a value, or of something around it. */
function isAtOrAbove(named: string, path: string): boolean {
  return path === named || (path.startsWith(named) && /^[.[]/.test(path.slice(named.length)));
}

/** Turns a value into another, by a number. */
type Change = (value: JsonValue | undefined, which: number) => JsonValue | undefined;

const changes: readonly Change[] = [
  () => undefined, // the member or element is gone
  () => null,
  () => "",
  () => [],
  () => ({}),
  () => false,
  (value) => (typeof value === "string" ? `${value}x` : "x"),
  (value) => (typeof value === "string" ? value.slice(1) : 0),
  (value) => (typeof value === "boolean" ? !value : 1),
  (value) => (Array.isArray(value) ? value.toReversed() : [value ?? null]),
  (value) => (Array.isArray(value) ? [...value, ...value] : value),
  (value) => (Array.isArray(value) ? [...value, {}] : value),
  (value, which) => (isObject(value) ? { ...value, [`new${which % 3}`]: which } : value),
  (value) => (isObject(value) ? { ...value, schemes: {} } : value),
  (value) => (isObject(value) ? { ...value, tokenUrl: "https://evil.example" } : value),
  (value) => (isObject(value) ? { ...value, token_url: "https://evil.example" } : value),
  (value) => (isObject(value) ? { ...value, implicit: { scopes: {} } } : value),
];

const arbitraryChange = fc.constantFrom(...changes);

async function signedJson(card: AgentCard): Promise<JsonObject> {
  return JSON.parse(canonicalSignedCard(await signCard(card, { signer }))) as JsonObject;
}

async function signAsSdk(card: JsonObject, { isTyped = false } = {}): Promise<string> {
  const key = (await importJWK(privateJwk, "Ed25519")) as CryptoKey; // a private key is no secret of bytes
  const sign = generateAgentCardSignature(key, { alg: "Ed25519", kid: "one", typ: "JOSE" });
  // The SDK's type of a card is its own; it reads ProtoJSON.
  const { signatures } = await sign(isTyped ? SdkCard.fromJSON(card) : (card as never));
  return JSON.stringify({ ...card, signatures });
}

/** Paths of everything in a card but its signatures. */
function pathsOfClaims(card: JsonObject): JsonPath[] {
  return pathsOf(card).filter(([member]) => member !== "signatures");
}

function formatPath(path: JsonPath): string {
  return path
    .map((each) => {
      if (typeof each === "number") return `[${each}]`;
      return /^\w+$/.test(each) ? `.${each}` : `[${JSON.stringify(each)}]`;
    })
    .join("")
    .slice(1);
}

/** Whether the strict verifier refuses a tampered card; fails the test when it takes one that says something else. */
async function isRefused(tampered: JsonObject, signed: JsonObject): Promise<boolean> {
  const { verified, uncovered } = await strict.verify(JSON.stringify(tampered));
  expect(uncovered).toEqual([]);
  if (verified) {
    expect(saysTheSame(tampered, signed), JSON.stringify(tampered)).toBe(true);
  }
  return !verified;
}

/** Whether two cards are the same to whoever reads them as messages, and have the same members that nobody knows. */
function saysTheSame(one: JsonObject, other: JsonObject): boolean {
  const read = (json: JsonObject) =>
    fromJson(AgentCardSchema, { ...json, signatures: [] }, { ignoreUnknownFields: true });
  return (
    equals(AgentCardSchema, read(one), read(other)) &&
    canonicalCard(JSON.stringify(one)) === canonicalCard(JSON.stringify(other))
  );
}

/** Pieces of a text taken out, doubled, moved or replaced by what JSON parsers stumble over. */
function mutatedText(text: string): fc.Arbitrary<string> {
  const edit = fc.record({
    at: fc.nat({ max: text.length }),
    length: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 200 })),
    by: fc.oneof(
      fc.constantFrom(
        "",
        "{",
        "[",
        '"',
        ",",
        ":",
        "\\",
        "\\ud800",
        "null",
        "1e400",
        '"name":"x",',
        '"__proto__":1,',
        "\u0000",
        "\ud800",
        "-0",
        " ",
        "\n",
      ),
      fc.string({ maxLength: 4 }),
      fc.nat({ max: text.length }).map((from) => text.slice(from, from + 30)),
    ),
  });
  return fc
    .array(edit, { minLength: 1, maxLength: 3 })
    .map((edits) =>
      edits.reduce(
        (so_far, { at, length, by }) => so_far.slice(0, at) + by + so_far.slice(at + length),
        text,
      ),
    );
}

/** The same card with other signatures: mutated headers, mutated signature bytes, other shapes. */
function mutatedSignature(text: string): fc.Arbitrary<string> {
  const card = JSON.parse(text) as JsonObject & { signatures: [{ protected: string; signature: string }] };
  const [good] = card.signatures;
  const header = JSON.parse(new TextDecoder().decode(base64url.decode(good.protected))) as JsonObject;
  const parameter = fc.oneof(
    fc.constantFrom<[string, JsonValue]>(
      ["alg", "none"],
      ["alg", "HS256"],
      ["alg", "EdDSA"],
      ["alg", "ed25519"],
      ["alg", ["Ed25519"]],
      ["kid", ""],
      ["kid", null],
      ["kid", 1],
      ["kid", "one "],
      ["typ", "JWT"],
      ["typ", "jose"],
      ["typ", {}],
      ["crit", []],
      ["crit", ["exp"]],
      ["b64", false],
      ["jku", "http://169.254.169.254/"],
      ["jku", "file:///etc/passwd"],
      ["jku", 5],
      ["jwk", {}],
      ["x5c", ["AA"]],
      ["__proto__", { alg: "none" }],
    ),
    fc.tuple(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<JsonValue>),
  );
  const mutatedHeader = fc
    .array(parameter, { minLength: 1, maxLength: 2 })
    .map((parameters) => base64url.encode(JSON.stringify({ ...header, ...Object.fromEntries(parameters) })));
  const oddText = (value: string) =>
    fc.oneof(
      fc.constantFrom(
        `${value}=`,
        `${value}==`,
        ` ${value}`,
        `${value}\n`,
        value.replaceAll("-", "+").replaceAll("_", "/"),
        "",
        ".",
        `${value}.`,
        value.slice(0, -1),
        `${value}A`,
      ),
      fc
        .nat({ max: value.length - 1 })
        .map((at) => value.slice(0, at) + (value[at] === "A" ? "B" : "A") + value.slice(at + 1)),
    );
  const entry: fc.Arbitrary<JsonValue> = fc.oneof(
    fc.record({ protected: mutatedHeader, signature: fc.constant(good.signature) }),
    fc.record({ protected: oddText(good.protected), signature: fc.constant(good.signature) }),
    fc.record({ protected: fc.constant(good.protected), signature: oddText(good.signature) }),
    fc.constant({ ...good, header: { alg: "none" } }),
    fc.constant({ ...good }),
    fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonValue>,
  );
  const signatures: fc.Arbitrary<JsonValue> = fc.oneof(
    fc.array(entry, { maxLength: 3 }),
    fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<JsonValue>,
  );
  return signatures.map((mutated) => JSON.stringify({ ...card, signatures: mutated }));
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
