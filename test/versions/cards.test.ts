// A card of 1.0 in the form of 0.3, and in both forms at once, says to our client what it said before.

import { mergeOlderCard, toOlderCard } from "@a2a-connect/bindings/server";
import { readCard } from "@a2a-connect/client/internal";
import { formatMessage } from "@a2a-connect/core/internal";
import { AgentCardSchema } from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, it } from "vitest";

const word = fc.stringMatching(/^[a-z]{1,8}$/);
const url = word.map((name) => `https://${name}.example/x`);
const mediaTypes = fc.uniqueArray(fc.constantFrom("text/plain", "application/json", "image/png"), {
  minLength: 1,
});
const scopes = fc.dictionary(word, word, { maxKeys: 2, noNullPrototype: true });
const scheme = fc.oneof(
  fc.record({ name: word, location: fc.constantFrom("header", "query", "cookie") }).map((value) => ({
    apiKeySecurityScheme: value,
  })),
  fc.record({ scheme: fc.constantFrom("Bearer", "basic"), description: word }).map((value) => ({
    httpAuthSecurityScheme: value,
  })),
  fc.record({ tokenUrl: url, scopes }).map((value) => ({
    oauth2SecurityScheme: {
      flows: { clientCredentials: value },
      oauth2MetadataUrl: "https://id.example/meta",
    },
  })),
  url.map((openIdConnectUrl) => ({ openIdConnectSecurityScheme: { openIdConnectUrl } })),
  fc.constant({ mtlsSecurityScheme: { description: "a certificate" } }),
);
const requirement = fc
  .dictionary(word, fc.array(word, { maxLength: 2 }), { minKeys: 1, maxKeys: 2, noNullPrototype: true })
  .map((named) => ({
    schemes: Object.fromEntries(
      Object.entries(named).map(([name, list]) => [name, list.length === 0 ? {} : { list }]),
    ),
  }));
const requirements = fc.array(requirement, { minLength: 1, maxLength: 2 });
const skill = fc.record(
  {
    id: word,
    name: word,
    description: word,
    tags: fc.array(word, { minLength: 1, maxLength: 2 }),
    examples: fc.array(word, { minLength: 1, maxLength: 2 }),
    inputModes: mediaTypes,
    securityRequirements: requirements,
  },
  { requiredKeys: ["id", "name", "description", "tags"] },
);
const card = fc.record(
  {
    name: word,
    description: word,
    version: word,
    supportedInterfaces: fc.uniqueArray(
      fc.record({
        url,
        protocolBinding: fc.constantFrom("JSONRPC", "GRPC", "HTTP+JSON"),
        protocolVersion: fc.constant("1.0"),
      }),
      { minLength: 1, maxLength: 3, selector: (each) => `${each.url} ${each.protocolBinding}` },
    ),
    capabilities: fc.record({ streaming: fc.constant(true), pushNotifications: fc.constant(true) }),
    defaultInputModes: mediaTypes,
    defaultOutputModes: mediaTypes,
    skills: fc.array(skill, { minLength: 1, maxLength: 2 }),
    provider: fc.record({ organization: word, url }),
    documentationUrl: url,
    iconUrl: url,
    securitySchemes: fc.dictionary(word, scheme, { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
    securityRequirements: requirements,
  },
  {
    requiredKeys: [
      "name",
      "description",
      "version",
      "supportedInterfaces",
      "capabilities",
      "defaultInputModes",
      "defaultOutputModes",
      "skills",
    ],
  },
);

const readAgain = async (json: JsonObject) =>
  formatMessage(AgentCardSchema, (await readCard(JSON.stringify(json))).card) as JsonObject; // a card is an object

it("any card survives the form of 0.3, but for the versions of its interfaces", async () => {
  await fc.assert(
    fc.asyncProperty(card, async (given) => {
      const original = await readAgain(given as unknown as JsonObject);
      const interfaces = given.supportedInterfaces.map((each) => ({ ...each, protocolVersion: "0.3" }));
      expect(await readAgain(toOlderCard(original))).toEqual({
        ...original,
        supportedInterfaces: interfaces,
        capabilities: { ...given.capabilities, extendedAgentCard: false },
      });
      const both = await readAgain(mergeOlderCard(original));
      expect(both).toEqual({
        ...original,
        supportedInterfaces: [...given.supportedInterfaces, ...interfaces],
      });
    }),
    { numRuns: 200 },
  );
});
