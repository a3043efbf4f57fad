export type { AuthOptions } from "./access.ts";
export type { Gates } from "./authenticator.ts";
export type {
  AuthGate,
  Caller,
  Challenge,
  ClientCertificate,
  Credentials,
  Refusal,
  Verdict,
} from "./gate.ts";
export { type ApiKey, type ApiKeyOptions, apiKey, hashApiKey } from "./gates/api-key.ts";
export { type BearerJwtOptions, bearerJwt, type ClaimOptions, type Claims } from "./gates/bearer-jwt.ts";
export {
  type Action,
  type Decision,
  type OperationScopes,
  type Policy,
  type Resource,
  scopePolicy,
} from "./policy.ts";
export { createScope, defaultScopes, readScope } from "./scopes.ts";
