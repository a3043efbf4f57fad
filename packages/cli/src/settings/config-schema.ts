import type { LegacyProfile } from "@a2a-connect/signing/internal";

/**
 * What `a2a.config.yaml` may say, as JSON Schema. Published as `a2a.config.schema.json` beside the package's sources:
 * `vitest run config-schema -u` writes it anew.
 *
 * Secrets have no place in it: `…Env` members name environment variables.
 */
export const configSchema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  $id: "urn:a2a-connect:schema:config:v1",
  title: "a2a.config.yaml",
  description:
    "The agents a project talks to, by name, and the agent it serves. Found by walking up from the working directory.",
  type: "object",
  additionalProperties: false,
  properties: {
    server: { $ref: "#/definitions/server" },
    agents: {
      type: "object",
      description: 'Agents by a name of your choice: `a2a send -a NAME "…"`.',
      propertyNames: { pattern: "^[A-Za-z0-9][A-Za-z0-9_-]*$" },
      additionalProperties: { $ref: "#/definitions/agent" },
    },
  },
  definitions: {
    server: {
      $id: "#server",
      type: "object",
      description: "What `a2a serve` serves with, unless its flags say otherwise.",
      additionalProperties: false,
      properties: {
        url: {
          type: "string",
          pattern: "^https?://[^\\s@/]+(/[^\\s@]*)?$",
          description:
            "Public URL, as the card gives it. One of this machine, such as http://localhost:4000, also says which port to listen on.",
        },
        store: {
          type: "string",
          minLength: 1,
          description: "File of the embedded SQLite store, relative to this file; `memory` keeps nothing.",
        },
        auth: {
          $ref: "#/definitions/auth",
          description: "Credentials that callers must present. Not available yet: refused.",
        },
      },
    },
    agent: {
      $id: "#agent",
      type: "object",
      description: "One agent, and how it is called.",
      additionalProperties: false,
      required: ["url"],
      properties: {
        url: {
          type: "string",
          pattern: "^(https?://)?[^\\s@/]+(/[^\\s@]*)?$",
          description: "The agent's origin, or its card's URL, without user name and password.",
        },
        binding: {
          type: "string",
          minLength: 1,
          description:
            "The only binding to be used: JSONRPC, GRPC, HTTP+JSON or a URI. Default: the card's order.",
        },
        auth: { $ref: "#/definitions/auth" },
        version: {
          type: "string",
          minLength: 1,
          description: "Pins the version of the agent's card: a range such as ^1.2.",
        },
        protocolVersion: {
          type: "string",
          pattern: "^\\d+\\.\\d+$",
          description: 'The only A2A version to be used, such as "1.0" (in quotes: 1.0 alone is a number).',
        },
        key: {
          type: "string",
          minLength: 1,
          description:
            "Public key that the card has to be verified by, or nothing is sent: the file of a JWK, a key set (JWKS) or PEM, relative to this file; or the JWK or PEM itself.",
        },
        profiles: {
          type: "array",
          uniqueItems: true,
          items: { enum: ["js-1", "python-1", "raw"] },
          description:
            "How older software signs cards, where this agent's was signed that way: such a signature counts beside one by the specification.",
        },
        headers: {
          type: "object",
          description: "Sent with every request. No credentials here: see auth.",
          propertyNames: { pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" },
          additionalProperties: { type: "string", pattern: "^[^\\r\\n\\u0000]*$" },
        },
      },
      dependencies: { profiles: ["key"] },
    },
    auth: {
      $id: "#auth",
      type: "object",
      description: "Where the credentials are: names of environment variables, never the secrets themselves.",
      additionalProperties: false,
      minProperties: 1,
      properties: {
        tokenEnv: { $ref: "#/definitions/variable", description: "Holds a bearer token." },
        apiKeyEnv: {
          $ref: "#/definitions/variable",
          description: "Holds an API key; the card says where it goes.",
        },
        clientIdEnv: {
          $ref: "#/definitions/variable",
          description: "Holds an OAuth client id. Not available yet: refused.",
        },
        clientSecretEnv: { $ref: "#/definitions/variable", description: "Holds the client's secret." },
        tokenUrl: {
          type: "string",
          pattern: "^https://[^\\s@/]+(/[^\\s@]*)?$",
          description: "Where the client gets its token. Default: what the card says.",
        },
      },
      dependencies: {
        clientIdEnv: ["clientSecretEnv"],
        clientSecretEnv: ["clientIdEnv"],
        tokenUrl: ["clientIdEnv"],
      },
    },
    variable: {
      $id: "#variable",
      type: "string",
      pattern: "^[A-Za-z_][A-Za-z0-9_]*$",
      description: "Name of an environment variable, never the secret itself.",
    },
  },
} as const;

/** The names of its variables: exactly one way to present oneself. */
export interface AuthConfig {
  readonly tokenEnv?: string;
  readonly apiKeyEnv?: string;
  readonly clientIdEnv?: string;
  readonly clientSecretEnv?: string;
  readonly tokenUrl?: string;
}

/** One agent of the file. */
export interface AgentConfig {
  readonly url: string;
  readonly binding?: string;
  readonly auth?: AuthConfig;
  readonly version?: string;
  readonly protocolVersion?: string;
  readonly key?: string;
  readonly profiles?: readonly LegacyProfile[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** The file, as the schema has it. */
export interface ConfigFile {
  readonly server?: { readonly url?: string; readonly store?: string; readonly auth?: AuthConfig };
  readonly agents?: Readonly<Record<string, AgentConfig>>;
}
