import type { AuthGate } from "../gate.ts";
import { type BearerJwtOptions, createJwtVerifier } from "./bearer-jwt.ts";
import { Discovery } from "./discovery.ts";

/** Which access tokens of an OpenID provider count. */
export type OpenIdConnectOptions = Omit<BearerJwtOptions, "keys">;

/**
 * A gate for access tokens of an OpenID provider. All else is found by its issuer, when the first token comes: where its keys are,
 * and for clients where they get tokens.
 *
 * @throws Error when the issuer is no https URL
 */
export function openIdConnect(options: OpenIdConnectOptions): AuthGate {
  const { issuer, fetch = globalThis.fetch } = options;
  const discovery = new Discovery(issuer, "oidc", fetch);
  const verifier = createJwtVerifier(options, () => discovery.findKeys());
  return {
    scheme: { scheme: { case: "openIdConnectSecurityScheme", value: { openIdConnectUrl: discovery.url } } },
    challenge: { scheme: "Bearer" },
    hasScopes: true,
    issuers: [issuer],
    verify: (credentials) => verifier.verify(credentials),
  };
}
