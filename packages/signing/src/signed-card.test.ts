import { findMissingFields } from "@a2a-connect/core/internal";
import { AgentCardSchema } from "@a2a-connect/proto";
import { create, type JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { plainCard } from "../test-support/signed-card.ts";
import { SignedCard } from "./signed-card.ts";

const problemsOf = (more: JsonObject) => new SignedCard({ ...plainCard, ...more }).findProblems();

describe("a card's problems", () => {
  it("are none of a good card", () => {
    expect(problemsOf({})).toEqual([]);
  });

  it("misses all REQUIRED members of an empty card", () => {
    const missing = new SignedCard({}).findProblems();
    const required = AgentCardSchema.fields
      .filter((field) => ["name", "description", "version", "capabilities", "skills"].includes(field.name))
      .map((field) => `${field.jsonName} is missing`);
    expect(missing).toEqual(expect.arrayContaining(required));
    expect(missing).toHaveLength(8);
    // The same as of an empty message, but for lists: of those a message cannot tell whether they are there.
    expect(missing).toEqual(
      expect.arrayContaining(
        findMissingFields(AgentCardSchema, create(AgentCardSchema)).map(({ field }) => `${field} is missing`),
      ),
    );
  });

  for (const [what, more] of [
    ["empty texts", { name: "", description: "", version: "" }],
    ["empty lists", { supportedInterfaces: [], defaultInputModes: [], defaultOutputModes: [], skills: [] }],
    ["a set message without members", { capabilities: {} }],
    ["snake_case", { documentation_url: "https://example.org", capabilities: { push_notifications: true } }],
    ["members that nobody knows", { future: { name: null } }],
    ["an empty tag list of a skill", { skills: [{ id: "", name: "", description: "", tags: [] }] }],
    [
      "whatever stands in a Struct",
      { capabilities: { extensions: [{ uri: "u", params: { name: null, a: [{}] } }] } },
    ],
    ["signatures of any form", { signatures: [null, 7, { protected: 1 }] }],
  ] satisfies readonly (readonly [string, JsonObject])[]) {
    it(`does not mind ${what}`, () => {
      expect(problemsOf(more)).toEqual([]);
    });
  }

  for (const [problem, more] of [
    ["name is missing", { name: null }],
    [
      "supportedInterfaces[0].url is missing",
      { supportedInterfaces: [{ protocolBinding: "a", protocolVersion: "b" }] },
    ],
    ["provider.organization is missing", { provider: { url: "https://example.org" } }],
    [
      "skills[1].tags is missing",
      {
        skills: [
          { id: "", name: "", description: "", tags: [] },
          { id: "", name: "", description: "" },
        ],
      },
    ],
    [
      "securitySchemes.a.apiKeySecurityScheme.location is missing",
      { securitySchemes: { a: { apiKeySecurityScheme: { name: "" } } } },
    ],
    [
      "securitySchemes.a.oauth2SecurityScheme.flows.clientCredentials.scopes is missing",
      {
        securitySchemes: { a: { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: "" } } } } },
      },
    ],
    ["name must be a string", { name: 7 }],
    ["skills must be an array", { skills: {} }],
    ["capabilities must be an object", { capabilities: [] }],
    ["capabilities.streaming must be true or false", { capabilities: { streaming: "yes" } }],
    ["skills[0] must not be null", { skills: [null] }],
  ] satisfies readonly (readonly [string, JsonObject])[]) {
    it(`says that ${problem}`, () => {
      expect(problemsOf(more)).toEqual([problem]);
    });
  }

  it("tells ten problems at most", () => {
    expect(problemsOf({ skills: Array.from({ length: 50 }, () => ({})) })).toHaveLength(10);
  });
});
