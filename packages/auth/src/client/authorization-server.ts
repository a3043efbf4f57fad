import { isLoopbackHost, shownText } from "@a2a-connect/core/internal";
import type { OAuth2SecurityScheme, OpenIdConnectSecurityScheme } from "@a2a-connect/proto";
import * as oauth from "oauth4webapi";
import { Discovery } from "../gates/discovery.ts";
import { type Fetch, parseServerUrl, withLimits } from "../gates/server-fetch.ts";

/** A scheme of a card whose credentials are access tokens of an authorization server. */
export type TokenScheme =
  | { readonly case: "oauth2SecurityScheme"; readonly value: OAuth2SecurityScheme }
  | { readonly case: "openIdConnectSecurityScheme"; readonly value: OpenIdConnectSecurityScheme };

/** Which authorization server may see a client's credentials. Default: the one that the first card names. */
export interface PermittedServer {
  /** The issuer, as its metadata have it. */
  readonly issuer?: string;
  readonly tokenEndpoint?: string;
}

/** Endpoints, as the card's flow has them. */
interface FlowUrls {
  readonly tokenUrl?: string;
  readonly authorizationUrl?: string;
  readonly deviceAuthorizationUrl?: string;
}

const wellKnown = {
  oauth2: "/.well-known/oauth-authorization-server",
  oidc: "/.well-known/openid-configuration",
};

/**
 * The authorization server that a scheme names, with its endpoints: by its metadata where the scheme or the caller says whose,
 * else as the card has them.
 *
 * @param client says which issuer and which token endpoint alone are permitted
 * @throws Error when the server is another one, its metadata are those of another issuer, or it has no https URL
 */
export async function findServer(
  scheme: TokenScheme,
  { issuer, tokenEndpoint }: PermittedServer,
  fetch: Fetch,
): Promise<oauth.AuthorizationServer> {
  const flow: FlowUrls = scheme.case === "oauth2SecurityScheme" ? (scheme.value.flows?.flow.value ?? {}) : {};
  const named = issuerOf(scheme);
  if (issuer !== undefined && named !== undefined && named.issuer !== issuer) {
    throw new Error(
      `the card names the authorization server ${named.issuer}, and only ${issuer} is permitted`,
    );
  }
  const server =
    named !== undefined
      ? await new Discovery(named.issuer, named.algorithm, fetch).find()
      : issuer !== undefined
        ? await findByIssuer(issuer, fetch)
        : fromFlow(flow);
  const said = { token_endpoint: flow.tokenUrl, authorization_endpoint: flow.authorizationUrl };
  for (const [name, url] of Object.entries(said)) {
    if (url && url !== server[name]) {
      throw new Error(
        `the card names the ${name.replace("_", " ")} ${shownText(url)}, and ${server.issuer} another one`,
      );
    }
  }
  if (tokenEndpoint !== undefined && tokenEndpoint !== server.token_endpoint) {
    throw new Error(
      `the token endpoint of ${server.issuer} is ${shownText(server.token_endpoint ?? "")}, and only ${tokenEndpoint} is permitted`,
    );
  }
  return server;
}

/** An issuer has metadata of OpenID Connect, of OAuth 2.0 (RFC 8414), or both. */
async function findByIssuer(issuer: string, fetch: Fetch): Promise<oauth.AuthorizationServer> {
  try {
    return await new Discovery(issuer, "oidc", fetch).find();
  } catch {
    return await new Discovery(issuer, "oauth2", fetch).find();
  }
}

function issuerOf(scheme: TokenScheme): { issuer: string; algorithm: "oidc" | "oauth2" } | undefined {
  const text =
    scheme.case === "oauth2SecurityScheme" ? scheme.value.oauth2MetadataUrl : scheme.value.openIdConnectUrl;
  if (text === "") return undefined;
  const { origin, pathname } = parseServerUrl("the URL of the authorization server's metadata", text);
  if (pathname.endsWith(wellKnown.oidc)) {
    return { issuer: trim(origin + pathname.slice(0, -wellKnown.oidc.length)), algorithm: "oidc" };
  }
  if (pathname.startsWith(wellKnown.oauth2)) {
    return { issuer: trim(origin + pathname.slice(wellKnown.oauth2.length)), algorithm: "oauth2" };
  }
  throw new Error(`the card's URL of metadata has none of the well-known paths: ${shownText(text)}`);
}

const trim = (url: string): string => url.replace(/\/$/, "");

function fromFlow({
  tokenUrl = "",
  authorizationUrl,
  deviceAuthorizationUrl,
}: FlowUrls): oauth.AuthorizationServer {
  const { origin } = parseServerUrl("the card's token URL", tokenUrl);
  return {
    issuer: origin,
    token_endpoint: tokenUrl,
    ...(authorizationUrl ? { authorization_endpoint: authorizationUrl } : {}),
    ...(deviceAuthorizationUrl ? { device_authorization_endpoint: deviceAuthorizationUrl } : {}),
  };
}

/**
 * Refuses a server that could be given the code of another one (mix-up, RFC 9207): it answers with its issuer, or its two endpoints
 * are at one origin, or the caller has named it.
 *
 * @throws Error
 */
export function refuseMixUp(server: oauth.AuthorizationServer, issuer: string | undefined): void {
  const { authorization_endpoint: ask = "", token_endpoint: token = "" } = server;
  const isOne = URL.parse(ask)?.origin === URL.parse(token)?.origin;
  if (isOne || issuer !== undefined || server.authorization_response_iss_parameter_supported === true) return;
  throw new Error(
    `${server.issuer} sends users to ${URL.parse(ask)?.origin}, and their codes to ${URL.parse(token)?.origin}: name the issuer if that is right`,
  );
}

/** What requests to a server need. */
export function requestOptions(
  { token_endpoint = "" }: oauth.AuthorizationServer,
  fetch: Fetch,
): {
  [oauth.customFetch]: (url: string, init: object) => Promise<Response>;
  [oauth.allowInsecureRequests]: boolean;
} {
  const limited = withLimits(fetch);
  return {
    [oauth.customFetch]: (url, init) => limited(url, init),
    [oauth.allowInsecureRequests]: isLoopbackHost(URL.parse(token_endpoint)?.hostname ?? ""),
  };
}
