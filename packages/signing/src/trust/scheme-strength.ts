import type { JsonObject } from "@bufbuild/protobuf";
import { objectOf, textOf } from "./json-access.ts";

/**
 * How well a security scheme protects whoever uses it against an agent, or somebody in between, that keeps what it is sent.
 * Only the order means something:
 *
 * | strength | schemes | because |
 * | --- | --- | --- |
 * | 6 | mutual TLS | nothing is sent that could be used again |
 * | 5 | OpenID Connect, OAuth 2.0 by authorization code, client credentials or device code; DPoP of HTTP | tokens that expire, for a purpose, or that only their owner can use |
 * | 4 | OAuth 2.0 by the implicit or password flow, or one that nobody knows | tokens, got in ways that OAuth 2.1 has given up |
 * | 3 | other schemes of HTTP but Basic, such as Bearer | a token of unknown origin |
 * | 2 | HTTP Basic, an API key in a header or cookie | the secret itself, each time |
 * | 1 | an API key in the query, or who knows where | the secret itself, in every log |
 * | 0 | none of these, or several at once | nobody knows what is asked for |
 */
export type SchemeStrength = 0 | 1 | 2 | 3 | 4 | 5 | 6;

/** The member of SecurityScheme that is set. */
export type SchemeKind =
  | "mtlsSecurityScheme"
  | "openIdConnectSecurityScheme"
  | "oauth2SecurityScheme"
  | "httpAuthSecurityScheme"
  | "apiKeySecurityScheme";

const strengthOf: Readonly<Record<SchemeKind, (content: JsonObject) => SchemeStrength>> = {
  mtlsSecurityScheme: () => 6,
  openIdConnectSecurityScheme: () => 5,
  oauth2SecurityScheme: ({ flows }) => {
    const names = Object.keys(objectOf(flows));
    return names.length > 0 && names.every((name) => goodFlows.has(name)) ? 5 : 4;
  },
  httpAuthSecurityScheme: ({ scheme }) => httpStrengths.get(textOf(scheme).toLowerCase()) ?? 3,
  apiKeySecurityScheme: ({ location }) => (["header", "cookie"].includes(textOf(location)) ? 2 : 1),
};

const httpStrengths: ReadonlyMap<string, SchemeStrength> = new Map([
  ["basic", 2],
  ["dpop", 5],
]);

const goodFlows: ReadonlySet<string> = new Set(["authorizationCode", "clientCredentials", "deviceCode"]);

/** Whether tokens of an OAuth 2.0 scheme can be had in a way that OAuth 2.1 has given up: the implicit or the password flow. */
export function hasDeprecatedFlow({
  kind,
  content,
}: {
  kind: SchemeKind | undefined;
  content: JsonObject;
}): boolean {
  const flows = kind === "oauth2SecurityScheme" ? objectOf(content["flows"]) : {};
  return Object.hasOwn(flows, "implicit") || Object.hasOwn(flows, "password");
}

/** The kind of a SecurityScheme; undefined when it has none that is known, or several. */
export function schemeKind(scheme: JsonObject): SchemeKind | undefined {
  const [kind, ...others] = Object.keys(scheme).filter(isSchemeKind);
  return others.length === 0 ? kind : undefined;
}

/** @see SchemeStrength */
export function schemeStrength(kind: SchemeKind | undefined, content: JsonObject): SchemeStrength {
  return kind === undefined ? 0 : strengthOf[kind](content);
}

/** Whether a name is that of a member of SecurityScheme. */
export function isSchemeKind(name: string): name is SchemeKind {
  return Object.hasOwn(strengthOf, name);
}
