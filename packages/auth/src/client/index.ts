/** How a client says who it is: `connectAgent(url, { auth: createCredentials({ … }) })`. */

export type { CallCredentials, CredentialCall, CredentialSource } from "@a2a-connect/core/internal";
export { auditCalls, type CallRecord } from "./audit.ts";
export type { PermittedServer } from "./authorization-server.ts";
export { type CredentialOptions, createCredentials } from "./credentials.ts";
export {
  type BrowserLogin,
  browserLogin,
  type DevicePrompt,
  deviceLogin,
  type ExchangeOptions,
  exchange,
  type Grant,
  type GrantRequest,
  jwtBearer,
  type Secret,
  type TokenRequest,
} from "./grants.ts";
export type { OAuthClient, StoredTokens, TokenStore } from "./tokens.ts";
