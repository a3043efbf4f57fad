import type { ClientCertificate } from "@a2a-connect/core/internal";
import type { SecuritySchemeSchema } from "@a2a-connect/proto";
import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";

/** A caller whose credentials were checked. */
export interface Caller {
  /** Stable and unique among all callers. The server keeps tasks under it. */
  readonly principal: string;
  /** The tenant that the credentials are for. Undefined: they do not say, and the request may name any. */
  readonly tenant?: string | undefined;
  readonly scopes: readonly string[];
  /** The claims of the credentials that the gate was asked to hand on; never the credentials themselves. */
  readonly claims: JsonObject;
  /** When the credentials expire (milliseconds since 1970). Undefined: they do not. */
  readonly expiresAt?: number | undefined;
  /** The only task that the credentials are for. Undefined: they are not for one task. */
  readonly taskId?: string | undefined;
}

/** What a request says of its sender, the same on every wire. */
export interface Credentials {
  readonly header: Headers;
  /** The URL of the request. */
  readonly url: string;
  /** How often the header field was sent. A runtime that does not know says 1 for each that is there. */
  countFields(name: string): number;
  /** The client certificate of the connection, if there is one that an authority of the server has signed. */
  readonly certificate: ClientCertificate | undefined;
  /** Names the sender among others, such as the network of its address, where there is not enough for all at once. */
  readonly share?: string | undefined;
  /** Aborts when the call is over, also because its caller has gone: then no gate need check anything for it. */
  readonly signal?: AbortSignal | undefined;
  /** Where clients find which authorization servers the server trusts (RFC 9728), for challenges. */
  readonly metadataUrl?: string | undefined;
}

/** Why credentials do not count. The caller is told: it contains no part of the credentials. */
export interface Refusal {
  readonly refused: string;
}

/** What a gate found: a caller, credentials that do not count, or (undefined) no credentials of its kind. */
export type Verdict = Caller | Refusal | undefined;

/** Whether a verdict is a refusal. */
export function isRefusal(verdict: Verdict): verdict is Refusal {
  return verdict !== undefined && "refused" in verdict;
}

/** Checks one kind of credentials. */
export interface AuthGate {
  /** Describes the credentials in the card, as an entry of `securitySchemes`. */
  readonly scheme: MessageInitShape<typeof SecuritySchemeSchema>;
  /** The challenge for `WWW-Authenticate`: an authentication scheme, and its parameters. */
  readonly challenge: Challenge;
  /** Whether its credentials name scopes, which the card then lists with its requirements. */
  readonly hasScopes: boolean;
  /** Issuers of the tokens, for protected-resource metadata (RFC 9728). */
  readonly issuers?: readonly string[];
  /** Refuses or finds the caller; at once when it can. @throws ConnectError Unavailable when it cannot find out now */
  verify(credentials: Credentials): Verdict | Promise<Verdict>;
}

/** One challenge of `WWW-Authenticate` (RFC 9110 §11.6.1). */
export interface Challenge {
  /** Such as `Bearer`. */
  readonly scheme: string;
  readonly params?: Readonly<Record<string, string>>;
}
