import { readFileSync } from "node:fs";
import { AgentCardSchema } from "@a2a-connect/proto";
import {
  CardTextError,
  type CardVerdict,
  canonicalCard,
  cardDigest,
  type TrustPolicy,
  verifyCard,
} from "@a2a-connect/signing";
import { fromBinary } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { makeVectors } from "./make-vectors.ts";
import { promisedCases } from "./promised-cases.ts";
import { ScriptedNetwork } from "./scripted-network.ts";
import { SignatureBook } from "./signature-book.ts";
import { type ExpectedVerdict, type Vector, type VectorProfile, vectorProfiles } from "./vector.ts";
import { cardTextOf, readVectors, vectorFolder, vectorText } from "./vector-files.ts";

const vectors = readVectors();

describe("the test vectors of Agent Cards", () => {
  for (const [what, ...files] of promisedCases) {
    it(`have ${what}`, () => {
      expect(files.filter((file) => !vectors.has(file))).toEqual([]);
    });
  }

  it("are what their generator makes", async () => {
    const book = SignatureBook.read();
    const made = await makeVectors(book);
    expect([...made.keys()].sort()).toEqual([...vectors.keys()]);
    for (const [name, vector] of made) {
      expect(readFileSync(new URL(`${name}.json`, vectorFolder), "utf8"), name).toBe(vectorText(vector));
    }
    expect(book.toText()).toBe(readFileSync(SignatureBook.file, "utf8"));
  });

  it("keep their own schema", () => {
    const schema = JSON.parse(readFileSync(new URL("schema.json", import.meta.url), "utf8"));
    const validate = new Ajv2020({ allErrors: true, formats: { uri: true } }).compile(schema);
    for (const [name, vector] of vectors) {
      expect(validate(vector) ? [] : validate.errors, name).toEqual([]);
    }
  });
});

for (const [name, vector] of vectors) {
  describe(`${name} (${vector.rule.join(", ")})`, () => {
    it("has its canonical text and its digest", async () => {
      const text = cardTextOf(vector);
      if (vector.canonical === null) {
        expect(faultOf(() => canonicalCard(text))).toBe(vector.canonicalFault);
        return;
      }
      expect(canonicalCard(text)).toBe(vector.canonical);
      expect(await cardDigest(text)).toBe(vector.sha256);
    });

    const { protobuf } = vector;
    if (protobuf !== undefined) {
      it("has the same from its protobuf bytes", async () => {
        const card = fromBinary(AgentCardSchema, base64Decode(protobuf));
        expect(canonicalCard(card)).toBe(vector.canonical);
        expect(await cardDigest(card)).toBe(vector.sha256);
      });
    }

    for (const profile of vectorProfiles) {
      const { verified, reason } = vector.expected[profile];
      it(`is ${verified ? "verified" : `refused as ${reason}`} under ${profile}`, async () => {
        const network = new ScriptedNetwork(vector.jwks);
        const found = await verifyCard(cardTextOf(vector), {
          trustPolicy: policyOf(vector, profile, network),
          now: () => Date.parse(vector.now),
          ...(vector.url !== undefined && { url: vector.url }),
        });
        expect(verdictOf(found)).toEqual(inOrder(vector.expected[profile]));
        expect(network.asked).toEqual(vector.asked ?? []);
      });
    }
  });
}

function policyOf(vector: Vector, profile: VectorProfile, network: ScriptedNetwork): TrustPolicy {
  const { jku, ...rest } = vector.policy;
  return {
    ...rest,
    // The keys of a vector have a kid, as its schema says.
    keys: vector.keys.keys as unknown as NonNullable<TrustPolicy["keys"]>,
    ...(jku !== undefined && { jku: { ...(jku as object), fetch: network.fetch } }),
    profiles: profile === "strict" ? [] : [profile],
  };
}

function verdictOf(found: CardVerdict): ExpectedVerdict {
  return inOrder({
    verified: found.verified,
    profile: found.profile ?? null,
    kid: found.kid ?? null,
    alg: found.alg ?? null,
    reason: found.reason ?? null,
    uncovered: found.uncovered,
  });
}

function inOrder(verdict: ExpectedVerdict): ExpectedVerdict {
  return { ...verdict, uncovered: [...verdict.uncovered].sort() };
}

function faultOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof CardTextError) {
      return error.fault;
    }
    throw error;
  }
  throw new Error("it has a canonical text");
}
