import { AgentCapabilitiesSchema, type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import {
  canonicalCard,
  canonicalSignedCard,
  createCardSigner,
  createCardVerifier,
  generateSigningKey,
  signCard,
} from "@a2a-connect/signing";
import { generateAgentCardSignature } from "@a2a-js/sdk";
import { create, equals, fromJson, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import { base64url, importJWK } from "jose";
import { describe, expect, it } from "vitest";
import { arbitraryMessage } from "../openapi/arbitrary-message.ts";
import { type JsonPath, pathsOf, replaceAt } from "./json-paths.ts";

const { privateJwk, publicJwk } = await generateSigningKey({ alg: "Ed25519", kid: "one" });
const signer = await createCardSigner({ key: privateJwk });
const strict = createCardVerifier({ keys: [publicJwk] });
const lenient = createCardVerifier({
  keys: [publicJwk],
  profiles: ["js-1", "python-1", "raw"],
  allowUncovered: true,
});

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
      { numRuns: 1_000 },
    );
    expect(refused).toBeGreaterThan(500); // else next to nothing was changed
  });

  it("is refused by the legacy profiles, or what was changed was called uncovered", async () => {
    const signed = JSON.parse(await signAsSdk(wholeCard)) as JsonObject;
    let taken = 0;
    for (const path of pathsOfClaims(signed)) {
      for (const [which, change] of changes.entries()) {
        const tampered = replaceAt(signed, path, (value) => change(value, which)) as JsonObject;
        const { verified, profile, uncovered, alarms } = await lenient.verify(JSON.stringify(tampered));
        if (verified && !saysTheSame(tampered, signed)) {
          taken += 1;
          expect(profile).toBe("js-1");
          // What was put there is named; what was taken away left no trace, and the alarm says that this can be.
          const isNamed = uncovered.some(
            (named) => formatPath(path).startsWith(named) || named.startsWith(formatPath(path)),
          );
          expect(isNamed || alarms.some(({ kind }) => kind === "removable"), formatPath(path)).toBe(true);
        }
      }
    }
    expect(taken).toBeGreaterThan(10); // else the profile is not what it is said to be
  });
});

describe("the verifier", () => {
  it("has a verdict for whatever it is given, and trusts nothing but what was signed", {
    timeout: 120_000,
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
      { numRuns: Number(process.env["A2A_FUZZ_RUNS"] ?? 100_000) },
    );
    expect(trusted).toBeGreaterThan(0); // else nothing was left whole, and nothing was shown
  });
});

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

async function signAsSdk(card: JsonObject): Promise<string> {
  const key = (await importJWK(privateJwk, "Ed25519")) as CryptoKey; // a private key is no secret of bytes
  const sign = generateAgentCardSignature(key, { alg: "Ed25519", kid: "one", typ: "JOSE" });
  const { signatures } = await sign(card as never); // the SDK's type of a card is its own; it reads ProtoJSON
  return JSON.stringify({ ...card, signatures });
}

/** Paths of everything in a card but its signatures. */
function pathsOfClaims(card: JsonObject): JsonPath[] {
  return pathsOf(card).filter(([member]) => member !== "signatures");
}

function formatPath(path: JsonPath): string {
  return path
    .map((each) => (typeof each === "number" ? `[${each}]` : `.${each}`))
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

/** A card with something of everything. */
const wholeCard: JsonObject = {
  name: "Whole",
  description: "",
  version: "1.0.0",
  supportedInterfaces: [
    { url: "https://whole.example/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0", tenant: "t" },
    { url: "whole.example:443", protocolBinding: "GRPC", protocolVersion: "1.0" },
  ],
  provider: { organization: "O", url: "https://o.example" },
  iconUrl: "",
  capabilities: {
    streaming: false,
    extensions: [
      { uri: "urn:x", required: true, params: { a: null, b: [], "\u{1F600}": 1e-7, "\uFB33": -0 } },
    ],
  },
  securitySchemes: {
    oauth: {
      oauth2SecurityScheme: {
        flows: { clientCredentials: { tokenUrl: "https://id.example/token", scopes: { read: "" } } },
      },
    },
    cert: { mtlsSecurityScheme: {} },
  },
  securityRequirements: [{ schemes: { oauth: { list: ["read"] }, cert: { list: [] } } }],
  defaultInputModes: ["text/plain"],
  defaultOutputModes: [],
  skills: [{ id: "s", name: "S", description: "d", tags: [], examples: ["e\n<>&\u2028"] }],
};
