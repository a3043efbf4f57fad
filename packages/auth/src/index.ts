export type { ClientCertificate } from "@a2a-connect/core/internal";
export type { AuthOptions } from "./access.ts";
export type { Gates } from "./authenticator.ts";
export type {
  AuthGate,
  Caller,
  Challenge,
  Credentials,
  Refusal,
  Verdict,
} from "./gate.ts";
export { type ApiKey, type ApiKeyOptions, apiKey, hashApiKey } from "./gates/api-key.ts";
export { type BasicOptions, type BasicUser, basic, hashPassword } from "./gates/basic.ts";
export { type BearerJwtOptions, bearerJwt, type ClaimOptions, type Claims } from "./gates/bearer-jwt.ts";
export { type MutualTlsOptions, mutualTls } from "./gates/mutual-tls.ts";
export { type OAuthOptions, oauth2 } from "./gates/oauth.ts";
export { type OpenIdConnectOptions, openIdConnect } from "./gates/openid-connect.ts";
export {
  createTaskTokens,
  type TaskTokenOptions,
  type TaskTokens,
  type TokenTask,
} from "./gates/task-token.ts";
export {
  type Action,
  createScope,
  type Decision,
  defaultScopes,
  notesScope,
  type OperationScopes,
  type Policy,
  type Resource,
  readScope,
  scopePolicy,
} from "./policy.ts";
