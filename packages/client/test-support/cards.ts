import {
  type AgentCard,
  AgentCardSchema,
  type AgentInterface,
  AgentInterfaceSchema,
} from "@a2a-connect/proto";
import { create, type DescMessage, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";

/** Fields of a message, and not a message itself. */
type Fields<Desc extends DescMessage> = Extract<MessageInitShape<Desc>, { readonly $typeName?: never }>;

/** An interface of A2A 1.0 over JSON-RPC unless said otherwise. */
export function agentInterface(init: Fields<typeof AgentInterfaceSchema> = {}): AgentInterface {
  return create(AgentInterfaceSchema, {
    url: "https://clerk.example/rpc",
    protocolBinding: "JSONRPC",
    protocolVersion: "1.0",
    ...init,
  });
}

/** A complete card of 1.0. */
export function agentCard(init: Fields<typeof AgentCardSchema> = {}): AgentCard {
  return create(AgentCardSchema, {
    name: "Clerk",
    description: "Files what it is given.",
    version: "1.2.3",
    supportedInterfaces: [agentInterface()],
    capabilities: { streaming: true },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain", "application/json"],
    skills: [{ id: "file", name: "File", description: "Files a letter.", tags: ["letters"] }],
    ...init,
  });
}

/** The same as JSON, the way a server sends it. */
export const cardJson: JsonObject = {
  name: "Clerk",
  description: "Files what it is given.",
  version: "1.2.3",
  supportedInterfaces: [
    { url: "https://clerk.example/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
  ],
  capabilities: { streaming: true },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain", "application/json"],
  skills: [{ id: "file", name: "File", description: "Files a letter.", tags: ["letters"] }],
};

/** What a server of A2A 0.3 publishes, with everything that version knows. */
export const cardJson03: JsonObject = {
  protocolVersion: "0.3.0",
  name: "Route Planner",
  description: "Plans walks and draws them on a map.",
  url: "https://routes.example/a2a/v1",
  preferredTransport: "JSONRPC",
  additionalInterfaces: [
    { url: "https://routes.example/a2a/v1", transport: "JSONRPC" },
    { url: "https://routes.example/a2a/grpc", transport: "GRPC" },
    { url: "https://routes.example/a2a/json", transport: "HTTP+JSON" },
  ],
  provider: { organization: "Walks and Co", url: "https://walks.example" },
  iconUrl: "https://routes.example/icon.png",
  version: "2.4.1",
  documentationUrl: "https://docs.routes.example",
  capabilities: {
    streaming: true,
    pushNotifications: true,
    stateTransitionHistory: false,
    extensions: [{ uri: "https://routes.example/ext/gpx", description: "Tracks as GPX", required: false }],
  },
  securitySchemes: {
    login: {
      type: "oauth2",
      description: "With an account",
      flows: {
        authorizationCode: {
          authorizationUrl: "https://id.example/authorize",
          tokenUrl: "https://id.example/token",
          scopes: { "routes:read": "Read routes" },
        },
        clientCredentials: { tokenUrl: "https://id.example/token", scopes: {} },
      },
    },
    key: { type: "apiKey", in: "header", name: "X-Api-Key" },
    bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
    oidc: { type: "openIdConnect", openIdConnectUrl: "https://id.example/.well-known/openid-configuration" },
    certificate: { type: "mutualTLS" },
    carrier: { type: "pigeon" },
  },
  security: [{ login: ["routes:read"] }, { key: [], bearer: [] }],
  defaultInputModes: ["application/json", "text/plain"],
  defaultOutputModes: ["application/json", "image/png"],
  skills: [
    {
      id: "plan",
      name: "Plan",
      description: "Finds the way from one place to another.",
      tags: ["maps", "walking"],
      examples: ["From the station to the lake, without stairs"],
      outputModes: ["application/json", "image/svg+xml"],
      security: [{ login: ["routes:read"] }],
    },
  ],
  supportsAuthenticatedExtendedCard: true,
  signatures: [{ protected: "eyJhbGciOiJFUzI1NiJ9", signature: "c2lnbmF0dXJl" }],
};

/** What the first samples of A2A 0.2 published: kinds of parts for modes, names of HTTP schemes, and little else. */
export const cardJson02: JsonObject = {
  name: "Currency Agent",
  description: "Helps with exchange rates.",
  url: "http://localhost:10000/",
  provider: { organization: "Bureau de Change", url: null },
  version: "1.0.0",
  documentationUrl: null,
  capabilities: {
    streaming: true,
    pushNotifications: false,
    stateTransitionHistory: true,
    inputRequired: true,
  },
  authentication: { schemes: ["Bearer", "ApiKey"], credentials: null },
  defaultInputModes: ["text", "text/plain"],
  defaultOutputModes: ["text", "data", "file"],
  skills: [
    {
      id: "convert",
      name: "Convert",
      description: null,
      tags: ["currency"],
      examples: ["How much is 10 USD in EUR?"],
      inputModes: ["data"],
    },
  ],
};
