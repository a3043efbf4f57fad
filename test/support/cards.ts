// Cards for tests, as JSON: plain, with something of everything, and older than 1.0.

import { type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import { fromJson, type JsonObject } from "@bufbuild/protobuf";

/** A card that is right, and has only what it must. */
export function createCardJson(supportedInterfaces: JsonObject[], other: JsonObject = {}): JsonObject {
  return {
    name: "Broken agent",
    description: "Breaks what it is told.",
    version: "1.0.0",
    supportedInterfaces,
    capabilities: { streaming: true, pushNotifications: true },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [{ id: "break", name: "Break", description: "Breaks things.", tags: [] }],
    ...other,
  };
}

/** A card as it was before 1.0. */
export function olderCard(protocolVersion: string | undefined, url: string): JsonObject {
  return {
    name: "Older agent",
    description: "Was here before.",
    version: "1.0.0",
    url,
    ...(protocolVersion === undefined ? {} : { protocolVersion, preferredTransport: "JSONRPC" }),
    capabilities: { streaming: true },
    authentication: { schemes: ["Bearer"] },
    defaultInputModes: ["text"],
    defaultOutputModes: ["text", "file"],
    skills: [{ id: "old", name: "Old", description: "Old things.", tags: [] }],
  };
}

/** A card with something of everything, much of it empty. */
export const wholeCard: JsonObject = {
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

/** A card with something of everything, nothing of it empty. */
export const fullCard: JsonObject = {
  ...createCardJson([
    { url: "https://a.example/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0", tenant: "acme" },
  ]),
  documentationUrl: "https://a.example/docs",
  provider: { organization: "Ä & Söhne \u{1F600}", url: "https://a.example" },
  capabilities: {
    streaming: false,
    pushNotifications: true,
    extensions: [
      {
        uri: "urn:x",
        description: "X",
        required: true,
        params: { limit: 4.5, n: 1e21, deep: { a: [1, "b"] } },
      },
    ],
  },
  skills: [
    { id: "s", name: "S", description: "Does.", tags: ["t"], examples: ["e"], inputModes: ["text/plain"] },
  ],
  securitySchemes: {
    oauth: {
      oauth2SecurityScheme: {
        description: "O",
        flows: {
          authorizationCode: {
            authorizationUrl: "https://login.example/authorize",
            tokenUrl: "https://login.example/token",
            scopes: { work: "Work" },
            pkceRequired: true,
          },
        },
      },
    },
    key: { apiKeySecurityScheme: { location: "header", name: "x-key" } },
  },
  securityRequirements: [
    { schemes: { oauth: { list: ["work"] } } },
    { schemes: { key: { list: ["any"] }, oauth: { list: ["work"] } } },
  ],
};

/** A requirement without scopes, which signers lose that leave out what is empty. */
export const scopeFreeSecurity: JsonObject = {
  securitySchemes: { key: { apiKeySecurityScheme: { location: "header", name: "x-key" } } },
  securityRequirements: [{ schemes: { key: { list: [] } } }],
};

/** Gives a card the security of the full one, so that there is something to take away. */
export function secure(card: AgentCard): AgentCard {
  const { securitySchemes = {}, securityRequirements = [] } = fullCard;
  const security = fromJson(AgentCardSchema, { securitySchemes, securityRequirements });
  return Object.assign(card, {
    securitySchemes: security.securitySchemes,
    securityRequirements: security.securityRequirements,
  });
}
