import { formatMessage } from "@a2a-connect/core/internal";
import { type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import { canonicalCard, canonicalSignedCard } from "@a2a-connect/signing";
import { profileCard } from "@a2a-connect/signing/internal";
import { canonicalizeAgentCard, AgentCard as SdkAgentCard } from "@a2a-js/sdk";
import { fromBinary, type JsonObject, type JsonValue, toBinary, toJson } from "@bufbuild/protobuf";
import canonicalize from "canonicalize";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCharacter } from "../../packages/core/test-support/any-character.ts";
import { arbitraryMessage } from "../openapi/arbitrary-message.ts";
import { addNoise, shuffleMembers } from "./rewrite-json.ts";

const arbitraryCard = arbitraryMessage(AgentCardSchema) as fc.Arbitrary<unknown> as fc.Arbitrary<AgentCard>; // what it makes

/** Any JSON object, card or not. */
const arbitraryObject = fc.dictionary(
  fc.string({ unit: anyCharacter }),
  fc.jsonValue({ stringUnit: anyCharacter }),
);

const runs = { numRuns: 300 };

describe("the canonical form of any card", () => {
  it("is the same from the message, from its bytes, and from its JSON in either spelling (M)", () => {
    fc.assert(
      fc.property(arbitraryCard, (card) => {
        const expected = canonicalCard(card);
        expect(canonicalCard(fromBinary(AgentCardSchema, toBinary(AgentCardSchema, card)))).toBe(expected);
        expect(canonicalCard(JSON.stringify(formatMessage(AgentCardSchema, card)))).toBe(expected);
        const snakeCase = toJson(AgentCardSchema, card, {
          useProtoFieldName: true,
          alwaysEmitImplicit: true,
        });
        expect(canonicalCard(JSON.stringify(snakeCase))).toBe(expected);
      }),
      runs,
    );
  });

  it("is its own canonical form", () => {
    fc.assert(
      fc.property(arbitraryCard, (card) => {
        const canonical = canonicalCard(card);
        expect(canonicalCard(canonical)).toBe(canonical);
        const signed = canonicalSignedCard(card);
        expect(canonicalSignedCard(signed)).toBe(signed);
        expect(canonicalCard(signed)).toBe(canonical);
      }),
      runs,
    );
  });

  it("does not depend on order, white space, escapes and defaults that say nothing", () => {
    fc.assert(
      fc.property(
        arbitraryCard,
        fc.infiniteStream(fc.nat()),
        fc.integer({ min: 0, max: 4 }),
        (card, numbers, indent) => {
          const json = formatMessage(AgentCardSchema, card) as JsonObject;
          const noisy = shuffleMembers(addNoise(AgentCardSchema, json, numbers), numbers);
          const text = JSON.stringify(noisy, null, indent).replace(
            /[^ -~\n]/g,
            (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
          );
          expect(canonicalCard(text)).toBe(canonicalCard(card));
        },
      ),
      runs,
    );
  });

  it("is what the canonicalize package makes of its own JSON (RFC 8785)", () => {
    fc.assert(
      fc.property(arbitraryObject, (json) => {
        // Names that the schema has follow its rules; of all others the text is that of RFC 8785 alone.
        const foreign = Object.fromEntries(Object.entries(json).map(([name, value]) => [`x-${name}`, value]));
        const text = JSON.stringify(foreign);
        expect(canonicalCard(text)).toBe(canonicalize(JSON.parse(text)));
        expect(canonicalCard(text)).toBe(writeNaively(JSON.parse(text)));
      }),
      runs,
    );
  });
});

describe("the profile js-1", () => {
  it("signs what @a2a-js/sdk signs", () => {
    fc.assert(
      fc.property(arbitraryCard, (card) => {
        const json = formatMessage(AgentCardSchema, card) as JsonObject;
        // The SDK's type of a card is its own; it reads ProtoJSON.
        const [fromJson, typed = fromJson] = profileCard("js-1", json).map(({ payload }) => payload);
        expect(fromJson).toBe(canonicalizeAgentCard(json as never));
        expect(typed).toBe(canonicalizeAgentCard(SdkAgentCard.fromJSON(json)));
      }),
      runs,
    );
  });
});

describe("every profile but strict", () => {
  it("says of whatever is in the canonical form, and not in what it signs, that it is uncovered", () => {
    fc.assert(
      fc.property(arbitraryCard, fc.constantFrom("js-1", "python-1", "raw"), (card, profile) => {
        const json = formatMessage(AgentCardSchema, { ...card, signatures: [] }) as JsonObject;
        for (const { payload, uncovered } of profileCard(profile, json)) {
          const lost = countValues(json) > countValues(JSON.parse(payload));
          expect(lost).toBe(uncovered.length > 0);
        }
      }),
      runs,
    );
  });
});

/** RFC 8785 in as few words as it takes, to compare with. */
function writeNaively(json: JsonValue): string {
  if (typeof json !== "object" || json === null) {
    return JSON.stringify(json);
  }
  if (Array.isArray(json)) {
    return `[${json.map(writeNaively)}]`;
  }
  const names = Object.keys(json).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${writeNaively(json[name] ?? null)}`)}}`;
}

/** Objects, arrays, members and scalars, all counted. */
function countValues(json: JsonValue): number {
  return typeof json === "object" && json !== null
    ? Object.values(json).reduce<number>((sum, value) => sum + countValues(value), 1)
    : 1;
}
