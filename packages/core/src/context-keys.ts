import type { JsonObject } from "@bufbuild/protobuf";
import { type ContextKey, createContextKey } from "@connectrpc/connect";
import { protocolVersion } from "./service-parameters.ts";

/** The caller's identity. It comes from the connection, never from a message (requirement O-2). */
export interface Principal {
  /** Stable and unique among all callers. The store keeps tasks under it. */
  readonly id: string;
  /** Whether the caller gave no credentials. */
  readonly anonymous: boolean;
  /** The tenant that its credentials are for. Undefined: they do not say, and the request may name any. */
  readonly tenant?: string | undefined;
  /** The scopes of its credentials. Default none. */
  readonly scopes?: readonly string[];
  /** Verified claims of its credentials that agents may see. Default none. */
  readonly claims?: JsonObject;
}

/** The caller without credentials. */
export const anonymousPrincipal: Principal = { id: "anonymous", anonymous: true };

/** The caller's identity; anonymous by default. */
export const principalKey: ContextKey<Principal> = createContextKey(anonymousPrincipal, {
  description: "a2a principal",
});

/** Finds the address under which the caller reaches this server. Finding it may cost time. */
export interface ForwardedUrlSource {
  /** The base URL that a trusted proxy told, without a trailing slash. Undefined when no trusted proxy told one. */
  readonly forwardedUrl?: string | undefined;
  /** Where the server is mounted in another one. Undefined: it has a port of its own. */
  readonly mount?: MountPoint | undefined;
}

/** The place of a server inside another one. */
export interface MountPoint {
  /** Scheme and authority of the other server, as the caller's request names them. */
  readonly origin: string;
  /** The path below which it answers, such as `/a2a`; empty: all paths. No trailing slash. */
  readonly path: string;
}

/** Where the caller reaches this server; unknown by default. */
export const forwardedUrlKey: ContextKey<ForwardedUrlSource> = createContextKey<ForwardedUrlSource>(
  {},
  { description: "a2a forwarded URL" },
);

/** The certificate with which the other end of a connection has identified itself. */
export interface ClientCertificate {
  /** The subject as `CN=worker,O=Acme`: most specific name first (RFC 4514). */
  readonly subject: string;
  /** Subject alternative names. */
  readonly dnsNames: readonly string[];
  readonly uris: readonly string[];
  readonly emails: readonly string[];
  /** SHA-256 of the certificate in hex, without colons. */
  readonly fingerprint: string;
  /** When it expires (milliseconds since 1970). */
  readonly expiresAt: number;
}

/** What the connection says of a caller. Finding it may cost time. */
export interface CallerSource {
  /**
   * IPv4 address, or IPv6 network of 64 bits (`2001:db8:1:2::/64`): that of the connection, or the one that a trusted
   * proxy told. Undefined when calls do not come over a network.
   */
  readonly callerNetwork?: string | undefined;
  /** How often a header field was sent, before a runtime joined the values or dropped all but one. */
  countFields?(name: string): number;
  /** The client certificate of the connection, if there is one whose chain the server has tested. */
  readonly clientCertificate?: ClientCertificate | undefined;
}

/** The connection of a call; unknown by default. */
export const callerKey: ContextKey<CallerSource> = createContextKey<CallerSource>(
  {},
  { description: "a2a caller" },
);

/** Limits answers: when they are made, and the memory that they hold until their readers have taken them. */
export interface AnswerBudget {
  /** Resolves when the answer may be made; undefined: at once. */
  answerTurn?(): Promise<void> | undefined;
  /**
   * Counts about `bytes` more, until the call is over or a negative number takes them back. Small answers are not
   * counted.
   *
   * @throws ConnectError ResourceExhausted when all answers of the process together are over their limit
   */
  hold?(bytes: number): void;
}

/** The limits for the answer to this call; none by default. */
export const answerLimitsKey: ContextKey<AnswerBudget> = createContextKey<AnswerBudget>(
  {},
  { description: "a2a answer budget" },
);

/** The tenant of the call, `""` for none (requirements P). */
export const tenantKey: ContextKey<string> = createContextKey("", { description: "a2a tenant" });

/** URIs of the extensions that are active in this call: asked for and supported (requirements G); none by default. */
export const extensionsKey: ContextKey<readonly string[]> = createContextKey<readonly string[]>([], {
  description: "a2a extensions",
});

/** The protocol version of the call as `Major.Minor` (requirements F). */
export const protocolVersionKey: ContextKey<string> = createContextKey(protocolVersion, {
  description: "a2a protocol version",
});
